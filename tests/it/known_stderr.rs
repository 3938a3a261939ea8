//! What the profile knows of standard error counts in run mode as in a stream that has it.
//!
//! Method: the fake agent writes the events of a fixture, and its other lines to standard error.

use std::fs;

use serde_json::Value;

use crate::fake_agent::run;
use crate::producer::code;
use crate::streams::{program, root, text};

/// The lines of a fixture: those of standard error, and the events.
fn halves(fixture: &str) -> (String, String) {
    let stream = fs::read_to_string(root().join("fixtures/agents").join(fixture)).unwrap();
    let is_event = |line: &&str| line.starts_with('{');
    let (events, stderr): (Vec<&str>, Vec<&str>) = stream.lines().partition(is_event);
    (stderr.join("\n"), events.join("\n") + "\n")
}

/// The exit code, and the json report of the stream.
fn judged(flags: &[&str], agent: &[&str]) -> (i32, Value) {
    let output = run(&[&["--report", "json"], flags].concat(), agent);
    let report = text(&output.stdout);
    let lines = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    (code(&output), lines.into_iter().find(|line| line["type"] == "stream").expect(&report))
}

/// The rules without the one that says that standard error is in the stream.
fn rules(stream: &Value) -> Value {
    let mut rules = stream["rule_counts"].clone();
    rules.as_object_mut().unwrap().remove("stderr-in-stream");
    rules
}

#[test]
fn a_line_counts_the_same_in_the_stream_and_on_standard_error() {
    for (fixture, expected) in [
        ("codex/calls-refused-on-stderr.ndjson", 1),
        ("codex/one-call-refused-on-stderr.ndjson", 0),
        ("codex/refused-in-colours-on-stderr.ndjson", 0),
        ("codex/calls-failed-on-stderr.ndjson", 0),
        ("codex/errors-of-other-calls-on-stderr.ndjson", 0),
        ("codex/stdin-notice.ndjson", 0),
        ("gptme/verification-given-up.ndjson", 1),
        ("droid/background-report-lost.ndjson", 0),
    ] {
        let (stderr, events) = halves(fixture);
        let merged = judged(&[], &["emit", &format!("fixtures/agents/{fixture}")]);
        for agent in [["stderr", &stderr, "say", &events], ["say", &events, "stderr", &stderr]] {
            let (exit_code, apart) = judged(&[], &agent);
            assert_eq!((exit_code, merged.0), (expected, expected), "{fixture}: {apart}");
            assert_eq!(rules(&apart), rules(&merged.1), "{fixture}");
            for key in ["outcome", "tool_call_counts", "reason", "headline"] {
                assert_eq!(apart[key], merged.1[key], "{fixture}: {key}");
            }
        }
    }
}

#[test]
fn no_flood_hides_what_the_profile_knows() {
    let (stderr, events) = halves("codex/calls-refused-on-stderr.ndjson");
    let flood = "200000";
    let agent = ["say", &events, "stderr", &stderr, "flood-stderr", flood, "flood-stderr", flood];
    let (exit_code, stream) = judged(&[], &agent);
    assert_eq!((exit_code, &stream["tool_call_counts"]["denied"]), (1, &Value::from(5)));
    // A line may end without a line end, and a carriage return begins it anew.
    let line = format!("Working\r{}", stderr.lines().next().unwrap());
    let mut command = program();
    let script = "printf '%s' \"$0\" >&2; printf '%s' \"$1\"";
    command.args(["--report", "json", "--", "sh", "-c", script, &line, &events]);
    if cfg!(unix) {
        assert_eq!(code(&command.output().unwrap()), 1);
    }
}

#[test]
fn what_is_known_survives_redaction() {
    let (stderr, events) = halves("codex/calls-refused-on-stderr.ndjson");
    let plain = judged(&[], &["say", &events, "stderr", &stderr]);
    for mode in ["secrets", "content"] {
        let (exit_code, redacted) =
            judged(&["--redact", mode], &["say", &events, "stderr", &stderr]);
        assert_eq!((exit_code, rules(&redacted)), (plain.0, rules(&plain.1)), "{mode}");
        assert_eq!(redacted["tool_call_counts"], plain.1["tool_call_counts"], "{mode}");
        let shows_content = redacted.to_string().contains("no cleaning at night");
        assert_eq!(shows_content, mode == "secrets", "{redacted}");
    }
}

/// Goal: servers that did not start are named, though no event says so.
#[test]
fn standard_error_names_servers_that_did_not_start() {
    let qwen = "Warning: MCP server(s) failed to start: docs, lab. Continuing with built-in tools \
                and any servers that did connect.";
    let gemini = "MCP issues detected. Run /mcp list for status.";
    for (fixture, stderr, count) in
        [("qwen/plain.ndjson", qwen, 2), ("gemini/tools.ndjson", gemini, 1)]
    {
        let events = fs::read_to_string(root().join("fixtures/agents").join(fixture)).unwrap();
        let (exit_code, stream) = judged(&[], &["stderr", stderr, "say", &events]);
        assert_eq!(exit_code, 0, "{stream}");
        assert_eq!(stream["rule_counts"]["tool-server-unavailable"], count, "{fixture}");
    }
}
