import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
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

/** A process that got SIGKILL may take a moment. */
async function hasEnded(file) {
  for (let tries = 0; isAlive(file) && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return !isAlive(file);
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

test("after its end a run signals nobody and keeps nothing alive", async (context) => {
  const agent = run("cat", [PLAIN]);
  const kill = context.mock.method(process, "kill");
  for await (const event of agent) {
    if (event.type !== "end") continue;
    kill.mock.resetCalls();
    break;
  }
  agent.stop();
  assert.equal(kill.mock.callCount(), 0);
  assert.deepEqual(process.getActiveResourcesInfo().filter((it) => it === "Timeout"), []);
});

test("what the command leaves behind is ended", async () => {
  const child = pidFile();
  const script = `sleep 60 > /dev/null 2>&1 & echo $! > ${child}; cat ${PLAIN}`;
  const end = await run(...shell(script)).end;
  assert.equal(end.outcome, "succeeded");
  assert.ok(await hasEnded(child));
});

test("what the command leaves behind holds the stream open for a short time", async () => {
  const child = pidFile();
  const script = `sleep 60 & echo $! > ${child}; cat ${PLAIN}`;
  const end = await run(...shell(script), { config: `rules.pipe-held-open = "error"` }).end;
  assert.equal(end.verdict, "non-conforming");
  assert.ok(await hasEnded(child));
});

test("a process outside the group does not delay the end", async () => {
  const child = pidFile();
  const script = `setsid sh -c 'echo $$ > ${child}; exec sleep 60' > /dev/null &
    while [ ! -s ${child} ]; do sleep 0.01; done; cat ${PLAIN}; echo last >&2; exit 3`;
  const started = Date.now();
  const end = await run(...shell(script)).end;
  assert.ok(Date.now() - started < 10_000);
  assert.deepEqual(end.stderrTail, ["last"]);
  assert.ok(isAlive(child));
  process.kill(Number(readFileSync(child, "utf8")), "SIGKILL");
});

test("a slow reader gets all events, although the command has ended long before", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "ndjson-check-")), "run.ndjson");
  const lines = readFileSync(PLAIN, "utf8").trimEnd().split("\n");
  const said = { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "x" }] } };
  const more = Array(2_000).fill(JSON.stringify({ ...said, session_id: JSON.parse(lines[0]).session_id }));
  writeFileSync(file, [...lines.slice(0, 2), ...more, ...lines.slice(2), ""].join("\n"));
  const agent = run("cat", [file]);
  const seen = [];
  for await (const event of agent) {
    if (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 4_000));
    seen.push(event);
  }
  assert.deepEqual(seen.slice(0, -1), (await all(events(readFileSync(file)))).slice(0, -1));
});

test("a stream that cannot be read ends the command at once", async () => {
  const pid = pidFile();
  const script = `trap '' TERM; echo $$ > ${pid}; yes '{}'; while :; do sleep 0.1; done`;
  await assert.rejects(run(...shell(script)).end, NdjsonCheckError);
  assert.equal(isAlive(pid), false);
});

test("a wrong start ends the command", async () => {
  const pid = pidFile();
  const script = `echo $$ > ${pid}; head -4 ${PLAIN}; sleep 60`;
  const started = Date.now();
  const end = await run(...shell(script), { config: `expect.model = "opus*"`, profile: "cursor" }).end;
  assert.equal(end.verdict, "non-conforming");
  assert.ok(Date.now() - started < 20_000);
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
