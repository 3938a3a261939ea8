//! Reports for CI services: each is valid for its readers, whatever the stream says.

mod baseline;
mod follow_ups;
mod github;
mod grouped;
mod html;
mod index;
mod junit;
mod line_texts;
mod markdown;
mod page_bounds;
mod page_names;
mod page_text;
mod sarif;
mod sums;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::streams::{program, text};

/// Formats of `--report` that are one document.
const DOCUMENTS: [&str; 3] = ["markdown", "junit", "sarif"];

/// Pieces that mean something to a terminal, a runner, or a reader of XML, HTML, JSON or Markdown.
const NASTY: [&str; 24] = [
    "\u{1b}[31mred",
    "\n::error file=a,line=1::forged",
    "::set-output name=verdict::conforming",
    "##[error]forged",
    "##vso[task.complete]",
    "]]>",
    "<script>alert(1)</script>",
    "</details><details open>",
    "<!-- ndjson-check -->",
    "<img src=http://evil.example/x>",
    "\u{202e}desrever\u{2066}",
    "\u{fffe}\u{ffff}",
    "\0\u{1}\u{7f}\u{9b}",
    "\r\nverdict=conforming\n",
    "%0A%0D%25",
    "`",
    "```\n",
    "a|b\\|c",
    "[link](http://evil.example)",
    "![image](http://evil.example)",
    "https://evil.example www.evil.example",
    "@octocat #1",
    "&lt;&#60;&amp;",
    "\\\" 'quoted', a:b;",
];

/// A stream in which this text is in every name and every text that reports show.
fn nasty_stream(nasty: &str) -> Vec<u8> {
    let events = [
        serde_json::json!({"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s",
            "apiKeySource": "login", "model": nasty, "permissionMode": "default"}),
        serde_json::json!({"type": nasty, "session_id": "s"}),
        serde_json::json!({"type": "user", "session_id": "s", nasty: 1, "message": nasty}),
        serde_json::json!({"type": "tool_call", "subtype": "started", "call_id": nasty,
            "tool_call": {format!("{nasty}ToolCall"): {"args": {"command": nasty}}},
            "session_id": "s"}),
        serde_json::json!({"type": "tool_call", "subtype": "completed", "call_id": "other",
            "tool_call": {format!("{nasty}ToolCall"): {"result": {"rejected": {}}}},
            "session_id": nasty}),
        serde_json::json!({"type": "result", "subtype": "success", "is_error": true,
            "duration_ms": 1, "duration_api_ms": 1, "result": nasty, "session_id": "s",
            "usage": {"inputTokens": 3, "outputTokens": 4}}),
    ];
    let mut stream = events.map(|event| event.to_string()).join("\n").into_bytes();
    stream.extend_from_slice(format!("\nnot JSON: {nasty}").as_bytes());
    stream
}

/// Each nasty text in a stream, in a file whose name is nasty, too, as far as a file system allows.
fn nasty_folder() -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = NASTY.iter().enumerate().map(|(number, nasty)| {
        let fits = |it: &char| !['/', '\0'].contains(it) && (cfg!(unix) || fits_windows(*it));
        let name: String = nasty.chars().filter(fits).collect();
        let path = folder.path().join(format!("{number:02}{name}.ndjson"));
        fs::write(&path, nasty_stream(nasty)).unwrap();
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

fn fits_windows(character: char) -> bool {
    !(character.is_control() || "<>:\"|?*\\".contains(character))
}

/// The program, as in a job of a GitHub workflow whose repository is in this folder.
fn in_workflow(folder: &TempDir) -> Command {
    let mut command = program();
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", folder.path());
    command.env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"));
    command.env("GITHUB_OUTPUT", folder.path().join("outputs"));
    command.stdin(Stdio::null());
    command
}

fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

/// Goal: no report depends on the number of jobs.
#[test]
fn documents_are_the_same_for_any_number_of_jobs() {
    let (folder, _) = nasty_folder();
    let streams = ["fixtures/rules", "fixtures/agents/codex", "no-such-file"];
    for format in DOCUMENTS {
        let reports = ["1", "2", "8"].map(|jobs| {
            let mut command = program();
            command.args(["--report", format, "--jobs", jobs]).args(streams).arg(folder.path());
            stdout(&command.output().unwrap())
        });
        assert!(reports[0].len() > 1_000, "{format}: {}", reports[0]);
        assert!(reports[0] == reports[1] && reports[0] == reports[2], "{format}");
    }
}

/// Goal: only what cannot be mixed is refused.
#[test]
fn one_report_goes_to_standard_output() {
    let good = "fixtures/agents/cursor/plain.ndjson";
    let folder = tempfile::tempdir().unwrap();
    let to_file = format!("json={}", folder.path().join("report").display());
    for (reports, code) in [
        (&["human", "github"][..], 0),
        (&["github", "human"], 0),
        (&["human", "json"], 2),
        (&["json", "github"], 2),
        (&["github", "github"], 2),
        (&["markdown", "github"], 2),
        (&["markdown", &to_file], 0),
    ] {
        let mut command = program();
        command.args(reports.iter().map(|report| format!("--report={report}"))).arg(good);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{reports:?}: {}", text(&output.stderr));
    }
}
