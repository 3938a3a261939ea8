// What is used of Vitest, which is no dependency: for the compiler.
export interface Assertion<T = any> {
  readonly not: Assertion<T>;
}

export const expect: {
  <T>(actual: T): Assertion<T>;
  extend(matchers: Record<string, (received: any, ...args: any[]) => unknown>): void;
};
