// What must work in Node, Deno and Bun alike: `check` runs it in each that is there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Reader, convert, events, report, run } from "../dist/index.js";

const PLAIN = fileURLToPath(new URL("../../../fixtures/agents/cursor/plain.ndjson", import.meta.url));
const bytes = readFileSync(PLAIN);
const shell = (script, options) => run("sh", ["-c", script], options).end;

async function all(source, options) {
  const list = [];
  for await (const event of events(source, options)) list.push(event);
  return list;
}

if (process.argv.at(-1) === "wait") {
  await shell(`echo $$ >&2; head -2 ${PLAIN}; exec sleep 60`, { profile: "cursor", onStderr: (text) => console.log(text) });
}

const expected = await all(bytes);
assert.equal(expected.at(-1).outcome, "succeeded");
assert.deepEqual(await all(new Blob([bytes]).stream()), expected);
assert.deepEqual(await all(new Response(bytes)), expected);
assert.deepEqual(await all(gzipSync(bytes)), expected);
assert.match(await report(bytes, "human"), /^✓/);
assert.match(await convert(bytes, "transcript"), /\w/);
const reader = new Reader({ config: "limits.calls = 0" });
reader.feed(bytes);
reader.finish();
assert.equal(reader.summary.verdict, "non-conforming");

// What another process says at its end, and lines without their ends.
const child = spawn("sh", ["-c", `cat '${PLAIN}'; exit 1`]);
const exit = once(child, "exit");
const lines = createInterface({ input: child.stdout });
const ended = await all(lines, { exitStatus: exit.then(([code]) => code), signal: exit.then(([, name]) => name) });
assert.deepEqual([ended.length, ended.at(-1).exit_status], [expected.length + 1, 1]);
assert.throws(() => run("cat", [PLAIN], { signal: AbortSignal.abort() }), { name: "AbortError" });

const good = await run("cat", [PLAIN], { timeout: 30_000 }).end;
assert.deepEqual([good.outcome, good.exitStatus], ["succeeded", 0]);
assert.throws(() => run(["cat"]), TypeError);
await assert.rejects(async () => run("cat", [PLAIN], { cwd: PLAIN }).end, /there is no directory/);
const defect = async () => assert.fail("a defect");
for (const options of [{ onStdout: defect }, { onStderr: defect }]) {
  await assert.rejects(shell(`echo x >&2; cat ${PLAIN}`, options), /a defect/);
}
const failed = await shell(`head -c 5000000 /dev/zero | tr '\\0' x >&2; cat ${PLAIN}; exit 3`);
assert.deepEqual([failed.outcome, failed.exitStatus], ["failed", 3]);
const began = Date.now();
const stalled = await shell(`head -2 ${PLAIN}; sleep 60`, { idleTimeout: 500, profile: "cursor" });
assert.equal(stalled.outcome, "timed-out");
const lingering = await shell(`cat ${PLAIN}; sleep 60`, { exitGrace: 500 });
assert.equal(lingering.outcome, "succeeded");
assert.ok(Date.now() - began < 30_000);

// A run ends what its command leaves behind; after that it signals nobody.
const left = await shell(`sleep 60 > /dev/null 2>&1 & echo $! >&2; cat ${PLAIN}`);
const isAlive = (pid) => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};
async function assertEnds(pid) {
  assert.match(pid, /^\d+$/);
  for (let tries = 0; isAlive(pid) && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal(isAlive(pid), false);
}
await assertEnds(left.stderrTail[0]);
const { kill } = process;
const stopped = run("cat", [PLAIN]);
for await (const event of stopped) {
  if (event.type !== "end") continue;
  process.kill = () => assert.fail("a signal after the end");
  break;
}
stopped.stop();
process.kill = kill;

// A signal that ends the program ends its agents, too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  const flags = "Deno" in globalThis ? ["run", "--allow-all"] : [];
  const program = spawn(process.execPath, [...flags, fileURLToPath(import.meta.url), "wait"]);
  const pid = await new Promise((resolve) => program.stdout.once("data", (text) => resolve(`${text}`.trim())));
  assert.ok(isAlive(pid));
  program.kill(signal);
  await new Promise((resolve) => program.once("exit", resolve));
  await assertEnds(pid);
}
