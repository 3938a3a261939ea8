// `import "ndjson-check/vitest"`: Vitest gets the matchers, and TypeScript their types.

import { expect } from "vitest";
import { matchers } from "./matchers.js";
import type { CheckOptions, LaterProcessEnd } from "./reader.js";

declare module "vitest" {
  // The parameters are those of Vitest.
  interface Assertion<T = any> {
    /** The run passes: the stream conforms, and the run succeeded. */
    toPass(options?: CheckOptions & LaterProcessEnd): Promise<void>;
    /** The stream keeps its contract. It says nothing about how the run ended. */
    toConform(options?: CheckOptions & LaterProcessEnd): Promise<void>;
  }
}

expect.extend(matchers);
