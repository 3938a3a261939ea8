// Which file a command of Windows starts, on any system.
import assert from "node:assert/strict";
import { win32 } from "node:path";
import { test } from "node:test";
import { startOf } from "../dist/windows.js";

// As npm and pnpm write them.
const NPM = String.raw`@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%" OPTIONS "%dp0%\node_modules\@a\agent\cli.js" %*
`;
const PNPM = String.raw`@SETLOCAL
@IF EXIST "%~dp0\node.exe" (
  "%~dp0\node.exe"  "%~dp0\global\5\node_modules\agent\cli.mjs" %*
) ELSE (
  @SET PATHEXT=%PATHEXT:;.JS;=;%
  node  "%~dp0\global\5\node_modules\agent\cli.mjs" %*
)
`;
const NATIVE = '@ECHO off\r\nCALL :find_dp0\r\n"%dp0%\\node_modules\\a\\bin\\agent.exe"   %*\r\n';
const OTHER = '@powershell -File "%~dp0agent.ps1" %*\r\n';
const PYTHON = NPM.replace("_prog=node", "_prog=python");

const disk = {
  "C:\\node\\node.exe": "",
  "C:\\npm\\claude": "#!/bin/sh",
  "C:\\npm\\claude.cmd": NPM.replace("OPTIONS", ""),
  "C:\\npm\\gemini.cmd": NPM.replace("OPTIONS", "--no-warnings=DEP0040"),
  "C:\\npm\\pi.cmd": PNPM,
  "C:\\npm\\codex.cmd": NATIVE,
  "C:\\npm\\agent.cmd": OTHER,
  "C:\\npm\\aider.cmd": PYTHON,
  "C:\\bin\\goose.exe": "",
  "C:\\work\\tools\\mine.bat": OTHER,
  "C:\\own\\vibe.cmd": NPM.replace("OPTIONS", ""),
  "C:\\own\\node.exe": "",
};
const files = {
  isFile: (path) => path in disk,
  read: (path) => disk[path],
  resolve: (...parts) => win32.resolve(...parts),
};
const env = { Path: 'C:\\node;"C:\\npm";;C:\\bin;C:\\own', PATHEXT: ".COM;.EXE;.BAT;.CMD", ComSpec: "C:\\cmd.exe" };
const start = (command, args = ["-p", 'a "b" & c\n%PATH%'], its = env) =>
  startOf(command, args, its, "C:\\work", files);
const plain = (file, ...args) => ({ file, args: [...args, "-p", 'a "b" & c\n%PATH%'], verbatim: false });

test("a script of npm or pnpm is what it calls, and no prompt reads the arguments", () => {
  const module = "C:\\npm\\node_modules\\@a\\agent\\cli.js";
  const node = "C:\\node\\node.exe";
  assert.deepEqual(start("claude"), plain(node, module));
  assert.deepEqual(start("claude.CMD".toLowerCase()), plain(node, module));
  assert.deepEqual(start("C:\\npm\\claude"), plain(node, module));
  assert.deepEqual(start("gemini"), plain(node, "--no-warnings=DEP0040", module));
  assert.deepEqual(start("pi"), plain(node, "C:\\npm\\global\\5\\node_modules\\agent\\cli.mjs"));
  assert.deepEqual(start("codex"), plain("C:\\npm\\node_modules\\a\\bin\\agent.exe"));
  assert.deepEqual(start("vibe"), plain("C:\\own\\node.exe", "C:\\own\\node_modules\\@a\\agent\\cli.js"));
});

test("a program is found, and what is not stays as it is", () => {
  assert.deepEqual(start("goose"), plain("C:\\bin\\goose.exe"));
  assert.deepEqual(start("nobody"), plain("nobody"));
  assert.deepEqual(start("goose", [], {}), { file: "goose", args: [], verbatim: false });
});

test("another script gets each argument in quotes", () => {
  const line = (...words) => ["/e:ON", "/v:OFF", "/d", "/c", `"${words.join(" ")}"`];
  const args = ["-p", 'say "hi" & del x', "100%", "a\\", 'b\\"', ""];
  const quoted = ['"-p"', '"say ""hi"" & del x"', '"100%%cd:~,%"', '"a\\\\"', '"b\\\\"""', '""'];
  for (const [command, file] of [["agent", "C:\\npm\\agent.cmd"], [".\\tools\\mine", "C:\\work\\tools\\mine.bat"], ["aider", "C:\\npm\\aider.cmd"]]) {
    const expected = { file: "C:\\cmd.exe", args: line(`"${file}"`, ...quoted), verbatim: true };
    assert.deepEqual(start(command, args), expected);
  }
  assert.throws(() => start("agent", ["a\nb"]), /^NdjsonCheckError: C:\\npm\\agent\.cmd is a batch file/);
});
