// `import "ndjson-check/vitest"`: Vitest gets the matcher, and TypeScript its type.

import { expect } from "vitest";
import { matchers } from "./matchers.js";
import type { CheckOptions, ProcessEnd } from "./reader.js";

declare module "vitest" {
  // The parameters are those of Vitest.
  interface Assertion<T = any> {
    /** The stream keeps its contract. It says nothing about how the run ended. */
    toConform(options?: CheckOptions & ProcessEnd): Promise<void>;
  }
}

expect.extend(matchers);
