#!/usr/bin/env node
// Runs the binary of the package for this platform, and ends as it does.
"use strict";

const { spawn } = require("node:child_process");

const NOT_CHECKED = 2;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

const platform = `@ndjson-check/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "ndjson-check.exe" : "ndjson-check";

let program;
try {
  program = require.resolve(`${platform}/${file}`);
} catch {
  console.error(`ndjson-check: the package ${platform} is not installed`);
  console.error("Is there a binary for this platform? Were optional dependencies left out?");
  process.exit(NOT_CHECKED);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The program decides when a signal ends it: it completes its reports first.
for (const signal of SIGNALS) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`ndjson-check: failed to start ${program}: ${error.message}`);
  process.exit(NOT_CHECKED);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const each of SIGNALS) process.removeAllListeners(each);
  process.kill(process.pid, signal);
});
