//! A harness learns how each turn ended before the agent exits.

use std::fs;

use ndjson_check::Form;
use serde_json::Value;

use crate::streams::{by_flags, cases, checker, converted, root, run_on, text};

/// The turns that ended: number, outcome, reason, error.
fn turns(stream: &[u8]) -> Vec<String> {
    let events = text(&run_on(&["--quiet", "--to", "events"], stream).stdout);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ends = events.filter(|event| event["type"] == "turn_ended");
    let shown = |end: Value| {
        let [outcome, reason, retryable, error] = ["outcome", "reason", "retryable", "error_text"]
            .map(|name| end[name].as_str().unwrap_or("-").to_owned());
        format!("{} {outcome} {reason} {retryable} {error}", end["turn"])
    };
    ends.map(shown).collect()
}

fn turns_of(path: &str) -> Vec<String> {
    turns(&fs::read(root().join(format!("fixtures/agents/{path}.ndjson"))).unwrap())
}

/// Goal: each terminal event says how its turn ended, also if another turn follows.
#[test]
fn each_terminal_event_ends_a_turn() {
    let good = |turn: u64| format!("{turn} succeeded completed - -");
    assert_eq!(turns_of("claude/several-turns"), [good(1), good(2), good(3)]);
    let failed = "1 failed overloaded yes API Error: 529 Overloaded";
    assert_eq!(turns_of("claude/overloaded"), [failed]);
    let stream = concat!(
        "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n",
        "{\"type\":\"turn.failed\",\"error\":{\"message\":\"unexpected status 529: no\"}}\n",
        "{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,",
        "\"cached_input_tokens\":0,\"output_tokens\":1}}\n",
    );
    let failed = "1 failed overloaded yes unexpected status 529: no".to_owned();
    assert_eq!(turns(stream.as_bytes()), [failed, good(2)]);
}

/// Goal: the number is that of the turn, also if one event begins and ends it.
#[test]
fn a_turn_ends_by_its_number() {
    let mut ends = 0;
    for (flags, cases) in by_flags(cases()) {
        let mut checker = checker(flags.iter().map(String::as_str));
        for case in cases.iter().filter(|case| case.path.starts_with("fixtures/agents")) {
            let events = converted(&case.bytes(), &mut checker, Form::Events);
            let mut turn = 1;
            for event in events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                if event["type"] == "turn" {
                    turn = event["turn"].as_u64().unwrap();
                } else if event["type"] == "turn_ended" {
                    assert_eq!(event["turn"], turn, "{}", case.path.display());
                    ends += 1;
                }
            }
        }
    }
    assert!(ends > 500, "{ends}");
}

/// Goal: a result that only answers a message of an earlier process delays the end of no turn.
#[test]
fn a_resumed_session_ends_its_turn() {
    assert_eq!(turns_of("claude/resumed-after-kill"), ["1 succeeded completed - -"]);
}

/// Goal: nothing is said of a turn without a terminal event.
#[test]
fn the_end_of_the_stream_ends_no_turn() {
    for path in ["claude-session/good", "codex/cut", "hermes/truncated"] {
        assert_eq!(turns_of(path), Vec::<String>::new(), "{path}");
    }
}
