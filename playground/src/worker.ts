// Reads and converts recordings, away from the page, which stays responsive.

import { convertParts, init, report, type CheckOptions, type Form, type ReportKind } from "ndjson-check";
import type { Answer, Request, Shown } from "./messages.js";
import { read } from "./read.js";

/** Least time between two reports of progress, in milliseconds. */
const PROGRESS_EVERY = 100;
const REPORTS: ReadonlySet<Shown> = new Set<Shown>(["human", "markdown", "html"]);

const worker = globalThis as unknown as {
  postMessage(message: Answer): void;
  onmessage: ((event: { data: Request }) => void) | null;
};

/** The pieces of a file, without a copy of the whole. */
async function* pieces(blob: Blob): AsyncGenerator<Uint8Array> {
  const reader = blob.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function progress(): (done: number) => void {
  let last = 0;
  return (done) => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY) return;
    last = now;
    worker.postMessage({ kind: "progress", done });
  };
}

async function* counted(blob: Blob): AsyncGenerator<Uint8Array> {
  const tell = progress();
  let bytes = 0;
  for await (const piece of pieces(blob)) {
    yield piece;
    tell((bytes += piece.length) / blob.size);
  }
}

async function write(form: Shown, source: AsyncIterable<Uint8Array>, options: CheckOptions): Promise<Blob> {
  if (REPORTS.has(form)) return new Blob([await report(source, form as ReportKind, options)]);
  const parts: string[] = [];
  for await (const part of convertParts(source, form as Form, options)) parts.push(part);
  return new Blob(parts);
}

async function answer(request: Request): Promise<Answer | undefined> {
  if (request.kind === "core") {
    await init(request.core);
    return undefined;
  }
  const { blob, options } = request;
  if (request.kind === "read") {
    return { kind: "read", recording: await read(() => pieces(blob), blob.size, options, progress()) };
  }
  const { form } = request;
  return { kind: "written", form, blob: await write(form, counted(blob), options) };
}

let last: Promise<void> = Promise.resolve();
worker.onmessage = ({ data }) => {
  last = last.then(async () => {
    try {
      const its = await answer(data);
      if (its !== undefined) worker.postMessage(its);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (data.kind === "write") worker.postMessage({ kind: "unwritten", form: data.form, message });
      else worker.postMessage({ kind: "error", message });
    }
  });
};
