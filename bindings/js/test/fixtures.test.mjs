// Every fixture and every recording gives the events of the program, however its bytes are cut.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { NdjsonCheckError, Reader } from "ndjson-check";
import { cases, nameOf, optionsOf, program, recordings } from "./fixtures.mjs";

// Small pieces and large ones, so that every kind of place is cut.
const PIECES = [1, 7, 2, 300, 1, 64];

function read(data, { exitStatus, ...options }) {
  const reader = new Reader(options);
  const events = [];
  for (let at = 0, piece = 0; at < data.length; piece += 1) {
    const size = PIECES[piece % PIECES.length];
    events.push(...reader.feed(data.subarray(at, at + size)));
    at += size;
  }
  events.push(...reader.finish(exitStatus === undefined ? {} : { exitStatus }));
  return events;
}

test("there are cases", () => {
  assert.ok(cases.length > 500, `${cases.length}`);
  assert.ok(recordings.length > 90, `${recordings.length}`);
});

for (const file of [...cases, ...recordings]) {
  test(nameOf(file), () => {
    const { used, options } = optionsOf(file);
    const data = readFileSync(file);
    const said = program(["--quiet", "--raw", "--to", "events", ...used], data);
    const lines = said.text.split("\n").slice(0, -1);
    if (said.status === 2 && lines.length === 0) {
      assert.throws(() => read(data, options), NdjsonCheckError);
      return;
    }
    assert.deepEqual(read(data, options), lines.map((line) => JSON.parse(line)));
  });
}
