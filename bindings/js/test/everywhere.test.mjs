// Runs on every system: the agent is the program, which plays recordings.
import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "ndjson-check";
import { toConform, toPass } from "ndjson-check/matchers";
import { PROGRAM } from "./fixtures.mjs";

const agent = (args, options) => run(PROGRAM, ["replay", ...args, "--speed", "max"], options);

test("a good run and a failed one", async () => {
  const good = await agent(["cursor", "plain", "--stderr-lines", "2000"], { timeout: 60_000 }).end;
  assert.deepEqual([good.outcome, good.passed, good.exitStatus], ["succeeded", true, 0]);
  let said = "";
  const onStderr = (text) => (said += text);
  const failed = await agent(["claude", "not-logged-in", "--stderr-lines", "1"], { timeout: 60_000, onStderr }).end;
  assert.deepEqual([failed.outcome, failed.exitStatus], ["failed", 1]);
  assert.equal(said.trimEnd(), "replay: line 1 of standard error");
});

const faults = [
  { fault: ["--stall-at", "3"], options: { idleTimeout: 1_000 }, headline: "timed out: " },
  { fault: ["--never-exit"], options: { exitGrace: 500 }, headline: "succeeded" },
  { fault: ["--cut-at", "6"], options: {}, headline: "cut short in the middle of line 6" },
];
for (const { fault, options, headline } of faults) {
  test(`a fault: ${fault.join(" ")}`, async () => {
    const end = await agent(["cursor", "plain", ...fault], options).end;
    assert.ok(end.headline.startsWith(headline), end.headline);
  });
}

test("a run is matched", async () => {
  assert.equal((await toPass(agent(["cursor", "plain"]))).pass, true);
  const failed = agent(["claude", "not-logged-in", "--stderr-lines", "1"]);
  const result = await toPass(failed);
  assert.equal(result.pass, false);
  assert.match(result.message(), /^the run does not pass: failed: .*\n  stderr: replay: line 1 of standard error$/);
  assert.equal((await toConform(await failed.end)).pass, true);
  await assert.rejects(toPass(failed, { strict: true }), /TypeError: the options of the check belong to `run`/);
  assert.equal((await toPass(failed, { strict: undefined })).pass, false);
  const unmet = agent(["cursor", "plain"], { config: `[expect]\nmodel = "opus*"\nsession = "other"` });
  const { defects } = await unmet.end;
  assert.deepEqual(defects.map((it) => it.demand), ["ndjson-check.toml:2:9", "ndjson-check.toml:3:11"]);
  const said = (await toPass(unmet)).message();
  assert.match(said, /\n  line -: expectation-failed: .*`opus\*`[^]*\n  line -: expectation-failed: .*`other`/);
});

test("leaving the loop ends the command", async () => {
  const began = Date.now();
  for await (const event of agent(["cursor", "plain", "--stall-at", "3"])) if (event.type === "session") break;
  assert.ok(Date.now() - began < 30_000);
});
