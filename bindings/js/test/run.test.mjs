import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { NdjsonCheckError, StreamError, convert, events, run } from "ndjson-check";
import { AGENTS, PLAIN } from "./fixtures.mjs";
import { newFolder } from "./folder.mjs";

const shell = (script) => ["sh", ["-c", script]];
const pidFile = () => join(newFolder(), "pid");

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
  assert.deepEqual([end.passed, end.headline], [true, "succeeded"]);
  assert.deepEqual(end.event, seen.at(-1));
  assert.deepEqual(Buffer.concat(parts), readFileSync(PLAIN));
});

test("a failed run", async () => {
  const end = await run(...shell(`cat ${PLAIN}; echo no money >&2; exit 3`)).end;
  assert.deepEqual([end.outcome, end.exitStatus, end.stderrTail], ["failed", 3, ["no money"]]);
  assert.deepEqual(end.event.stderr_tail, ["no money"]);
});

test("the line in front of a long stack is the reason", async () => {
  const stack = "i=0; while [ $i -lt 12 ]; do echo '    at call (file.js:1)' >&2; i=$((i+1)); done";
  const script = `head -3 ${PLAIN}; echo 'Error: 429 rate limit exceeded' >&2; ${stack}; exit 1`;
  const end = await run(...shell(script)).end;
  assert.match(end.headline, /^failed: Error: 429 rate limit exceeded /);
  assert.deepEqual([end.reason, end.retryable], ["rate-limit", "later"]);
  assert.deepEqual([end.stderrTail.length, end.stderrTail[0]], [10, "Error: 429 rate limit exceeded"]);
});

test("much noise on standard error hides no refused call", async () => {
  const refused = join(AGENTS, "codex/calls-refused-on-stderr.ndjson");
  const noise = "yes '2026-01-01T00:00:00Z WARN codex_core::noise: something' | head -20000 >&2";
  const end = await run(...shell(`grep -v '^{' ${refused} >&2; ${noise}; grep '^{' ${refused}`)).end;
  assert.deepEqual([end.passed, end.summary.tool_call_counts.denied], [false, 5]);
});

test("a call that only standard error shows", async () => {
  const refused = join(AGENTS, "codex/calls-refused-on-stderr.ndjson");
  const end = await run(...shell(`grep '^{' ${refused}; grep -v '^{' ${refused} >&2`)).end;
  assert.deepEqual([end.passed, end.outcome, end.summary.tool_call_counts.denied], [false, "succeeded", 5]);
});

test("why a run failed, and when a retry is worth it", async () => {
  const failed = join(AGENTS, "codex/at-capacity.ndjson");
  const said = "Selected model is at capacity.*model[.]";
  const limit = "Rate limit reached for gpt-5. Please try again in 11.4s.";
  const end = await run("cat", [failed]).end;
  assert.deepEqual([end.reason, end.retryable, "retryAfter" in end], ["overloaded", "yes", false]);
  const limited = await run("sed", [`s/${said}/${limit}/`, failed]).end;
  assert.deepEqual([limited.reason, limited.retryable, limited.retryAfter], ["rate-limit", "later", 12]);
});

test("the answer and the usage", async () => {
  const [plain, ...others] = ["plain", "overloaded", "truncated"].map((name) => join(AGENTS, `claude/${name}.ndjson`));
  const { answer, usage, reason, retryable } = await run("cat", [plain]).end;
  assert.equal(`${answer}\n`, await convert(readFileSync(plain), "answer", { raw: true }));
  assert.deepEqual([usage.output_tokens, reason, retryable], [212, "completed", undefined]);
  for (const file of others) {
    assert.equal((await run("cat", [file]).end).answer, "", file);
    assert.equal(await convert(readFileSync(file), "answer"), "", file);
  }
  assert.deepEqual((await run("cat", [join(AGENTS, "codex/at-capacity.ndjson")]).end).usage, {});
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
  const script = `head -4 ${PLAIN}; sleep 3; tail -n +5 ${PLAIN}`;
  const end = await run(...shell(script), { idleTimeout: 2_000, profile: "cursor" }).end;
  assert.equal(end.outcome, "succeeded");
});

test("an idle timeout waits for no call after the end of the stream", async () => {
  const pid = pidFile();
  // With an open call, and with a part of a line after it.
  for (const prints of [`head -4 ${PLAIN}`, `head -4 ${PLAIN}; printf '{"type'`]) {
    const script = `echo $$ > ${pid}; ${prints}; exec >&-; exec sleep 60`;
    const end = await run(...shell(script), { idleTimeout: 500, profile: "cursor" }).end;
    assert.equal(end.outcome, "timed-out");
    assert.match(end.headline, /500/);
    assert.equal(isAlive(pid), false);
  }
  const lasts = `cat ${PLAIN}; exec >&-; sleep 2`;
  const end = await run(...shell(lasts), { idleTimeout: 500 }).end;
  assert.deepEqual([end.outcome, end.exitStatus], ["succeeded", 0]);
});

test("a broken stream does not pass", async () => {
  const script = `head -3 ${PLAIN}; echo garbage; tail -n +4 ${PLAIN}`;
  const end = await run(...shell(script)).end;
  assert.deepEqual([end.outcome, end.passed, end.exitStatus], ["succeeded", false, 0]);
  assert.match(end.headline, /^the stream is broken: line 4/);
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
  assert.ok(!isAlive(pid));
  // Its parent is gone: the system may take a moment to forget it.
  for (let tries = 0; tries < 100 && isAlive(child); tries += 1) await pause(20);
  assert.ok(!isAlive(child));
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

/** A recording with this many texts more. */
function long(count) {
  const file = join(newFolder(), "run.ndjson");
  const lines = readFileSync(PLAIN, "utf8").trimEnd().split("\n");
  const said = { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "x" }] } };
  const more = Array(count).fill(JSON.stringify({ ...said, session_id: JSON.parse(lines[0]).session_id }));
  writeFileSync(file, [...lines.slice(0, 2), ...more, ...lines.slice(2), ""].join("\n"));
  return file;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test("a slow reader gets all events, although the command has ended long before", async () => {
  const file = long(2_000);
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

test("a signal that is aborted already starts nothing", () => {
  const pid = pidFile();
  const reason = new Error("too late");
  const start = (signal) => run(...shell(`echo $$ > ${pid}; cat ${PLAIN}`), { signal });
  assert.throws(() => start(AbortSignal.abort(reason)), reason);
  assert.throws(() => start(AbortSignal.abort()), { name: "AbortError" });
  assert.throws(() => start({ aborted: true, addEventListener() {}, removeEventListener() {} }), NdjsonCheckError);
  assert.equal(existsSync(pid), false);
});

test("a run has one loop at a time, a number, and input of bytes", async () => {
  const agent = run(...shell(`cat > /dev/null; echo $$ >&2; cat ${PLAIN}`), { stdin: new Uint8Array([0xff]) });
  const loops = await Promise.allSettled([all(agent), all(agent)]);
  assert.deepEqual(loops.map((it) => it.status), ["fulfilled", "rejected"]);
  assert.match(loops[1].reason.message, /^another loop reads the events of this run/);
  const { outcome, stderrTail } = await agent.end;
  assert.deepEqual([outcome, stderrTail], ["succeeded", [`${agent.pid}`]]);
});

const TURNS = join(AGENTS, "claude/several-turns.ndjson");
const LISTENS = `read one; head -12 ${TURNS}; read two; sed -n 13,23p ${TURNS}; cat > /dev/null`;
const texts = (list) => list.filter((it) => it.type === "text").map((it) => it.text).join("");

test("a harness writes to a running agent", async () => {
  const agent = run(...shell(LISTENS), { stdin: "Count to three\n", openStdin: true, exitGrace: 50, timeout: 60_000 });
  assert.equal(texts(await all(agent.turn())), "one two three");
  // The agent waits for us: it does not linger.
  await pause(500);
  // More than a pipe holds.
  agent.write(`And on\n${"x".repeat(1_000_000)}`);
  const second = await all(agent.turn());
  assert.equal(texts(second), "four five");
  assert.ok(second.some((it) => it.type === "turn"));
  agent.closeStdin();
  assert.deepEqual((await all(agent.turn())).map((it) => it.type), ["end"]);
  assert.deepEqual(await all(agent.turn()), []);
  const end = await agent.end;
  assert.deepEqual([end.passed, end.answer, end.exitStatus], [true, "four five", 0]);
  assert.throws(() => agent.write("too late"), /standard input is not open/);
});

test("one signal stops many runs, and Node warns of no leak", async () => {
  const warnings = [];
  const warn = (warning) => warnings.push(warning.name);
  process.on("warning", warn);
  const controller = new AbortController();
  const { signal } = controller;
  const agents = Array.from({ length: 12 }, () => run(...shell(`cat ${PLAIN}; exec sleep 60`), { signal }));
  controller.abort();
  const ends = await Promise.all(agents.map((it) => it.end));
  await pause(10);
  process.off("warning", warn);
  assert.ok(ends.every((it) => it.exitStatus !== 0));
  assert.deepEqual(warnings, []);
});

test("background work that the agent waits for is not ended", async () => {
  const file = join(AGENTS, "claude/command-moved-to-background.ndjson");
  const lines = readFileSync(file, "utf8").split("\n");
  const result = lines.findIndex((line) => line.includes('"type":"result"')) + 1;
  const script = (seconds) => `head -${result} ${file}; sleep ${seconds}; sed -n '${result + 1},$s/"stopped"/"completed"/p' ${file}`;
  const options = { exitGrace: 100, idleTimeout: 3_000 };
  const end = await run(...shell(script(1)), options).end;
  assert.deepEqual([end.passed, end.exitStatus, end.summary.notes ?? []], [true, 0, []]);
  // Without an event the idle time ends the wait.
  const silent = await run(...shell(script(60)), { ...options, idleTimeout: 300 }).end;
  assert.ok(silent.summary.notes.some((it) => it.note === "lingered"), silent.headline);
});

test("a reply to the program begins no turn", async () => {
  const reply = JSON.stringify({ type: "control_response", response: { subtype: "success" } });
  const script = `read one; head -12 ${TURNS}; read two; echo '${reply}'; cat > /dev/null`;
  const agent = run(...shell(script), { stdin: "one\n", openStdin: true, idleTimeout: 300 });
  assert.equal(texts(await all(agent.turn())), "one two three");
  agent.write('{"type":"control_request"}\n');
  await pause(1_000);
  agent.closeStdin();
  const end = await agent.end;
  assert.deepEqual([end.passed, end.exitStatus], [true, 0]);
});

test("no message is lost by a command that has ended", async () => {
  const agent = run(...shell(`read one; head -12 ${TURNS}`), { stdin: "one\n", openStdin: true });
  assert.equal(texts(await all(agent.turn())), "one two three");
  assert.equal((await all(agent.turn())).at(-1)?.type, "end");
  assert.throws(() => agent.write("And on\n"), /the command has ended/);
  assert.ok((await agent.end).passed);
});

test("turns that come together are apart", async () => {
  const script = `read both; sed 23q ${TURNS}; cat > /dev/null`;
  const agent = run(...shell(script), { stdin: "both\n", openStdin: true, timeout: 60_000 });
  for await (const event of agent.turn()) {
    assert.equal(event.type, "session");
    break;
  }
  assert.equal(texts(await all(agent.turn())), "one two three");
  assert.equal(texts(await all(agent.turn())), "four five");
  agent.closeStdin();
  assert.equal((await agent.end).passed, true);
});

test("a message needs an answer", async () => {
  const agent = run(...shell(`read one; head -12 ${TURNS}; read two`), { stdin: "one\n", openStdin: true });
  await all(agent.turn());
  agent.write("two\n");
  const { passed, outcome, exitStatus } = await agent.end;
  assert.deepEqual([passed, outcome, exitStatus], [false, "truncated", 0]);
});

test("a loop over all events reads on after a turn", async () => {
  const agent = run(...shell(LISTENS), { stdin: "one\ntwo\n", openStdin: true, timeout: 60_000 });
  assert.equal(texts(await all(agent.turn())), "one two three");
  agent.closeStdin();
  assert.equal(texts(await all(agent)), "four five");
  assert.equal((await agent.end).outcome, "succeeded");
});

test("an agent that does not answer a message is idle", async () => {
  const script = `read one; head -12 ${TURNS}; read two; sleep 60`;
  const agent = run(...shell(script), { stdin: "one\n", openStdin: true, idleTimeout: 500 });
  await all(agent.turn());
  await pause(1000);
  agent.write("two\n");
  agent.closeStdin();
  assert.equal((await agent.end).outcome, "timed-out");
});

test("an agent that goes on after its input is stopped", async () => {
  const script = `read one; head -12 ${TURNS}; sleep 60`;
  const agent = run(...shell(script), { stdin: "one\n", openStdin: true, exitGrace: 100 });
  await all(agent.turn());
  agent.closeStdin();
  assert.deepEqual([(await agent.end).outcome, (await agent.end).signal], ["succeeded", 15]);
});

test("options reach the command", async () => {
  const cwd = newFolder();
  const script = `[ "$A,$HOME,$PWD,$(cat)" = "b,,${cwd},hi" ] && cat ${PLAIN}`;
  const env = { A: "b", HOME: undefined };
  for (const folder of [cwd, pathToFileURL(cwd)]) {
    assert.equal((await run(...shell(script), { cwd: folder, env, stdin: "hi" }).end).outcome, "succeeded");
  }
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

test("a fraction of a millisecond is rounded up, and Infinity is no limit", async () => {
  for (const limit of ["timeout", "idleTimeout"]) {
    const agent = run(...shell(`head -2 ${PLAIN}; sleep 60`), { [limit]: 300.5, profile: "cursor" });
    const end = await agent.end;
    assert.equal(end.outcome, "timed-out");
    assert.match(end.summary.headline, /301/);
  }
  const forever = { timeout: Infinity, idleTimeout: Infinity, exitGrace: Infinity };
  assert.equal((await run("cat", [PLAIN], forever).end).outcome, "succeeded");
});

test("a wrong option is refused before the command starts", async () => {
  const pid = pidFile();
  const times = [NaN, -5, 0, "45m", null].flatMap((it) => [{ timeout: it }, { idleTimeout: it }]);
  const others = [{ exitGrace: -1 }, { stdin: 5 }, { openStdin: 1 }, { signal: {} }, { onStderr: 5 }, { onStdout: {} }, { cwd: 1 }];
  others.push({ rules: { "denied-call": "on" } }, { rules: ["error"] }, { args: [] });
  const wrong = ["A=b", ["A=b"], { A: null }, { A: 1 }, { "A=B": "1" }, { "": "1" }];
  others.push(...wrong.map((env) => ({ env })));
  for (const options of [...times, ...others, { timeOut: 5 }]) {
    const [name] = Object.keys(options);
    const start = () => run(...shell(`echo $$ > ${pid}`), options);
    assert.throws(start, (error) => error instanceof TypeError && error.message.includes(name), name);
  }
  for (const args of [{ timeout: 500 }, null, "-c", ["-c", 5], [undefined]]) {
    assert.throws(() => run("sh", args), /^TypeError: the option args must be an array of strings$/);
  }
  for (const command of [undefined, null, ["sh"], 5, ""]) {
    const message = "the option command must be the name or the path of a program";
    assert.throws(() => run(command, []), { name: "TypeError", message });
  }
  assert.throws(() => run("sh", ["a\0b"]), TypeError);
  assert.throws(() => run("cat", [PLAIN], null), /the options must be an object/);
  await pause(300);
  assert.equal(existsSync(pid), false);
});

/** A program with a run in it; `more` is its text after the start of the run. */
async function harness(more, before = "") {
  const pid = pidFile();
  const script = `echo $$ > ${pid}; head -2 ${PLAIN}; exec sleep 60`;
  const text = `import { run } from ${JSON.stringify(import.meta.resolve("ndjson-check"))};
${before}
const agent = run("sh", ["-c", ${JSON.stringify(script)}], { profile: "cursor" });
${more}
for await (const event of agent) console.log(event.type);
console.log((await agent.end).outcome);
`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], { stdio: ["pipe", "pipe", "ignore"] });
  const its = { child, pid, said: "", closed: new Promise((resolve) => child.once("close", resolve)) };
  child.stdout.on("data", (bytes) => (its.said += bytes));
  its.says = async (what) => {
    for (const began = Date.now(); !its.said.includes(what) && Date.now() - began < 20_000; ) await pause(20);
    assert.ok(its.said.includes(what), what);
  };
  await its.says("session");
  return its;
}

test("a signal that ends the program ends its agents, too", async () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
    const { child, pid, closed } = await harness("");
    assert.ok(isAlive(pid));
    child.kill(signal);
    await closed;
    assert.equal(child.signalCode, signal);
    assert.ok(await hasEnded(pid), signal);
  }
});

test("a program that exits ends its agents, too", async () => {
  for (const [does, status] of [["process.exit(3)", 3], [`throw new Error("a defect")`, 1]]) {
    const { child, pid, closed } = await harness(`process.stdin.once("data", () => { ${does}; });`);
    assert.ok(isAlive(pid));
    child.stdin.write("go");
    await closed;
    assert.equal(child.exitCode, status);
    assert.ok(await hasEnded(pid), does);
  }
});

test("a program that listens to a signal decides what it means", async () => {
  const its = await harness(`process.once("SIGINT", () => agent.stop());`);
  its.child.kill("SIGINT");
  await its.closed;
  assert.equal(its.child.exitCode, 0);
  assert.match(its.said, /failed\n$/);
});

test("a signal that the program does not listen to any more ends its agents", async () => {
  const once = `process.once("SIGINT", () => console.log("once more"));`;
  for (const [more, before] of [[once, ""], ["", once]]) {
    const { child, pid, closed, says } = await harness(more, before);
    child.kill("SIGINT");
    await says("once more");
    assert.ok(isAlive(pid));
    child.kill("SIGINT");
    await closed;
    assert.equal(child.signalCode, "SIGINT");
    assert.ok(await hasEnded(pid));
  }
  const listens = `const listener = () => {}; process.on("SIGINT", listener);`;
  const leaves = `process.off("SIGINT", listener);`;
  for (const [more, before] of [[leaves, listens], [listens + leaves, ""]]) {
    const { child, pid, closed } = await harness(more, before);
    child.kill("SIGINT");
    await closed;
    assert.equal(child.signalCode, "SIGINT");
    assert.ok(await hasEnded(pid));
  }
});

test("a library that sends a signal again if it alone listens", async () => {
  // As the package `signal-exit` does, which much else uses.
  const counts = `const again = () => {
  if (process.listenerCount("SIGINT") > 1) return;
  process.off("SIGINT", again);
  process.kill(process.pid, "SIGINT");
};
process.on("SIGINT", again);`;
  for (const [more, before] of [[counts, ""], ["", counts]]) {
    const { child, pid, closed } = await harness(more, before);
    child.kill("SIGINT");
    await closed;
    assert.equal(child.signalCode, "SIGINT");
    assert.ok(await hasEnded(pid));
  }
});

test("two copies of the package", async () => {
  const copy = new URL("guard.js?copy", import.meta.resolve("ndjson-check")).href;
  const guards = `(await import(${JSON.stringify(copy)})).guard(() => console.log("the other ends"));`;
  for (const [more, before] of [[guards, ""], ["", guards]]) {
    const its = await harness(more, before);
    its.child.kill("SIGINT");
    await its.closed;
    assert.equal(its.child.signalCode, "SIGINT");
    assert.match(its.said, /the other ends/);
    assert.ok(await hasEnded(its.pid));
  }
});

test("after a run nobody of it listens to the process", async () => {
  const names = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "exit", "removeListener"];
  const counts = () => names.map((name) => process.listenerCount(name));
  const before = counts();
  await Promise.all([run("cat", [PLAIN]).end, run("head", ["-3", PLAIN]).end]);
  await assert.rejects(run("no-such-agent").end);
  assert.deepEqual(counts(), before);
});

test("a callback that throws ends the run with its error", async () => {
  const defect = new Error("a defect");
  const fail = () => {
    throw defect;
  };
  const later = async () => {
    await pause(50);
    throw defect;
  };
  const callbacks = [fail, later].flatMap((it) => [{ onStderr: it }, { onStdout: it }]);
  for (const options of callbacks) {
    const pid = pidFile();
    const agent = run(...shell(`echo $$ > ${pid}; echo x >&2; head -3 ${PLAIN}; exec sleep 60`), options);
    await assert.rejects(all(agent), defect);
    await assert.rejects(agent.end, defect);
    assert.equal(isAlive(pid), false);
  }
});

test("a slow reader is no idle agent: the agent waits, too", async () => {
  let count = 0;
  const waiting = run("cat", [long(5_000)], { idleTimeout: 3_000 });
  for await (const _ of waiting) if ((count += 1) === 1) await pause(4_000);
  assert.equal((await waiting.end).outcome, "succeeded");
});

test("a slow callback is no idle agent: the agent waits, and the run, too", async () => {
  const [parts, said] = [[], []];
  const onStdout = async (bytes) => {
    await pause(1_500);
    parts.push(bytes);
  };
  const onStderr = async (text) => {
    await pause(1_500);
    said.push(text);
  };
  const script = `cat ${PLAIN}; echo x >&2`;
  const end = await run(...shell(script), { idleTimeout: 1_000, onStdout, onStderr }).end;
  assert.equal(end.outcome, "succeeded");
  assert.deepEqual(Buffer.concat(parts), readFileSync(PLAIN));
  assert.deepEqual(said, ["x\n"]);
});

test("a callback that fails after the end of the command", async () => {
  const later = async () => {
    await pause(500);
    throw new Error("a defect");
  };
  for (const options of [{ onStderr: later }, { onStdout: later }]) {
    await assert.rejects(all(run(...shell(`echo x >&2; cat ${PLAIN}`), options)), /a defect/);
  }
});

/** Lets a command go on that waits for `go`, and is busy until `done` exists and the time has passed. */
function beBusy(go, done, ms) {
  const began = Date.now();
  writeFileSync(go, "");
  while (Date.now() - began < ms || (!existsSync(done) && Date.now() - began < 30_000));
}

test("a busy reader is no idle agent: the events are in the pipe", async () => {
  const [go, done] = [pidFile(), pidFile()];
  const wait = `while [ ! -e ${go} ]; do sleep 0.05; done`;
  const script = `head -1 ${PLAIN}; ${wait}; tail -n +2 ${PLAIN}; touch ${done}; exec sleep 60`;
  const busy = run(...shell(script), { idleTimeout: 3_000, exitGrace: 100, profile: "cursor" });
  for await (const event of busy) if (event.type === "session") beBusy(go, done, 3_500);
  assert.equal((await busy.end).outcome, "succeeded");
});

test("a busy reader is no idle agent: a part of a line is in the pipe", async () => {
  const [go, done, rest] = [pidFile(), pidFile(), pidFile()];
  const wait = (file) => `while [ ! -e ${file} ]; do sleep 0.05; done`;
  const size = readFileSync(PLAIN, "utf8").indexOf("\n") + 1 + 20;
  const parts = [`head -1 ${PLAIN}; ${wait(go)}; head -c ${size} ${PLAIN} | tail -c 20; touch ${done}`];
  const script = [...parts, wait(rest), `tail -c +${size + 1} ${PLAIN}; exec sleep 60`].join("; ");
  let chunks = 0;
  const onStdout = () => {
    // The second part has only now been read, after the idle time.
    if ((chunks += 1) === 2) setTimeout(() => writeFileSync(rest, ""), 100);
  };
  const busy = run(...shell(script), { idleTimeout: 3_000, exitGrace: 100, profile: "cursor", onStdout });
  for await (const event of busy) if (event.type === "session") beBusy(go, done, 3_500);
  assert.equal((await busy.end).outcome, "succeeded");
});

test("an agent that idles is stopped after a slow reader, too", async () => {
  const file = long(5_000);
  const lines = readFileSync(file, "utf8").split("\n").slice(0, 5_000).map((line) => `${line}\n`);
  const agent = run(...shell(`head -5000 ${file}; exec sleep 60`), { idleTimeout: 3_000 });
  const seen = [];
  for await (const event of agent) {
    if (seen.length === 0) await pause(4_000);
    seen.push(event);
  }
  // All of them: the agent was not stopped while it waited.
  assert.deepEqual(seen.slice(0, -1), (await all(events(lines))).slice(0, -1));
  assert.equal((await agent.end).outcome, "timed-out");
});

test("events that nobody reads keep no program alive", async () => {
  const text = `import { run } from ${JSON.stringify(import.meta.resolve("ndjson-check"))};
run("cat", [${JSON.stringify(long(1_100))}], { onStdout() {} });
`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text]);
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const status = await new Promise((resolve) => child.once("exit", resolve));
  clearTimeout(timer);
  assert.equal(status, 0);
});

test("the error about an unknown agent says how the command ended", async () => {
  const script = `echo '{"a":1}'; echo '{"a":2}'; echo 'Error: not logged in' >&2; exit 3`;
  const agent = run(...shell(script));
  const error = await agent.end.catch((it) => it);
  assert.ok(error instanceof StreamError && error instanceof NdjsonCheckError);
  assert.deepEqual([error.exitStatus, error.stderrTail], [3, ["Error: not logged in"]]);
  const message = /^sh: no known agent writes these events; .*profile.*exit status 3.*: Error: not logged in$/;
  assert.match(error.message, message);
  await assert.rejects(all(agent), error);
});

test("plain text instead of events is the reason", async () => {
  const end = await run(...shell("echo Error: not logged in; exit 1")).end;
  assert.deepEqual([end.outcome, end.exitStatus], ["failed", 1]);
  assert.match(end.summary.headline, /: Error: not logged in$/);
});

test("the name of the command decides the agent where no event does", async () => {
  const agent = join(newFolder(), "claude");
  writeFileSync(agent, "#!/bin/sh\necho 'All done.'\n", { mode: 0o755 });
  const { summary } = await run(agent, ["-p", "hi"]).end;
  assert.deepEqual([summary.passed, summary.profile], [false, "claude"]);
  assert.match(JSON.stringify(summary), /for events, call it as `claude -p --output-format stream-json/);
});

test("an unknown agent that says nothing, and one that a signal ends", async () => {
  const error = await run(...shell("echo '{}'; exit 1")).end.catch((it) => it);
  assert.deepEqual([error.exitStatus, error.signal, error.stderrTail], [1, undefined, []]);
  assert.match(error.message, /; the command ended with exit status 1$/);
  const killed = await run(...shell("echo '{}'; kill -9 $$")).end.catch((it) => it);
  assert.deepEqual([killed.exitStatus, killed.signal], [undefined, 9]);
  assert.match(killed.message, /; the command was ended by signal 9$/);
});

test("an error about the stream of a command that still runs", async () => {
  const error = await run(...shell("yes '{}' | head -50; exec sleep 60")).end.catch((it) => it);
  assert.ok(error instanceof StreamError);
  assert.deepEqual([error.exitStatus, error.signal, Array.isArray(error.stderrTail)], [undefined, undefined, true]);
});

test("standard error is what the command writes, with a byte order mark and the start of a character", async () => {
  const said = [];
  const script = `printf '\\357\\273\\277a\\303' >&2; cat ${PLAIN}; exit 3`;
  const end = await run(...shell(script), { onStderr: (text) => said.push(text) }).end;
  assert.equal(said.join(""), "\ufeffa\ufffd");
  assert.ok(said.every((text) => text !== ""));
  assert.deepEqual(end.stderrTail, ["\ufeffa\ufffd"]);
});

test("a run knows its own directory: Codex writes absolute paths, and not its directory", async () => {
  const folder = newFolder();
  const [here, link] = [join(folder, "here"), join(folder, "link")];
  mkdirSync(here);
  symlinkSync(here, link);
  const completed = (item) => ({ type: "item.completed", item });
  const judged = async (file, options) => {
    const changes = [{ path: join(here, file), kind: "add" }];
    const lines = [
      { type: "thread.started", thread_id: "t" },
      { type: "turn.started" },
      completed({ id: "i", type: "file_change", status: "completed", changes }),
      completed({ id: "m", type: "agent_message", text: "Done." }),
      { type: "turn.completed", usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 } },
    ];
    const stream = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const config = `expect.writes.never = [".github/**"]`;
    writeFileSync(join(here, "run.ndjson"), stream);
    const { summary } = await run("cat", ["run.ndjson"], { config, ...options }).end;
    return [summary.passed, JSON.stringify(summary).includes("expectation-unobservable")];
  };
  const before = process.cwd();
  process.chdir(link);
  try {
    for (const options of [{ cwd: link }, { cwd: pathToFileURL(here) }, {}]) {
      assert.deepEqual(await judged(".github/w.yml", options), [false, false]);
      assert.deepEqual(await judged("src/a.rs", options), [true, false]);
    }
  } finally {
    process.chdir(before);
  }
  // It is no option.
  await assert.rejects(all(events("{}", { directory: folder })), TypeError);
});

test("a missing directory is not a missing command", async () => {
  for (const cwd of [PLAIN, pathToFileURL(PLAIN)]) {
    const start = async () => run("cat", [PLAIN], { cwd }).end;
    const message = `failed to start cat: there is no directory ${cwd}`;
    await assert.rejects(start, { name: "NdjsonCheckError", message });
  }
  await assert.rejects(run("cat", [PLAIN], { cwd: "/no-such-directory" }).end, /no directory \/no-such-directory/);
});

test("a loop that is left while it waits ends the command", { timeout: 30_000 }, async () => {
  const file = pidFile();
  const agent = run(...shell(`echo $$ > ${file}; head -1 ${PLAIN}; exec sleep 60`));
  const loop = agent[Symbol.asyncIterator]();
  await loop.next();
  const waiting = loop.next();
  await loop.return();
  assert.equal(await hasEnded(file), true);
  await waiting;
  const abort = new AbortController();
  const streamed = run(...shell(`echo $$ > ${file}; cat ${PLAIN}; exec sleep 60`), { exitGrace: 60_000 });
  setTimeout(() => abort.abort(), 300);
  const take = async (source) => {
    for await (const event of source) assert.ok(event.type);
  };
  await assert.rejects(pipeline(Readable.from(streamed), take, { signal: abort.signal }), { name: "AbortError" });
  assert.equal(await hasEnded(file), true);
});

test("a run that gets no pipes is an error of that run", { skip: process.platform === "win32" }, () => {
  const script = `
    import { run } from "ndjson-check";
    const runs = [];
    let message = "";
    try {
      while (runs.length < 200) runs.push(run("sleep", ["1"]));
    } catch (error) {
      message = error.name + ": " + error.message;
    }
    await Promise.allSettled(runs.map((it) => it.end));
    console.log(message);`;
  const node = `ulimit -n 80; exec "${process.execPath}" --input-type=module -e '${script}'`;
  const { stdout, stderr } = spawnSync("sh", ["-c", node], { cwd: import.meta.dirname, encoding: "utf8" });
  assert.equal(stdout, "NdjsonCheckError: failed to start sleep: too many open files\n", stderr);
});
