// Empty folders for tests. They are removed when the process ends.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const parent = realpathSync(mkdtempSync(join(tmpdir(), "ndjson-check-")));
process.once("exit", () => rmSync(parent, { recursive: true, force: true }));

export const newFolder = () => mkdtempSync(join(parent, "test-"));
