// The harness of README.md, against a fake agent: what it says of each run, and how it exits.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { events } from "ndjson-check";
import { PROGRAM, ROOT } from "./fixtures.mjs";
import { newFolder } from "./folder.mjs";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const harness = /A whole harness:\n\n```ts\n(.*?)```/s
  .exec(readme)[1]
  .replace('"ndjson-check"', JSON.stringify(import.meta.resolve("ndjson-check")))
  // Nobody waits for ten minutes.
  .replace("idleTimeout: 600_000", "idleTimeout: 2_000, exitGrace: 1_000");

function call(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env } });
    const said = { out: "", err: "" };
    child.stdout.on("data", (text) => (said.out += text));
    child.stderr.on("data", (text) => (said.err += text));
    child.on("error", reject).on("close", (status) => resolve({ status, ...said }));
  });
}

const runs = [
  { name: "good", faults: [], headline: "succeeded" },
  { name: "failed", faults: ["--exit", "1"], headline: "failed" },
  { name: "cut", faults: ["--cut-at", "6"], headline: "cut short" },
  { name: "stalled", faults: ["--stall-at", "3"], headline: "timed out" },
  { name: "flooding standard error", faults: ["--stderr-lines", "20000"], headline: "succeeded" },
  { name: "never exiting", faults: ["--never-exit"], headline: "succeeded" },
  { name: "split writes", faults: ["--split-writes"], headline: "succeeded" },
];
for (const { name, faults, headline } of runs) {
  test(`the harness of README.md: ${name}`, async () => {
    const folder = newFolder();
    const file = join(folder, "harness.mjs");
    writeFileSync(file, harness);
    const agent = ["replay", "claude", "plain", "--speed", "max", ...faults, "--install", folder];
    const installed = await call(PROGRAM, agent, {});
    assert.equal(installed.status, 0, installed.err);
    const PATH = `${folder}${delimiter}${process.env.PATH}`;
    const { status, out, err } = await call(process.execPath, [file, "fix it"], { PATH });
    const last = out.trimEnd().split("\n").at(-1);
    assert.ok(last.startsWith(headline) && last.endsWith(" USD)"), `${last}\n${err}`);
    assert.equal(status, headline === "succeeded" ? 0 : 1, err);
  });
}

test("the harness of README.md: a broken stream", async () => {
  const folder = newFolder();
  const recording = join(ROOT, "fixtures/agents/claude/plain.ndjson");
  const file = join(folder, "harness.mjs");
  writeFileSync(file, harness);
  const script = `head -3 '${recording}'; echo garbage; tail -n +4 '${recording}'`;
  writeFileSync(join(folder, "claude"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const PATH = `${folder}${delimiter}${process.env.PATH}`;
  const { status, out } = await call(process.execPath, [file, "fix it"], { PATH });
  assert.match(out, /\nthe stream is broken: line 4/);
  assert.equal(status, 1);
});

const recordings = [
  { name: "whole texts", file: "claude/plain.ndjson" },
  { name: "deltas", file: "claude/partial.ndjson" },
];
for (const { name, file } of recordings) {
  test(`the harness of README.md prints each text once: ${name}`, async () => {
    const folder = newFolder();
    const recording = join(ROOT, "fixtures/agents", file);
    const script = join(folder, "harness.mjs");
    writeFileSync(script, harness);
    writeFileSync(join(folder, "claude"), `#!/bin/sh\nexec cat '${recording}'\n`, { mode: 0o755 });
    const PATH = `${folder}${delimiter}${process.env.PATH}`;
    const { out } = await call(process.execPath, [script, "fix it"], { PATH });
    const texts = [];
    for await (const event of events(readFileSync(recording))) if (event.type === "text") texts.push(event.text);
    assert.ok(texts.length > 1);
    for (const text of texts) assert.equal(out.split(`${text}\n`).length, 2, `${text} in ${out}`);
  });
}
