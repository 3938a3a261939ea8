import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { NdjsonCheckError, events, run } from "ndjson-check";
import { PLAIN } from "./fixtures.mjs";

const shell = (script) => ["sh", ["-c", script]];
const pidFile = () => join(mkdtempSync(join(tmpdir(), "ndjson-check-")), "pid");

function isAlive(file) {
  const pid = readFileSync(file, "utf8").trim();
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function all(source) {
  const list = [];
  for await (const event of source) list.push(event);
  return list;
}

test("a good run", async () => {
  const parts = [];
  const agent = run("cat", [PLAIN], { timeout: 30_000, onStdout: (bytes) => parts.push(bytes) });
  const seen = await all(agent);
  const read = await all(events(readFileSync(PLAIN)));
  assert.deepEqual(seen.slice(0, -1), read.slice(0, -1));
  const end = await agent.end;
  assert.deepEqual([end.outcome, end.verdict, end.exitStatus], ["succeeded", "conforming", 0]);
  assert.deepEqual(end.event, seen.at(-1));
  assert.deepEqual(Buffer.concat(parts), readFileSync(PLAIN));
});

test("a failed run", async () => {
  const end = await run(...shell(`cat ${PLAIN}; echo no money >&2; exit 3`)).end;
  assert.deepEqual([end.outcome, end.exitStatus, end.stderrTail], ["failed", 3, ["no money"]]);
  assert.deepEqual(end.event.stderr_tail, ["no money"]);
});

test("a cut run", async () => {
  const agent = run("head", ["-3", PLAIN]);
  assert.equal((await all(agent)).at(-1).type, "cut");
  assert.equal((await agent.end).outcome, "truncated");
});

test("a stalled run", async () => {
  const pid = pidFile();
  const script = `echo $$ > ${pid}; head -2 ${PLAIN}; sleep 60`;
  const agent = run(...shell(script), { idleTimeout: 500, profile: "cursor" });
  assert.equal((await all(agent)).at(-1).outcome, "timed-out");
  assert.equal(isAlive(pid), false);
});

test("an idle timeout waits for an open call", async () => {
  const script = `head -4 ${PLAIN}; sleep 1; tail -n +5 ${PLAIN}`;
  const end = await run(...shell(script), { idleTimeout: 500, profile: "cursor" }).end;
  assert.equal(end.outcome, "succeeded");
});

test("a timeout", async () => {
  const agent = run(...shell(`head -2 ${PLAIN}; sleep 60`), { timeout: 500, profile: "cursor" });
  const end = await agent.end;
  assert.equal(end.outcome, "timed-out");
});

test("a run that floods standard error", async () => {
  const script = `head -c 20000000 /dev/zero | tr '\\0' 'x' >&2; cat ${PLAIN}`;
  assert.equal((await run(...shell(script), { timeout: 60_000 }).end).outcome, "succeeded");
});

test("a run that never exits", async () => {
  const pid = pidFile();
  const started = Date.now();
  const end = await run(...shell(`echo $$ > ${pid}; cat ${PLAIN}; sleep 60`), { exitGrace: 300 }).end;
  assert.equal(end.outcome, "succeeded");
  assert.ok(Date.now() - started < 20_000);
  assert.equal(isAlive(pid), false);
});

test("leaving the loop ends the process group", async () => {
  const [pid, child] = [pidFile(), pidFile()];
  const script = `sleep 60 & echo $! > ${child}; echo $$ > ${pid}; head -2 ${PLAIN}; wait`;
  for await (const event of run(...shell(script), { profile: "cursor" })) {
    assert.equal(event.type, "session");
    assert.ok(isAlive(pid) && isAlive(child));
    break;
  }
  assert.ok(!isAlive(pid) && !isAlive(child));
});

test("an agent that ignores SIGTERM is killed", async () => {
  const pid = pidFile();
  const script = `trap '' TERM; echo $$ > ${pid}; head -2 ${PLAIN}; while :; do sleep 0.1; done`;
  const controller = new AbortController();
  const agent = run(...shell(script), { profile: "cursor", signal: controller.signal });
  for await (const _ of agent) controller.abort();
  const end = await agent.end;
  assert.deepEqual([end.outcome, end.signal], ["failed", 9]);
  assert.equal(isAlive(pid), false);
});

test("options reach the command", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "ndjson-check-"));
  const script = `[ "$A,$HOME,$PWD,$(cat)" = "b,,${cwd},hi" ] && cat ${PLAIN}`;
  const env = { A: "b", HOME: undefined };
  assert.equal((await run(...shell(script), { cwd, env, stdin: "hi" }).end).outcome, "succeeded");
});

test("a limit that is exceeded ends the command", async () => {
  const pid = pidFile();
  const script = `echo $$ > ${pid}; head -4 ${PLAIN}; sleep 60`;
  const started = Date.now();
  const end = await run(...shell(script), { config: "limits.calls = 0", profile: "cursor" }).end;
  assert.equal(end.verdict, "non-conforming");
  assert.ok(Date.now() - started < 20_000);
  assert.equal(isAlive(pid), false);
});

test("a command that does not start", async () => {
  await assert.rejects(all(run("no-such-agent")), NdjsonCheckError);
});
