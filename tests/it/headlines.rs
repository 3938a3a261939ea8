//! The headline says in one sentence how a run ended.

use std::path::Path;

use ndjson_check::{Checker, HumanReport, RunTotals, Written};
use serde_json::Value;

use crate::streams::{program, root, run_on, some_cases, text};

/// The line of the json report about a stream.
fn stream(report: &[u8]) -> Value {
    let report = text(report);
    let mut lines = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find(|line| line["type"] == "stream").unwrap()
}

/// Flags, a fixture, and its headline.
const OF_FIXTURES: &[(&str, &str, &str)] = &[
    (
        "",
        "rules/all-calls-refused/all-of-them.ndjson",
        "every tool call was refused (4 of 4: rm -rf build, git push origin main, \
         https://status.example.com, git status --short)",
    ),
    ("--exit-status 143", "agents/claude/killed.ndjson", "stopped by SIGTERM"),
    (
        "",
        "rules/all-calls-failed/no-process.ndjson",
        "succeeded, but every tool call failed (3 of 3: ls src, make, make -n)",
    ),
    (
        "--strict",
        "rules/all-calls-failed/no-process.ndjson",
        "every tool call failed (3 of 3: ls src, make, make -n)",
    ),
    (
        "--allow truncated-line",
        "agents/claude/truncated.ndjson",
        "cut short in the middle of line 6",
    ),
    (
        "--allow truncated-line --allow missing-terminal-event",
        "agents/claude/truncated.ndjson",
        "cut short in the middle of line 6",
    ),
    ("", "agents/claude/killed.ndjson", "cut short after line 3, while a call was open: npm test"),
    ("", "agents/claude/truncated.ndjson", "cut short in the middle of line 6"),
    ("", "agents/claude/max-turns.ndjson", "failed: Reached maximum number of turns (1)"),
    (
        "",
        "agents/claude/connection-lost.ndjson",
        "failed: API Error: Connection to the API was lost (ECONNRESET); a retry may help",
    ),
    (
        "",
        "agents/claude/schema-violation.ndjson",
        "the stream is broken: line 2: the event has no `message.content.0.id`",
    ),
    (
        "",
        "rules/delta-mismatch/white-space-cut.ndjson",
        "the stream is broken: line 6: the pieces before do not add up to this text",
    ),
    (
        "",
        "rules/final-text-mismatch/lost-event.ndjson",
        "the stream is broken: line 6: the final text is not the text before it",
    ),
    (
        "--strict",
        "rules/unknown-event/new-subtype.ndjson",
        "unknown to the profile: the event `system/editor_state` in line 3",
    ),
    (
        "",
        "rules/unfinished-call/two-of-three-open.ndjson",
        "tool calls never ended (2 of 3: df -h, uptime)",
    ),
    ("", "agents/codex/command-goes-on.ndjson", "succeeded, but background work may be lost"),
    (
        "",
        "agents/claude/permission-rule.ndjson",
        "succeeded, but a tool call was refused (1 of 2: git push)",
    ),
    ("", "agents/codex/no-answer.ndjson", "succeeded, but the answer is empty"),
    (
        "--profile codex",
        "agents/cursor/plain.ndjson",
        "the wrong profile: this looks like a stream of cursor, but the profile is codex",
    ),
    ("", "rules/empty-stream/no-bytes.ndjson", "the stream is empty"),
    ("", "rules/not-ndjson/array.ndjson", "not an agent's stream: the input is one JSON array"),
    (
        "--max-calls 3",
        "agents/cursor/plain.ndjson",
        "over the limit: the run made 4 tool calls; the limit is 3",
    ),
    (
        "--strict --allow all-calls-failed",
        "rules/repeated-call/the-same-build.ndjson",
        "repeats itself: the tool `shell` is called 5 times in a row with the same arguments",
    ),
    ("", "agents/amp/unknown-subtype.ndjson", "failed: error_max_budget"),
    (
        "",
        "agents/claude/success-in-a-failed-event.ndjson",
        "failed, but reports success: model_error",
    ),
    ("", "agents/claude/overloaded.ndjson", "failed: API Error: 529 Overloaded; a retry may help"),
    ("", "agents/gemini/unknown-status.ndjson", "failed: cancelled"),
    ("", "agents/cline/failed.ndjson", "failed: it is not signed in, or may not use the model"),
    ("", "agents/muse/cancelled.ndjson", "stopped"),
    (
        "",
        "agents/antigravity/denied-but-success.ndjson",
        "failed: a tool call was refused (1 of 1: rm -r build)",
    ),
    ("", "agents/cursor/plain.ndjson", "succeeded"),
];

/// Goal: the most important of what is wrong is said, and by name.
#[test]
fn a_headline_says_what_happened() {
    for (flags, fixture, headline) in OF_FIXTURES {
        let bytes = std::fs::read(root().join("fixtures").join(fixture)).unwrap();
        let flags: Vec<&str> = flags.split_whitespace().chain(["--report", "json"]).collect();
        let said = stream(&run_on(&flags, &bytes).stdout)["headline"].clone();
        assert_eq!(said, *headline, "{fixture}");
    }
}

/// Goal: the answer and the exit code agree.
/// Method: some of the cases: each is a process.
#[test]
fn a_stream_passes_if_its_exit_code_is_0() {
    for case in some_cases(6) {
        let flags = case.flags.iter().map(String::as_str).chain(["--report", "json"]);
        let output = run_on(&flags.collect::<Vec<_>>(), &case.bytes());
        let passed = stream(&output.stdout)["passed"].as_bool().unwrap();
        assert_eq!(passed, output.status.success(), "{}", case.path.display());
    }
}

/// Goal: text of an agent is text, whatever format it looks like.
#[test]
fn text_of_a_known_agent_is_no_other_format() {
    for (text, quoted) in [("type,text\na,b\n", "type,text"), ("Done:\n- a: b\n", "Done: - a: b")] {
        let report = |flags: &[&str]| {
            stream(&run_on(&[flags, &["--report", "json"]].concat(), text.as_bytes()).stdout)
        };
        let said = report(&["--profile", "cursor"])["headline"].as_str().unwrap().to_owned();
        let expected =
            format!("plain text, not events: `{quoted}`; for events, call it as `agent ");
        assert!(said.starts_with(&expected), "{said}");
        let unknown = report(&[])["headline"].as_str().unwrap().to_owned();
        assert!(unknown.starts_with("not an agent's stream: the input is "), "{unknown}");
    }
}

#[test]
fn a_file_of_nul_bytes_is_no_text() {
    let report = run_on(&["--report", "json"], &[0; 10_240]).stdout;
    let headline = stream(&report)["headline"].clone();
    assert_eq!(headline, "not an agent's stream: the input is NUL bytes");
}

/// Goal: what a stream says cannot be taken for what we say.
#[test]
fn a_headline_is_one_line_of_limited_length() {
    let path = Path::new("fixtures/agents/cursor/is-error.ndjson");
    let good = std::fs::read_to_string(root().join(path)).unwrap();
    let text = "a\\u001b[31m\\n\\u202e".to_owned() + &"x".repeat(5_000);
    let bad = good.replace("I'll deploy it.The deployment failed: the quota is exceeded.", &text);
    assert_ne!(good, bad);
    let output = run_on(&["--report", "json"], bad.as_bytes());
    let headline = stream(&output.stdout)["headline"].as_str().unwrap().to_owned();
    assert!(headline.starts_with("failed: a\\x1b[31m \\u{202e}xxx"), "{headline}");
    assert!(headline.len() <= 400 && headline.ends_with('…'), "{headline}");
}

/// Goal: the report of a run that a command made is as good as that of one that is read.
#[cfg(unix)]
#[test]
fn commands_have_headlines() {
    let rows = [
        ("exit 3", "failed before its first event with exit status 3"),
        ("echo no >&2; exit 3", "failed before its first event: no (exit status 3)"),
        ("echo Reading stdin... >&2; exit 3", "failed before its first event with exit status 3"),
        ("kill -9 $$", "killed by SIGKILL"),
        ("kill -15 $$", "stopped by SIGTERM"),
        ("sleep 9", "timed out: the run did not end within 100ms"),
        ("true", "the stream is empty"),
        (
            "echo Summary:; echo '  result: done'; echo '  tests: passed'",
            "plain text, not events: `Summary: result: done`; run the agent with its flag for \
             events, such as --output-format stream-json or --json",
        ),
        (
            "echo Error:; echo '  message: Not logged in'; exit 1",
            "failed before its first event: Error: message: Not logged in",
        ),
        (
            "echo 'Error: no key'; echo 'Error: bye' >&2; exit 1",
            "failed before its first event: Error: bye (exit status 1)",
        ),
    ];
    for (script, headline) in rows {
        let args = ["--report", "json", "--timeout", "100ms", "--", "sh", "-c", script];
        let output = crate::streams::program().args(args).output().unwrap();
        let said = stream(&output.stdout)["headline"].clone();
        assert_eq!(said, headline, "{script}");
    }
}

fn human_report(fixture: &str, columns: Option<usize>) -> String {
    let bytes = std::fs::read(root().join("fixtures").join(fixture)).unwrap();
    let mut report = Written::new(Vec::new(), Box::new(HumanReport::new(false).width(columns)));
    Checker::builder().build().unwrap().check("run.ndjson", bytes.as_slice(), &mut report).unwrap();
    report.end(&RunTotals::default(), 1);
    text(report.writer().unwrap())
}

/// Goal: who reads at a terminal is sent to the page of the first error; a log stays as it is.
#[test]
fn the_page_of_the_first_error_is_named_at_a_terminal() {
    let advice = "`ndjson-check rules truncated-line` says what to do.";
    let fixture = "agents/claude/truncated.ndjson";
    assert_eq!(human_report(fixture, Some(80)).lines().last(), Some(advice));
    assert!(!human_report(fixture, None).contains(advice));
    let warned = "rules/timestamp-went-backwards/lines-swapped.ndjson";
    assert!(!human_report(warned, Some(80)).contains("says what to do"));
}

/// Method: the fixtures of rules about calls. A finding names the call, and the list of calls says
/// what those did that did not succeed.
#[test]
fn a_program_reads_from_the_json_report_what_a_call_did() {
    let about_calls = [
        "call-mismatch",
        "completion-without-start",
        "denied-call",
        "duplicate-call-start",
        "duplicate-completion",
        "rejected-without-start",
        "reused-call-id",
        "unfinished-call",
    ];
    for rule in about_calls {
        let folder = root().join("fixtures/rules").join(rule).display().to_string();
        let output = run_on(&["--report", "json", &folder], b"");
        let lines: Vec<Value> =
            text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let found: Vec<&Value> = lines.iter().filter(|line| line["rule"] == rule).collect();
        assert!(!found.is_empty(), "{rule}");
        for finding in found {
            let is_its_stream =
                |line: &&Value| line["type"] == "stream" && line["path"] == finding["path"];
            let stream = lines.iter().find(is_its_stream).unwrap();
            let calls = stream["tool_calls"].as_array().unwrap();
            let call = calls.iter().find(|call| call["id"] == finding["call_id"]);
            let call = call.unwrap_or_else(|| panic!("{finding}\n{stream}"));
            if ["denied-call", "unfinished-call"].contains(&rule) {
                assert!(call["detail"].is_string(), "{call}");
            }
        }
    }
}

/// Goal: an exit status that a shell or `timeout` gives says what went wrong.
#[test]
fn the_exit_status_of_a_shell_is_put_in_words() {
    let cut = b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";
    for (status, says) in [
        ("124", "it timed out (exit status 124)"),
        ("126", "the command cannot be executed (exit status 126)"),
        ("127", "the command was not found (exit status 127)"),
    ] {
        for stream in [&cut[..], b""] {
            let report = run_on(&["--exit-status", status, "--profile", "cursor"], stream);
            assert!(text(&report.stdout).contains(says), "{status}: {}", text(&report.stdout));
        }
    }
}

/// Goal: a notice on standard error is not the cause of a run that `timeout` ended.
#[cfg(unix)]
#[test]
fn standard_error_hides_no_timeout() {
    let script = "echo 'Ripgrep is not available. Falling back to GrepTool.' >&2; exit 124";
    let args = ["--no-stdin", "--profile", "gemini", "--report", "json", "--", "sh", "-c", script];
    let output = program().args(args).output().unwrap();
    let headline = stream(&output.stdout)["headline"].as_str().unwrap().to_owned();
    assert!(headline.ends_with(": it timed out (exit status 124)"), "{headline}");
}

/// Goal: 255 is the status of many failures, and of no signal.
#[test]
fn an_exit_status_above_those_of_signals_is_no_signal() {
    let path = "fixtures/agents/goose/interrupted.ndjson";
    for (status, says) in [("255", "stopped: Headless run interrupted"), ("130", "by SIGINT")] {
        let output = program().args(["--exit-status", status, path]).output().unwrap();
        assert!(text(&output.stdout).contains(says), "{}", text(&output.stdout));
    }
}

/// Goal: an exit status is no quotation.
#[test]
fn the_heading_of_a_markdown_report_has_the_exit_status_as_text() {
    let good = std::fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let cut = good.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    for (status, heading) in
        [("3", "## ✗ failed with exit status 3\n"), ("137", "## ✗ killed by SIGKILL\n")]
    {
        let report = run_on(&["--exit-status", status, "--report", "markdown"], cut);
        assert!(text(&report.stdout).contains(heading), "{}", text(&report.stdout));
    }
}

/// Goal: an unmet expectation says what the call did, in every report, but content that is to be
/// redacted stays hidden.
#[test]
fn an_unmet_expectation_says_what_the_call_did() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("ndjson-check.toml");
    std::fs::write(&config, "[expect]\ncalls = [{ kind = \"command\", at-most = 0 }]\n").unwrap();
    let stream = std::fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let config = config.to_str().unwrap();
    for report in ["human", "json", "markdown", "junit", "sarif", "github"] {
        let flags = ["--config", config, "--report", report];
        let shown = run_on(&flags, &stream);
        assert!(text(&shown.stdout).contains("npm test -- cart"), "{report}");
        let redacted = run_on(&[&flags[..], &["--redact", "content"]].concat(), &stream);
        let redacted = text(&redacted.stdout);
        assert!(redacted.contains("see lines 4, 12"), "{report}: {redacted}");
        assert!(!redacted.contains("npm test"), "{report}: {redacted}");
    }
}

/// Goal: what an unmet expectation says of the last call is about the last call.
#[test]
fn an_unmet_expectation_says_what_the_last_call_did() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("ndjson-check.toml");
    let toml = "[expect]\ncalls = [{ kind = \"command\", last = \"succeeded\", after = \"write\", \
                output = { matches = \"never\" } }]\n";
    std::fs::write(&config, toml).unwrap();
    let stream = std::fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let changed = text(&stream).replacen("npm test -- cart", "npm run first", 4);
    assert!(changed.contains("npm test -- cart"), "the last call has another command");
    let flags = ["--config", config.to_str().unwrap()];
    let report = run_on(&flags, changed.as_bytes());
    let report = text(&report.stdout);
    assert!(report.contains("(line 12) did not print"), "{report}");
    assert!(report.contains("note: `npm test -- cart`"), "{report}");
}

/// Goal: a stream that was cut inside a line is called cut, also if its last line was ended.
#[test]
fn a_line_that_was_cut_and_ended_is_cut() {
    let whole = std::fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let cut = whole.iter().rposition(|byte| *byte == b',').unwrap();
    let lines = text(&whole).lines().count();
    for end in [&b""[..], b"\n"] {
        let report = run_on(&[], &[&whole[..cut], end].concat());
        let says = format!("cut short in the middle of line {lines}");
        assert!(text(&report.stdout).contains(&says), "{}", text(&report.stdout));
    }
}

/// Goal: a long error is not printed twice, and a page has the words of the other reports.
#[test]
fn a_long_error_is_said_once() {
    let stream = std::fs::read(root().join("lab/recordings/grok-1.0.41/http-401.ndjson")).unwrap();
    let report = text(&run_on(&[], &stream).stdout);
    assert_eq!(report.matches("Internal error").count(), 1, "{report}");
    let stream = std::fs::read(root().join("fixtures/agents/claude/truncated.ndjson")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.html");
    run_on(&["--report", &format!("html={}", file.display())], &stream);
    let page = std::fs::read_to_string(file).unwrap();
    assert!(page.contains("cut short, non-conforming: 1 error"), "{page}");
}
