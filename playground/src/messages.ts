// What the page and its worker say to each other.

import type { CheckOptions, Form, ReportKind } from "ndjson-check";
import type { Recording } from "./read.js";

export type Shown = Form | Exclude<ReportKind, "json">;

export type Request =
  | { readonly kind: "core"; readonly core: WebAssembly.Module }
  | { readonly kind: "read"; readonly blob: Blob; readonly options: CheckOptions }
  | { readonly kind: "write"; readonly blob: Blob; readonly options: CheckOptions; readonly form: Shown };

export type Answer =
  | { readonly kind: "progress"; readonly done: number }
  | { readonly kind: "read"; readonly recording: Recording }
  | { readonly kind: "written"; readonly form: Shown; readonly blob: Blob }
  | { readonly kind: "unwritten"; readonly form: Shown; readonly message: string }
  | { readonly kind: "error"; readonly message: string };
