export { init, NdjsonCheckError, StreamError } from "./core.js";
export { Reader } from "./reader.js";
export type { CheckOptions, Later, LaterProcessEnd, ProcessEnd, SignalName } from "./reader.js";
export { convert, convertParts, events, report, toText } from "./source.js";
export type {
  ConvertOptions,
  EventsOptions,
  Form,
  ReportKind,
  Source,
  WebStream,
} from "./source.js";
export type * from "./types.js";
export { AgentRun, run } from "./run.js";
export type { RunEnd, RunOptions, StopSignal } from "./run.js";
