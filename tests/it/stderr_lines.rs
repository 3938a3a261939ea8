//! Of standard error, the sentence has the line that says what went wrong.
//!
//! Method: a command writes what common programs write when they cannot start, and fails.

#![cfg(unix)]

use serde_json::Value;

use crate::streams::{program, text};

fn run(stderr: &str, report: &str) -> String {
    let script = "printf '%s\\n' \"$0\" >&2; exit 1";
    let args = ["--report", report, "--", "sh", "-c", script, stderr];
    text(&program().args(args).output().unwrap().stdout)
}

fn headline(stderr: &str) -> String {
    let report = run(stderr, "json");
    let mut lines = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let stream = lines.find(|line| line["type"] == "stream").unwrap();
    stream["headline"].as_str().unwrap().to_owned()
}

const NODE: &str = "node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/w/agent.js'
    at Function._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at Function._load (node:internal/modules/cjs/loader:1055:27)
    at TracingChannel.traceSync (node:diagnostics_channel:322:14)
    at wrapModuleLoad (node:internal/modules/cjs/loader:220:24)
    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:170:5)
    at node:internal/main/run_main_module:36:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.11.0";

/// What a command writes, and what of it is in the sentence.
const STARTS: &[(&str, &str)] = &[
    (
        "error: unexpected argument '--jsn' found\n\n  tip: a similar argument exists: '--json'\n\n\
         Usage: agent exec --json [PROMPT]\n\nFor more information, try '--help'.",
        "error: unexpected argument '--jsn' found",
    ),
    (
        "error: the following required arguments were not provided:\n  <PROMPT>\n\nUsage: agent \
         <PROMPT>\n\nFor more information, try '--help'.",
        "error: the following required arguments were not provided: <PROMPT>",
    ),
    (
        "error: unknown option '--outptu-format'\n(Did you mean --output-format?)",
        "error: unknown option '--outptu-format'",
    ),
    (
        "npm error npx canceled due to missing packages and no YES option: [\"agent@1.0.0\"]\n\
         npm error A complete log of this run can be found in: /w/.npm/_logs/debug-0.log",
        "npm error npx canceled due to missing packages and no YES option: [\"agent@1.0.0\"]",
    ),
    (
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/agnet\n\
         npm error 404  'agnet@*' is not in this registry.\n\
         npm error A complete log of this run can be found in: /w/.npm/_logs/debug-0.log",
        "npm error 404 Not Found - GET https://registry.example/agnet",
    ),
    (NODE, "Error: Cannot find module '/w/agent.js'"),
    (
        "· ERROR    Fatal error occurred\n\
         · ERROR    peer closed connection          \n           (incomplete chunked read)\n\
         · ERROR      at          \n           /venv/gptme/llm.py:1878 in ask",
        "· ERROR peer closed connection",
    ),
    (
        "/w/a.js:3\nthrow new Error(\"boom\");\n^\n\nError: boom\n    at w (/w/a.js:3:7)\n",
        "Error: boom",
    ),
    ("unknown flag: --foo\nSee 'docker run --help'.", "unknown flag: --foo"),
    (
        "docker: Error response from daemon: pull access denied for agent.\n\nRun 'docker run \
         --help' for more information",
        "docker: Error response from daemon: pull access denied for agent",
    ),
    (
        "thread 'main' panicked at src/main.rs:2:5:\nno home\nnote: run with `RUST_BACKTRACE=1` \
         environment variable to display a backtrace",
        "thread 'main' panicked at src/main.rs:2:5: no home",
    ),
    (
        "Error: API_KEY is not set\nUsage: agent [options]\n\nOptions:\n  -p  print\n  -h  help",
        "Error: API_KEY is not set",
    ),
    (
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import \
         agent\nModuleNotFoundError: No module named 'agent'",
        "ModuleNotFoundError: No module named 'agent'",
    ),
    ("sh: 1: agent: not found", "sh: 1: agent: not found"),
    ("loading\nsomething went wrong", "something went wrong"),
    ("0 error (s), no error found\nSegmentation fault", "Segmentation fault"),
    ("starting without error handling\nAPI key missing", "API key missing"),
    ("Error: {\n  code: 401,\n}\nThe key is wrong", "The key is wrong"),
    (
        r#"402 {"error":{"message":"no \u0063redit"}}"#,
        r#"402 {"error":{"message":"no \u0063redit"}}"#,
    ),
    ("warning: an error passed\nno key", "no key"),
    (r#"402 {"error":{"message":"{\"message\":\"no credit\"}"}}"#, "402 no credit"),
    (r#"400 {"error":{"message":"no model \"x\""}}"#, r#"400 no model "x""#),
    ("(Did you mean -p?)", "(Did you mean -p?)"),
];

#[test]
fn the_sentence_has_the_line_that_names_the_error() {
    for (stderr, says) in STARTS {
        let says = format!("failed before its first event: {says} (exit status 1)");
        assert_eq!(headline(stderr), says, "{stderr}");
    }
}

/// Goal: every report says the same, and no other line again as a reason.
#[test]
fn every_report_has_the_same_line() {
    let (stderr, says) = STARTS[2];
    for report in ["human", "markdown", "junit", "sarif", "github"] {
        let shown = run(stderr, report).replace("&apos;", "'").replace("&#39;", "'");
        assert!(shown.contains(says), "{report}: {shown}");
        let is_reason = shown.contains("event: (Did you") || shown.contains("; stderr: (Did you");
        assert!(!is_reason, "{report}: {shown}");
    }
}

/// Goal: the end of standard error is shown as it is, although words of it are in the sentence.
#[test]
fn lines_of_one_word_are_shown() {
    let script = "echo '5' >&2; echo 'codex' >&2; echo 'codex: the server said 529' >&2; exit 1";
    let output = program().args(["--no-stdin", "--", "bash", "-c", script]).output().unwrap();
    let report = text(&output.stdout);
    assert!(
        report.contains("failed before its first event: codex: the server said 529"),
        "{report}"
    );
    let tail: Vec<&str> = report.lines().map(str::trim).collect();
    assert!(tail.contains(&"stderr: 5") && tail.contains(&"stderr: codex"), "{report}");
}
