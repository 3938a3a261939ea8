import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createReadStream, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { NdjsonCheckError, Reader, convert, convertParts, events, report, toText } from "ndjson-check";
import { toConform } from "ndjson-check/matchers";
import { types } from "../types.mjs";
import { PLAIN, PROGRAM, program } from "./fixtures.mjs";

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
    new Response(bytes),
  ];
  for (const source of sources) assert.deepEqual(await all(source), expected);
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

test("what cannot be checked is an error", async () => {
  await assert.rejects(all("{}\n"), NdjsonCheckError);
  assert.throws(() => new Reader({ profile: "no-such-agent" }), /no-such-agent/);
  assert.throws(() => new Reader({ rules: { "no-such-rule": "off" } }), /no-such-rule/);
  assert.throws(() => new Reader({ typo: 1 }), /typo/);
  const reader = new Reader({ profile: "cursor" });
  reader.finish();
  assert.throws(() => reader.feed(bytes), /finished/);
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
  assert.deepEqual(reader.summary, stream);
  assert.match(reader.summary.headline, /^cut short/);
});

test("the matcher", async () => {
  assert.equal((await toConform(bytes)).pass, true);
  const result = await toConform(bytes.subarray(0, 3000));
  assert.equal(result.pass, false);
  assert.match(result.message(), /truncated-line/);
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
  const folder = mkdtempSync(join(tmpdir(), "ndjson-check-"));
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
