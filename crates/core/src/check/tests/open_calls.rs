//! Tool calls that are open where the run ends, the rows of the report, and too many calls.

use serde_json::{Value, json};

use super::{agent_with, each_event, profile, shown};
use crate::check::stage::calls::{CallTable, ToolCall};
use crate::check::stage::drift::Start;
use crate::check::{Bound, Note};
use crate::facts::BoundedId;
use crate::limits::CALLS_OPEN_MAX;
use crate::profile::{CallOutcome, Profile};

/// Calls may be open as `open_at_end` says.
fn agent_of(open_at_end: &Value) -> Profile {
    let tool = json!([{ "value": "/tool" }]);
    profile(agent_with("calls", json!({ "tool": tool, "open_at_end": open_at_end })))
}

fn calls_of<'p>(profile: &'p Profile, events: &str) -> CallTable<'p> {
    let mut calls = CallTable::new(&profile.calls);
    each_event(profile, events, |facts| {
        if facts.marks.starts_turn {
            calls.new_turn();
        }
        calls.observe(facts, false, &mut Vec::new(), &mut Vec::new());
    });
    calls
}

#[test]
fn calls_that_must_not_be_open_are_unfinished() {
    let (error, allowed, of_shells) = (json!("error"), json!("allowed"), json!(["sh"]));
    for (open_at_end, events, expected) in [
        (&error, "", ""),
        (&error, "start id=a, done id=a", ""),
        (&error, "start id=a tool=sh", "unfinished-call@9(1)"),
        (&error, "start id=b, start id=a", "unfinished-call@9(1) unfinished-call@9(2)"),
        (&allowed, "start id=a tool=sh", ""),
        (&of_shells, "start id=a tool=sh", ""),
        (&of_shells, "start id=a tool=ls", "unfinished-call@9(1)"),
        (&of_shells, "start id=a", "unfinished-call@9(1)"),
        (&of_shells, "start id=a tool=sh, start id=b tool=ls", "unfinished-call@9(2)"),
        // Those of an earlier turn have been reported where it ended.
        (&error, "start id=a, good, ask, x", ""),
    ] {
        let profile = agent_of(open_at_end);
        let calls = calls_of(&profile, events);
        let mut found = Vec::new();
        calls.report_open(9, 0, &mut found);
        assert_eq!(shown(&found), expected, "{open_at_end}: {events}");
        assert_eq!(calls.is_unfinished(), !expected.is_empty(), "{open_at_end}: {events}");
    }
}

#[test]
fn open_calls_are_told_in_half_a_sentence() {
    for (events, expected) in [
        ("x", None),
        ("start id=a, done id=a", None),
        ("start id=a", Some("1 open tool call: `a` since line 1")),
        ("start id=a tool=sh", Some("1 open tool call: `sh` since line 1")),
        ("start id=a, start id=b", Some("2 open tool calls: `a` since line 1, `b` since line 2")),
        (
            "start id=1, start id=2, start id=3, start id=4, start id=5, start id=6",
            Some(
                "6 open tool calls: `1` since line 1, `2` since line 2, `3` since line 3, \
                 `4` since line 4, `5` since line 5, 1 more",
            ),
        ),
        ("start id=a, good, ask, x", None),
        ("start id=a, good, ask, start id=a", Some("1 open tool call: `a` since line 4")),
    ] {
        let profile = agent_of(&json!("allowed"));
        assert_eq!(calls_of(&profile, events).open_summary().as_deref(), expected, "{events}");
    }
}

#[test]
fn a_row_has_both_lines_of_its_call() {
    let row = |it: ToolCall| {
        let outcome = it.outcome.map_or("open", CallOutcome::name);
        let line = |line: Option<u64>| line.map_or("-".to_owned(), |line| line.to_string());
        let (start, end) = (line(it.started_line), line(it.completed_line));
        format!("{}{} {outcome} {start} to {end}", it.id, it.tool.unwrap_or_default())
    };
    for (events, expected) in [
        ("start id=a tool=sh, done id=a", "a/sh succeeded 1 to 2"),
        ("start id=a, done id=a tool=sh", "a/sh succeeded 1 to 2"),
        ("start id=a tool=sh, done id=a tool=ls", "a/sh succeeded 1 to 2"),
        ("start id=a", "a open 1 to -"),
        ("done id=a tool=sh", "a/sh succeeded - to 1"),
        ("start id=a, broken id=a, denied id=a", "a denied 1 to 2"),
        ("start id=a, start id=b, done id=b", "a open 1 to -, b succeeded 2 to 3"),
    ] {
        let profile = agent_of(&json!("allowed"));
        let rows = calls_of(&profile, &events.replace("tool=", "tool=/")).take_rows();
        assert_eq!(rows.into_iter().map(row).collect::<Vec<_>>().join(", "), expected, "{events}");
    }
}

#[test]
fn the_start_of_an_open_call_names_its_tool() {
    for (events, expected) in [
        ("start id=a tool=sh", Start::Named("sh")),
        ("start id=a", Start::Unnamed),
        ("start id=b tool=sh", Start::Unknown),
        ("start id=a tool=sh, done id=a", Start::Unknown),
    ] {
        let profile = agent_of(&json!("allowed"));
        let calls = calls_of(&profile, events);
        assert_eq!(calls.start_of(&BoundedId::from("a")), expected, "{events}");
    }
}

/// Goal: of calls above the limit it is still known which are open.
#[test]
fn calls_above_the_limit_are_followed_by_their_ids_alone() {
    let start = |number: usize| format!("start id={number} tool=sh");
    let full = (1..=CALLS_OPEN_MAX).map(start).collect::<Vec<_>>().join(", ");
    let profile = agent_of(&json!(["sh"]));
    let mut calls = calls_of(&profile, &full);
    assert!(!calls.is_unfinished());
    assert_eq!(calls.notes(), [Note::LimitReached(Bound::ToolCalls)]);
    for (events, changes, found, unfinished) in [
        ("start id=a tool=sh", 0, "", 1),
        ("start id=a tool=sh", 0, "duplicate-call-start@1", 1),
        ("done id=a", 1, "", 0),
        ("done id=a", 0, "duplicate-completion@1", 0),
        ("start id=a", 0, "reused-call-id@1", 1),
    ] {
        let (mut count, mut diagnostics) = (0, Vec::new());
        each_event(&profile, events, |facts| {
            let mut updates = Vec::new();
            calls.observe(facts, false, &mut updates, &mut diagnostics);
            count += updates.len();
        });
        assert_eq!((count, &*shown(&diagnostics)), (changes, found), "{events}");
        assert_eq!(calls.counts().unfinished, CALLS_OPEN_MAX as u64 + unfinished, "{events}");
    }
    let notes = [Bound::Calls, Bound::ToolCalls].map(Note::LimitReached);
    assert_eq!(calls.notes(), notes);
    let mut found = Vec::new();
    calls.report_open(9, 0, &mut found);
    // Of which tool it is is not known, so it must have ended.
    assert_eq!(shown(&found), "unfinished-call@9");
    assert!(calls.is_unfinished());
}
