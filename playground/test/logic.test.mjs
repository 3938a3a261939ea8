// What the page knows of a recording, without a browser.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { init, report } from "ndjson-check";
import { cases, nameOf, optionsOf, program } from "../../bindings/js/test/fixtures.mjs";
import { hostile } from "./hostile.mjs";
import { inPieces, load, PAGE, ROOT } from "./modules.mjs";

const { read } = await load("read");
const { LineStarts, placeOf } = await load("lines");
const { parts, sentenceOf, told } = await load("told");
const words = await load("words");
const { fromLink, toLink } = await load("link");
const { isPacked, unpack } = await load("unpack");
const examples = JSON.parse(readFileSync(join(ROOT, "playground/examples.json"), "utf8"));
const bytesOf = (example) => readFileSync(join(ROOT, "fixtures", example.file));
await init();

test("findings and figures are those of the JSON report, and a line is where the report says", async () => {
  let places = 0;
  for (const file of cases) {
    const { exitStatus, ...options } = optionsOf(file).options;
    const bytes = readFileSync(file);
    const lines = (await report(bytes, "json", options)).trim().split("\n").map((line) => JSON.parse(line));
    const its = await read(() => inPieces(bytes, 97), bytes.length, options);
    const found = lines.filter((it) => it.type === "diagnostic");
    assert.deepEqual(its.stream, lines.find((it) => it.type === "stream"), nameOf(file));
    const ranked = [...found].sort((a, b) => (a.severity < b.severity ? -1 : a.severity > b.severity ? 1 : 0));
    assert.deepEqual(its.findings, ranked, nameOf(file));
    for (const { line, offset } of found) {
      if (line === undefined || offset === undefined || bytes[0] === 0x5b) continue;
      const { start, end } = placeOf(its.starts, line);
      assert.ok(start <= offset && offset <= end, `${nameOf(file)}:${line}: ${offset}`);
      places += 1;
    }
    assert.equal(its.calls.length, its.stream.tool_call_counts.total, nameOf(file));
    const outcomes = its.calls.map((call) => call.outcome).sort();
    assert.deepEqual(outcomes, its.stream.tool_calls.map((call) => call.outcome).sort(), nameOf(file));
  }
  assert.ok(places > 400, `${places} findings have a place`);
});

test("an example passes if the program exits with 0", async () => {
  assert.equal(new Set(examples.map((it) => it.name)).size, 12);
  const answers = new Set();
  for (const example of examples) {
    const bytes = bytesOf(example);
    const { stream, words } = await read(() => inPieces(bytes, 1_000), bytes.length, {});
    const { status, text: said } = program([], bytes);
    assert.equal(stream.passed, status === 0, example.name);
    assert.equal(words.mark === "✗", !stream.passed, example.name);
    // The program says the same, in the same words.
    for (const its of [`${words.mark} ${stream.headline}`, words.figures, ...words.notes]) {
      assert.ok(its.length > 5 && said.includes(its), `${example.name}: ${its}`);
    }
    assert.ok(!words.figures.includes(stream.headline), example.name);
    answers.add(stream.passed);
  }
  assert.equal(answers.size, 2);
});

test("findings that follow from the sentence are counted, and not shown", async () => {
  const reasons = new Set();
  const some = cases.filter((file) => /wrong-profile|after-terminal|session/.test(file));
  const wrong = [join(ROOT, "fixtures/agents/claude/subagent.ndjson"), { profile: "codex" }];
  for (const [file, options] of [wrong, ...some.map((file) => [file, optionsOf(file).options])]) {
    delete options.exitStatus;
    const bytes = readFileSync(file);
    const { stream, findings } = await read(() => inPieces(bytes, 1_000), bytes.length, options);
    const { shown, others } = told(findings, stream);
    const human = await report(bytes, "human", options);
    const said = /^ {4}(\d+) more findings? not shown: (.*)$/m.exec(human);
    const more = findings.length - shown.length;
    assert.deepEqual([more, others], [Number(said?.[1] ?? 0), said?.[2].replace("they ", "") ?? ""], nameOf(file));
    assert.doesNotMatch(sentenceOf(stream), /`--sessions/, nameOf(file));
    if (more > 0) reasons.add(others);
  }
  assert.equal(reasons.size, 2);
  const twice = readFileSync(join(ROOT, "fixtures/rules/event-after-terminal/two-runs.ndjson"));
  const { stream } = await read(() => inPieces(twice, 1_000), twice.length, {});
  assert.equal(sentenceOf(stream), "more than one run: split the recording, and open each run");
});

test("code is between backticks", () => {
  assert.deepEqual(parts("the `shell` call `a b` was"), ["the ", "shell", " call ", "a b", " was"]);
  for (const text of ["", "plain", "one ` alone", "``"]) assert.deepEqual(parts(text), [text]);
});

test("lines are the same however the bytes are cut", () => {
  const bytes = Buffer.from("a\nbb\n\n\u00e4\r\nlast");
  for (let size = 1; size <= bytes.length; size++) {
    const starts = new LineStarts();
    for (let at = 0; at < bytes.length; at += size) starts.add(bytes.subarray(at, at + size));
    const all = starts.finish();
    const lines = [1, 2, 3, 4, 5].map((line) => placeOf(all, line));
    const texts = lines.map(({ start, end }) => bytes.subarray(start, end).toString());
    assert.deepEqual(texts, ["a", "bb", "", "\u00e4\r", "last"]);
    assert.equal(placeOf(all, 6), undefined);
    assert.equal(placeOf(all, 0), undefined);
  }
});

test("what misleads is visible, and nothing else is changed", () => {
  assert.equal(words.visible("a\u001b[2J\u0007\n\r\t\u007f"), "a\\x1b[2J\\x07\\n\\r\\t\\x7f");
  assert.equal(words.visible("\u0085\u202e\ufeff\u{e0041}"), "\\u{85}\\u{202e}\\u{feff}\\u{e0041}");
  assert.equal(words.visible("<b>Zwölf \u{1f600}</b>"), "<b>Zwölf \u{1f600}</b>");
});

test("figures are those of the program", () => {
  assert.deepEqual([0, 999, 1_000, 1_234_567].map(words.whole), ["0", "999", "1\u00a0000", "1\u00a0234\u00a0567"]);
  assert.deepEqual([1, 999, 1_050, 7_582, 2_345_678].map(words.size), ["1 byte", "999 bytes", "1.0 kB", "7.5 kB", "2.3 MB"]);
  assert.deepEqual([40, 9_769, 61_400, 3_720_000].map(words.duration), ["40 ms", "9.76 s", "1 m 01 s", "1 h 02 m"]);
  assert.equal(words.duration(1_047_600_000), "12 d 03 h");
});

test("a hostile recording is read to its end, and little of it is kept", async () => {
  const its = await read(() => inPieces(hostile(), 65_536), hostile().length, {});
  assert.equal(its.stream.passed, false);
  const longest = Math.max(...its.findings.map((it) => it.message.length));
  assert.ok(longest < 2_000, `${longest}`);
  const start = bytesOf(examples[0]);
  const garbage = Buffer.concat([start, Buffer.from("x\n".repeat(20_000))]);
  const many = await read(() => inPieces(garbage, 65_536), garbage.length, {});
  assert.ok(many.findings.length < 1_000, `${many.findings.length}`);
  assert.ok(many.stream.errors >= 20_000);
});

test("a recording goes through a link, and a link that unpacks to too much does not", async () => {
  const link = await toLink(new Blob([bytesOf(examples[0])]));
  const back = await fromLink(link.replace("#recording=", ""));
  assert.deepEqual(Buffer.from(await back.arrayBuffer()), bytesOf(examples[0]));
  const bomb = await toLink(new Blob([new Uint8Array(30_000_000)]));
  await assert.rejects(fromLink(bomb.replace("#recording=", "")), /too long/);
});

test("a gzip file is unpacked, and a damaged one is an error", async () => {
  const bytes = bytesOf(examples[0]);
  const packed = gzipSync(bytes);
  assert.deepEqual([await isPacked(new Blob([packed])), await isPacked(new Blob([bytes]))], [true, false]);
  assert.equal(await isPacked(new Blob([])), false);
  assert.deepEqual(Buffer.from(await (await unpack(new Blob([packed]))).arrayBuffer()), bytes);
  await assert.rejects(unpack(new Blob([packed.subarray(0, packed.length / 2)])), /damaged, not complete/);
  assert.equal((await unpack(new Blob([packed]), bytes.length)).size, bytes.length);
  await assert.rejects(unpack(new Blob([packed]), bytes.length - 1), /too large/);
  // Such as a file that was deleted.
  const defect = new DOMException("cannot be read", "NotReadableError");
  const gone = { stream: () => new ReadableStream({ pull: (its) => its.error(defect) }) };
  await assert.rejects(unpack(gone), defect);
});

test("the page may fetch nothing, and runs only its own script", () => {
  const page = readFileSync(PAGE, "utf8");
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)[1];
  assert.match(policy, /default-src 'none'; connect-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:|\*/);
  for (const [kind, tag] of [["script", "script"], ["style", "style"]]) {
    const text = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(page)[1];
    const hash = createHash("sha256").update(text).digest("base64");
    assert.ok(policy.split(`${kind}-src`)[1].split(";")[0].includes(hash), kind);
  }
});
