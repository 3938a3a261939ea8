import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { cpSync, createReadStream, openAsBlob, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { NdjsonCheckError, Reader, StreamError, convert, convertParts, events, report, toText } from "ndjson-check";
import { toConform, toPass } from "ndjson-check/matchers";
import { types } from "../types.mjs";
import { AGENTS, PLAIN, PROGRAM, program } from "./fixtures.mjs";
import { newFolder } from "./folder.mjs";

const bytes = readFileSync(PLAIN);

async function all(source, options) {
  const list = [];
  for await (const event of events(source, options)) list.push(event);
  return list;
}

test("the types are those of the schema", () => {
  assert.equal(readFileSync(new URL("../ts/types.ts", import.meta.url), "utf8"), types());
});

test("every kind of source gives the same events", async () => {
  const expected = await all(bytes);
  assert.equal(expected.at(-1).type, "end");
  const text = bytes.toString();
  async function* parts() {
    for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
  }
  const sources = [
    text,
    [...text],
    text.split(""),
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    parts(),
    createReadStream(PLAIN),
    new Blob([bytes]).stream(),
    new Blob([bytes]),
    await openAsBlob(PLAIN),
    new Response(bytes),
  ];
  for (const source of sources) assert.deepEqual(await all(source), expected);
});

test("bytes are a buffer or a view of one, of any realm; all else is a TypeError", async () => {
  const expected = await all(bytes);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  const foreign = runInNewContext("(all) => Uint8Array.from(all)")([...bytes]);
  const kinds = [buffer, shared, new DataView(buffer), new Uint8ClampedArray(buffer), foreign, foreign.buffer];
  for (const kind of kinds) {
    const stream = new ReadableStream({
      start(its) {
        its.enqueue(kind);
        its.close();
      },
    });
    async function* later() {
      yield kind;
    }
    for (const source of [kind, [kind], later(), stream]) assert.deepEqual(await all(source), expected);
    const reader = new Reader();
    assert.deepEqual([...reader.feed(kind), ...reader.finish()], expected);
  }
  for (const wrong of [5, {}, null, undefined, ["{}"], true]) {
    if (!Array.isArray(wrong)) await assert.rejects(all(wrong), TypeError);
    await assert.rejects(all([wrong]), TypeError);
    const reader = new Reader();
    assert.throws(() => reader.feed(wrong), TypeError);
    // The reader is not lost.
    assert.deepEqual([...reader.feed(bytes), ...reader.finish()], expected);
  }
  await assert.rejects(all([...bytes]), /type Number/);
});

test("a gzip archive is unpacked, whatever the source", async () => {
  const expected = await all(bytes);
  const packed = Buffer.concat([gzipSync(bytes.subarray(0, 2000)), gzipSync(bytes.subarray(2000))]);
  const file = join(newFolder(), "run.ndjson.gz");
  writeFileSync(file, packed);
  const shared = new Uint8Array(new SharedArrayBuffer(packed.length));
  shared.set(packed);
  async function* parts() {
    for (let at = 0; at < packed.length; at += 1) yield packed.subarray(at, at + 1);
  }
  const streams = [createReadStream(file), new Blob([packed]).stream(), new Response(packed)];
  for (const source of [packed, shared, [packed], parts(), ...streams]) {
    assert.deepEqual(await all(source), expected);
  }
  assert.equal(await convert(packed, "answer"), await convert(bytes, "answer"));
  assert.equal(await report(packed, "human"), await report(bytes, "human"));
  assert.equal((await toConform(packed)).pass, true);
});

test("a loop leaves an archive that has not ended", async () => {
  const packed = gzipSync(bytes.subarray(0, 3000));
  let isCancelled = false;
  const waiting = new ReadableStream({
    start: (its) => its.enqueue(packed),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const event of events(waiting)) {
    assert.equal(event.type, "session");
    break;
  }
  assert.equal(isCancelled, true);
  const child = spawn(process.execPath, ["-e", `process.stdout.write(Buffer.from("${packed.toString("hex")}", "hex"));
    setTimeout(() => {}, 60_000)`]);
  for await (const event of events(child.stdout)) {
    assert.equal(event.type, "session");
    break;
  }
  child.kill();
  const closed = new ReadableStream({
    start: (its) => {
      its.enqueue(packed.subarray(0, -4));
      its.close();
    },
  });
  const failing = new ReadableStream({
    start: (its) => its.enqueue(packed),
    cancel: () => Promise.reject(new Error("it cannot be cancelled")),
  });
  for (const source of [new Blob([packed]), new Response(packed), closed, failing, packed]) {
    for await (const event of events(source)) {
      assert.equal(event.type, "session");
      break;
    }
  }
});

test("a response is read once", async () => {
  const response = new Response(bytes);
  await all(response);
  await assert.rejects(all(response), /the body of the response was already read/);
});

test("a gzip archive that cannot be unpacked", async () => {
  const packed = gzipSync(bytes);
  const junk = Buffer.concat([packed, Buffer.from("junkjunk")]);
  const empty = Buffer.from([0x1f, 0x8b]);
  for (const wrong of [packed.subarray(0, -6), junk, empty]) {
    const message = "the gzip archive is damaged, not complete, or has several parts";
    await assert.rejects(all(wrong), { name: "NdjsonCheckError", message });
  }
  // Alone, the first byte of an archive is none.
  assert.equal((await all([packed.subarray(0, 1)], { profile: "cursor" })).at(-1).type, "cut");
  const defect = new Error("a defect");
  let isEnded = false;
  async function* fails() {
    try {
      yield packed.subarray(0, 100);
      throw defect;
    } finally {
      isEnded = true;
    }
  }
  await assert.rejects(all(fails()), defect);
  assert.ok(isEnded);
  async function* goesOn() {
    try {
      for (;;) yield packed;
    } finally {
      isEnded = true;
    }
  }
  isEnded = false;
  for await (const _ of events(goesOn())) break;
  assert.ok(isEnded);
  const { DecompressionStream } = globalThis;
  delete globalThis.DecompressionStream;
  try {
    const message = "the input is gzip-compressed: unpack it first";
    await assert.rejects(all(packed), { name: "NdjsonCheckError", message });
  } finally {
    globalThis.DecompressionStream = DecompressionStream;
  }
});

test("a callback for the summary that is rejected", async () => {
  const onSummary = async () => assert.fail("a defect");
  await assert.rejects(all(bytes, { onSummary }), /a defect/);
});

test("the page of an error is no recording", async () => {
  await assert.rejects(all(new Response("Not Found", { status: 404 })), /status 404/);
});

test("exit statuses of all systems", async () => {
  const end = async (options) => (await all(bytes, { profile: "cursor", ...options })).at(-1);
  for (const exitStatus of [256, 70_000, 4_294_967_295, -1, 2 ** 40]) {
    const { exit_status, outcome } = await end({ exitStatus });
    assert.deepEqual([exit_status, outcome], [255, "failed"], `${exitStatus}`);
  }
  for (const exitStatus of [3_221_225_786, 3_221_225_786 - 2 ** 32]) {
    const { exit_status, signal } = await end({ exitStatus });
    assert.deepEqual([exit_status, signal], [undefined, 2]);
  }
  assert.equal((await end({ exitStatus: 0xc0000005 })).signal, 11);
  assert.equal((await end({ exitStatus: null, signal: 15 })).signal, 15);
  assert.equal((await end({ exitStatus: 0, signal: 9 })).outcome, "failed");
  const reader = new Reader();
  reader.feed(bytes);
  assert.throws(() => reader.finish({ exitStatus: 1.5 }), TypeError);
  assert.equal(reader.finish({ exitStatus: 300 }).at(-1).exit_status, 255);
});

test("standard error says why", async () => {
  const said = "Not inside a trusted directory and --skip-git-repo-check was not specified.";
  const line = '{"type":"thread.started","thread_id":"t"}\n';
  const reader = new Reader({ profile: "codex" });
  reader.feed(line);
  reader.finish({ exitStatus: 1, stderr: said });
  assert.equal(reader.summary.reason, "config");
  const options = { profile: "codex", exitStatus: 1, stderr: async () => said };
  assert.equal((await all([line], options)).at(-1).reason, "config");
  assert.match(await report([line], "json", options), /"reason":"config"/);
  await assert.rejects(all([line], { stderr: 3 }), TypeError);
});

test("a run that failed has a last message", () => {
  const reader = new Reader({ profile: "cursor" });
  reader.feed(bytes);
  reader.finish({ exitStatus: 1 });
  const { answer, last_message, structured } = reader.summary;
  assert.ok(answer === "" && last_message !== "" && structured === undefined);
});

test("a turn says how it ended", async () => {
  const lines = ['{"type":"thread.started","thread_id":"t"}\n'];
  for (const end of ['{"type":"turn.failed","error":{"message":"unexpected status 529: overloaded"}}\n',
    '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}\n']) {
    lines.push('{"type":"turn.started"}\n', end);
  }
  const turns = (await all(lines, { profile: "codex" })).filter(({ type }) => type === "turn_ended");
  assert.deepEqual(turns.map(({ turn, outcome }) => [turn, outcome]), [[1, "failed"], [2, "succeeded"]]);
  assert.deepEqual(turns.map(({ retryable }) => retryable), ["yes", undefined]);
});

test("a signal has a number or a name", async () => {
  const end = async (options) => (await all(bytes, { profile: "cursor", ...options })).at(-1);
  for (const [signal, number] of [["SIGTERM", 15], ["SIGKILL", 9], [15, 15]]) {
    const { outcome, ...last } = await end({ exitStatus: null, signal });
    assert.deepEqual([outcome, last.signal], ["failed", number]);
  }
  const reader = new Reader();
  reader.feed(bytes);
  assert.equal(reader.finish({ exitStatus: null, signal: "SIGUSR1" }).at(-1).outcome, "failed");
});

test("an exit status that is known after the last bytes", async () => {
  let isRead = false;
  async function* source() {
    yield bytes;
    isRead = true;
  }
  const exitStatus = () => {
    assert.ok(isRead);
    return Promise.resolve(7);
  };
  const end = (await all(source(), { exitStatus })).at(-1);
  assert.deepEqual([end.outcome, end.exit_status], ["failed", 7]);
  assert.equal((await all(bytes, { exitStatus: async () => 0, signal: Promise.resolve(null) })).at(-1).outcome, "succeeded");
  const killed = { exitStatus: Promise.resolve(null), signal: () => "SIGKILL" };
  assert.deepEqual((await all(bytes, killed)).at(-1).signal, 9);
  assert.match(await convert(bytes, "events", { exitStatus: () => 1 }), /"outcome":"failed"/);
  assert.match(await report(bytes, "human", { exitStatus: Promise.resolve(1) }), /^✗/);
  // It must not become a success.
  for (const unknown of [() => null, Promise.resolve(undefined)]) {
    const said = /^TypeError: the option exitStatus has given no number: the process has not ended, or a signal/;
    await assert.rejects(all(bytes, { exitStatus: unknown }), said);
  }
  await assert.rejects(all(bytes, { exitStatus: () => "0" }), /the option exitStatus must be a whole number/);
  await assert.rejects(all(bytes, { exitStatus: Promise.reject(new Error("a defect")) }), /a defect/);
});

test("the exit status of a process that the program has started", { skip: process.platform === "win32" }, async () => {
  for (const [script, outcome] of [["exit 0", "succeeded"], ["exit 1", "failed"], ["kill -9 $$", "failed"]]) {
    const child = spawn("sh", ["-c", `cat '${PLAIN}'; ${script}`]);
    const exit = once(child, "exit");
    const options = { exitStatus: exit.then(([code]) => code), signal: exit.then(([, name]) => name) };
    assert.equal((await all(child.stdout, options)).at(-1).outcome, outcome, script);
  }
});

test("lines without their ends", async () => {
  const expected = await all(bytes);
  assert.deepEqual(await all(createInterface({ input: createReadStream(PLAIN) })), expected);
  const file = await open(PLAIN);
  assert.deepEqual(await all(file.readLines()), expected);
  const lines = bytes.toString().trimEnd().split("\n");
  const forms = [(line) => line, (line) => `${line}\n`, (line) => Buffer.from(line), (line) => Buffer.from(`${line}\n`)];
  for (const form of forms) {
    const reader = new Reader();
    const seen = lines.flatMap((line) => reader.feedLine(form(line)));
    assert.deepEqual(seen.concat(reader.finish()), expected);
  }
  assert.throws(() => new Reader().feedLine(5), TypeError);
});

test("a reader knows that the terminal event has come, and the answer", async () => {
  const claude = readFileSync(join(AGENTS, "claude/plain.ndjson"));
  const lines = claude.toString().trimEnd().split("\n");
  const reader = new Reader();
  const complete = lines.map((line) => [reader.feedLine(line), reader.isComplete][1]);
  assert.deepEqual(complete, lines.map((_, at) => at === lines.length - 1));
  assert.throws(() => reader.answer, /the stream is not finished/);
  reader.finish({ exitStatus: 0 });
  assert.equal(reader.isComplete, true);
  assert.equal(`${reader.answer}\n`, await convert(claude, "answer", { raw: true }));
  assert.equal(reader.summary.answer, reader.answer);
  const failed = new Reader();
  failed.feed(claude);
  failed.finish({ exitStatus: 1 });
  assert.equal(failed.answer, "");
});

test("a path is no stream", async () => {
  for (const path of ["run.ndjson", "/tmp/a b.jsonl", "x.json.gz"]) {
    await assert.rejects(all(path), /^TypeError: a string is the text of a stream, not its path; pass `createReadStream/);
    await assert.rejects(toPass(path), TypeError);
  }
});

test("a runtime without FinalizationRegistry", () => {
  const index = JSON.stringify(import.meta.resolve("ndjson-check"));
  const text = `delete globalThis.FinalizationRegistry; const { Reader } = await import(${index}); new Reader().close();`;
  const done = spawnSync(process.execPath, ["--input-type=module", "--eval", text]);
  assert.equal(done.status, 0, done.stderr.toString());
});

test("a wrong option is named, in words", async () => {
  const wrong = [
    [{ timeoutMs: 5 }, "unknown option: timeoutMs"],
    [{ strict: "yes" }, "the option strict must be true or false"],
    [{ maxLineBytes: Infinity }, "the option maxLineBytes must be a whole number of 1 or more"],
    [{ rules: { "denied-call": "fatal" } }, "the option rules must be an object with `error`, `warning` or `off` for each rule"],
    [{ rules: ["error"] }, "the option rules must be an object with `error`, `warning` or `off` for each rule"],
    [null, "the options must be an object"],
    ...[{}, "a/ndjson-check.toml"].map((config) => [
      { config },
      "the option config must be the text of an ndjson-check.toml, not its path",
    ]),
    [{ signal: new AbortController().signal }, "the option signal must be the number or the name of a signal"],
    [{ signal: "SIGNOTHING" }, "the option signal must be the number or the name of a signal"],
  ];
  for (const [options, message] of wrong) {
    await assert.rejects(all(bytes, options), { name: "TypeError", message });
    await assert.rejects(convert(bytes, "text", options), { name: "TypeError", message });
  }
  const without = { rules: { "denied-call": undefined }, profile: undefined, exitStatus: undefined, onSummary: undefined };
  assert.deepEqual(await all(bytes, without), await all(bytes));
  await assert.rejects(convert(bytes, "text", { results: 1.5 }), TypeError);
  assert.throws(() => new Reader(null), { name: "TypeError", message: "the options must be an object" });
  // Before anything is read.
  const unread = (function* () {
    assert.fail("it is read");
  })();
  await assert.rejects(all(unread, { onSummary: 5 }), /the option onSummary must be a function/);
  assert.throws(() => new Reader().finish({ exit_status: 1 }), TypeError);
});

test("a byte order mark in a text stays", async () => {
  const said = bytes.toString().replaceAll("All four", "\ufeffAll four");
  const text = await convert(said, "answer", { raw: true });
  assert.ok(text.startsWith("\ufeffAll four"), text);
});

test("the core is found where URL is another one and TextEncoder is absent, as in jsdom", () => {
  const script = `const Its = URL;
delete globalThis.TextEncoder;
delete globalThis.TextDecoder;
globalThis.URL = class {
  constructor(...all) {
    this.href = new Its(...all).href;
  }
};
const { Reader } = await import(${JSON.stringify(import.meta.resolve("ndjson-check"))});
new Reader();
`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script]);
  assert.equal(status, 0, `${stderr}`);
});

test("a core that is not next to the module, as after a bundler, is an error that says what to do", () => {
  const folder = newFolder();
  cpSync(new URL("../dist", import.meta.url), folder, { recursive: true });
  rmSync(join(folder, "ndjson_check.wasm"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const script = `import { Reader, init } from ${JSON.stringify(pathToFileURL(join(folder, "index.js")))};
import { readFileSync } from "node:fs";
let said = "";
try {
  new Reader();
} catch (error) {
  said = error.name + ": " + error.message;
}
await init(readFileSync(process.argv[1]));
new Reader();
console.log(said);
`;
  const core = fileURLToPath(import.meta.resolve("ndjson-check/ndjson_check.wasm"));
  const args = ["--input-type=module", "--eval", script, core];
  const { status, stdout, stderr } = spawnSync(process.execPath, args);
  assert.equal(status, 0, `${stderr}`);
  assert.match(`${stdout}`, /^NdjsonCheckError: ndjson_check\.wasm is not next to .* copy it .* `await init\(bytes\)`/);
});

test("a character that two strings share is whole", async () => {
  const text = bytes.toString().replaceAll("I'll run", "\u{1F600} run");
  const parts = text.split("");
  const texts = (await all(parts)).filter((it) => it.type === "text");
  assert.ok(texts.some((it) => it.text.includes("\u{1F600}")));
  assert.match(await convert(parts, "transcript"), /\u{1F600} run/u);
  assert.equal(await report(parts, "json"), await report(text, "json"));
  assert.equal((await toConform(parts)).pass, true);
});

test("events come as soon as they are known", async () => {
  const lines = bytes.toString().split("\n");
  let given = 0;
  function* source() {
    for (const line of lines) {
      given += 1;
      yield `${line}\n`;
    }
  }
  for await (const event of events(source(), { profile: "cursor" })) {
    if (event.line !== undefined) assert.equal(event.line, given);
  }
});

test("the last event always comes", async () => {
  assert.equal((await all(bytes.subarray(0, 3000), { profile: "cursor" })).at(-1).type, "cut");
  assert.equal((await all([bytes.toString(), "\ud83d"], { profile: "cursor" })).at(-1).verdict, "non-conforming");
  assert.equal((await all(new Uint8Array(), { profile: "cursor" })).at(-1).type, "cut");
});

test("a silent source can be left", async () => {
  const begin = bytes.subarray(0, 3000);
  const web = () => {
    let cancelled = false;
    // Its end is awaited.
    const cancel = async () => void (await delay(50), (cancelled = true));
    const stream = new ReadableStream({ start: (its) => its.enqueue(begin), cancel });
    return { stream, isEnded: () => cancelled };
  };
  const node = () => {
    const stream = new PassThrough();
    stream.write(begin);
    return { stream, isEnded: () => stream.destroyed };
  };
  const lines = () => {
    const stream = createInterface({ input: node().stream });
    let closed = false;
    stream.on("close", () => (closed = true));
    return { stream, isEnded: () => closed };
  };
  for (const source of [web, node, lines]) {
    for (const read of [(it) => events(it), (it) => convertParts(it, "events"), (it) => events(it, { profile: "cursor" })]) {
      const { stream, isEnded } = source();
      const parts = read(stream);
      const seen = [(await parts.next()).value];
      // The last one comes when there is nothing to read any more.
      let waiting = parts.next();
      for (let next; (next = await Promise.race([waiting, delay(100)])); waiting = parts.next()) seen.push(next.value);
      assert.equal((await parts.return()).done, true);
      assert.deepEqual(await waiting, { done: true, value: undefined });
      assert.ok(isEnded() && seen.length > 0);

      // At once, before it is opened.
      const late = source();
      const unread = read(late.stream);
      const first = unread.next();
      assert.equal((await unread.return()).done, true);
      assert.deepEqual(await first, { done: true, value: undefined });
      assert.ok(late.isEnded());
    }
  }
});

test("what cannot be checked is an error", async () => {
  await assert.rejects(all("{}\n"), StreamError);
  await assert.rejects(all("{}\n"), /^StreamError: no known agent writes these events; choose a profile, such as/);
  await assert.rejects(all("{}\n", { name: "a" }), /^StreamError: a: no known agent/);
  assert.throws(() => new Reader({ profile: "no-such-agent" }), /no-such-agent/);
  assert.throws(() => new Reader({ rules: { "no-such-rule": "off" } }), /no-such-rule/);
  assert.throws(() => new Reader({ typo: 1 }), /typo/);
  const reader = new Reader({ profile: "cursor" });
  reader.finish();
  assert.throws(() => reader.feed(bytes), /finished/);
});

test("a format that only the program unpacks is named", async () => {
  const zstandard = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x03, 0x19, 0x00, 0x00, 0x7b, 0x7d, 0x0a);
  const { headline } = JSON.parse((await report(zstandard, "json")).split("\n").find((it) => it.includes("headline")));
  assert.equal(headline, "not an agent's stream: the input is Zstandard-compressed");
});

test("forms are those of the program", async () => {
  const forms = ["text", "transcript", "answer", "json", "stream-json", "events"];
  for (const form of [...forms, "chrome-trace", "otlp-json", "atif"]) {
    const said = program(["--quiet", "--to", form], bytes);
    assert.equal(await convert(bytes, form), said.text, form);
    const parts = [];
    for await (const part of convertParts([bytes.subarray(0, 999), bytes.subarray(999)], form)) parts.push(part);
    assert.equal(parts.join(""), said.text, form);
  }
  assert.equal(await toText(bytes), program(["--quiet", "--to", "text"], bytes).text);
});

test("a form or report that does not exist", async () => {
  const forms = /^TypeError: the form must be one of text, transcript, /;
  for (const form of ["pdf", "human-report", undefined]) {
    await assert.rejects(convert(bytes, form), forms);
    await assert.rejects(convertParts(bytes, form).next(), forms);
  }
  const reports = /^TypeError: the kind of report must be one of human, json, markdown, html$/;
  await assert.rejects(report(bytes, "junit"), reports);
});

test("reports", async () => {
  const cut = bytes.subarray(0, 3000);
  assert.match(await report(cut, "human"), /^✗ cut short in the middle of line 5/);
  assert.match(await report(cut, "markdown"), /truncated/);
  assert.match(await report(bytes, "html"), /^<!doctype html/i);
  const lines = (await report(cut, "json")).trimEnd().split("\n").map((it) => JSON.parse(it));
  assert.ok(lines.some((it) => it.type === "diagnostic" && it.rule === "truncated-line"));
  const { type, report_version, tool_version, ...stream } = lines.find((it) => it.type === "stream");
  const reader = new Reader({ name: stream.path });
  reader.feed(cut);
  reader.finish();
  const last_message = "I'll run the tests first to see the failure.";
  assert.deepEqual(reader.summary, { ...stream, answer: "", last_message });
  assert.match(reader.summary.headline, /^cut short/);
});

test("the matcher for a run that passes", async () => {
  assert.equal((await toPass(bytes)).pass, true);
  for (const [name, said] of [
    ["claude/max-turns", "failed: Reached maximum number of turns (1)"],
    ["claude/not-logged-in", "failed: Invalid API key"],
  ]) {
    const result = await toPass(readFileSync(join(AGENTS, `${name}.ndjson`)));
    assert.equal(result.pass, false, name);
    assert.ok(result.message().startsWith(`the run does not pass: ${said}`), result.message());
  }
  const cut = (await toPass(bytes.subarray(0, 3000))).message();
  assert.match(cut, /^the run does not pass: cut short.*\n.*truncated-line/);
  assert.equal((await toPass(bytes, { exitStatus: 1 })).pass, false);
  assert.match((await toPass("{}\n{}\n")).message(), /^the run does not pass: .*no known agent/);
});

test("the matcher for a stream that conforms", async () => {
  assert.equal((await toConform(bytes)).pass, true);
  const result = await toConform(bytes.subarray(0, 3000));
  assert.equal(result.pass, false);
  assert.match(result.message(), /^the stream does not conform: cut short.*\n.*truncated-line/);
  // `.not` holds for a stream of no known agent, and not for a wrong option.
  const unknown = await toConform("{}\n{}\n");
  assert.equal(unknown.pass, false);
  assert.match(unknown.message(), /no known agent/);
  await assert.rejects(toConform(bytes, { profile: "no-such-agent" }), NdjsonCheckError);
});

test("a configuration: limits, expectations and levels, at their places", async () => {
  const config = `[limits]
calls = 0

[expect]
answer = { matches = "^never" }
calls = [{ kind = "command", matches = "cargo", at-least = 9 }]

[rules]
expectation-failed = "warning"
`;
  const folder = newFolder();
  const file = join(folder, "ndjson-check.toml");
  writeFileSync(file, config);
  const flags = ["--config", file, "--quiet", "--raw", "--to", "events"];
  const said = spawnSync(PROGRAM, [...flags, "-"], { input: bytes });
  const expected = said.stdout.toString().replaceAll(file, "ndjson-check.toml").trimEnd().split("\n");
  const found = await all(bytes, { config });
  assert.deepEqual(found, expected.map((line) => JSON.parse(line)));
  const rules = found.filter((it) => it.type === "defect").map((it) => it.rule);
  assert.ok(rules.includes("limit-exceeded") && rules.includes("expectation-failed"), `${rules}`);
  const strict = await all(bytes, { config, rules: { "expectation-failed": "error" } });
  assert.ok(strict.some((it) => it.rule === "expectation-failed" && it.severity === "error"));
  const wrong = "ndjson-check.toml:1:8: unknown key `trns`; a similar one is `turns`";
  assert.throws(() => new Reader({ config: "limits.trns = 40" }), (error) => error.message === wrong);
});

test("10,000 streams leave no memory behind", () => {
  const memory = () => process.memoryUsage().external + process.memoryUsage().arrayBuffers;
  const read = (count) => {
    for (let each = 0; each < count; each += 1) {
      const reader = new Reader({ profile: "cursor" });
      reader.feed(bytes);
      if (each % 2 === 0) reader.finish();
      else reader.close();
    }
  };
  read(500);
  const before = memory();
  read(10_000);
  assert.ok(memory() - before < 4_000_000, `${before} to ${memory()}`);
});
