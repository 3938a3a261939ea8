//! Tool calls: what each half changes, what is wrong with it, and the counts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{agent, agent_with, each_event, profile, shown};
use crate::check::CallChange;
use crate::check::stage::calls::CallTable;
use crate::limits::CALLS_REJECTED_MAX;

/// The changes as `start 1`, the findings, and the counts: total, succeeded, failed, refused,
/// unfinished.
fn reported(agent: Value, events: &str) -> (String, String, [u64; 5]) {
    let profile = profile(agent);
    let mut calls = CallTable::new(&profile.calls);
    let (mut changes, mut found) = (Vec::new(), Vec::new());
    let mut known = BTreeSet::new();
    each_event(&profile, events, |facts| {
        let mut updates = Vec::new();
        if facts.marks.starts_turn {
            updates = calls.unfinished();
            calls.new_turn();
        }
        let is_success = facts.terminal().is_some();
        calls.observe(facts, is_success, &mut updates, &mut found);
        changes.extend(updates.iter().map(|update| {
            assert_eq!(update.is_new, known.insert(update.number), "{events}");
            let change = match update.change {
                CallChange::Started => "start".to_owned(),
                CallChange::StartedAgain => "again".to_owned(),
                CallChange::Completed(outcome) => outcome.name().to_owned(),
                CallChange::Corrected { instead_of, outcome } => {
                    format!("{} becomes {}", instead_of.name(), outcome.name())
                }
                CallChange::Unfinished => "unfinished".to_owned(),
            };
            format!("{change} {}", update.number)
        }));
    });
    calls.report_rejected(&mut found);
    let counts = calls.counts();
    let refused = counts.rejected + counts.denied;
    let counts = [counts.total, counts.succeeded, counts.failed, refused, counts.unfinished];
    (changes.join(", "), shown(&found), counts)
}

/// Events, and what is reported of them.
type CallsRow<'t> = (&'t str, &'t str, &'t str, [u64; 5]);

fn assert_told(rules: &Value, rows: &[CallsRow<'_>]) {
    for &(events, changes, found, counts) in rows {
        let expected = (changes.to_owned(), found.to_owned(), counts);
        assert_eq!(
            reported(agent_with("calls", rules.clone()), events),
            expected,
            "{events}; {rules}"
        );
    }
}

#[test]
fn halves_of_calls_are_paired_once() {
    let rows = [
        ("start id=a, done id=a", "start 1, succeeded 1", "", [1, 1, 0, 0, 0]),
        ("start id=a, broken id=a", "start 1, failed 1", "", [1, 0, 1, 0, 0]),
        (
            "start id=a, start id=b, done id=b, done id=a",
            "start 1, start 2, succeeded 2, succeeded 1",
            "",
            [2, 2, 0, 0, 0],
        ),
        ("start id=a, good", "start 1", "unfinished-call@2(1)", [1, 0, 0, 0, 1]),
        ("start id=a, bye", "start 1", "", [1, 0, 0, 0, 1]),
        (
            "start id=a, start id=a, done id=a",
            "start 1, again 1, succeeded 1",
            "duplicate-call-start@2(1)",
            [1, 1, 0, 0, 0],
        ),
        (
            "start id=a, done id=a, broken id=a",
            "start 1, succeeded 1",
            "duplicate-completion@3(2)",
            [1, 1, 0, 0, 0],
        ),
        (
            "start id=a, done id=a, start id=a, done id=a",
            "start 1, succeeded 1, start 2, succeeded 2",
            "reused-call-id@3(2)",
            [2, 2, 0, 0, 0],
        ),
        // Each of two starts may have its completion.
        (
            "start id=a, start id=a, done id=a, done id=a, done id=a",
            "start 1, again 1, succeeded 1",
            "duplicate-call-start@2(1) duplicate-completion@5(3)",
            [1, 1, 0, 0, 0],
        ),
        // In another turn an id may be used again, and what was open stays open.
        (
            "start id=a, good, ask, start id=a, done id=a",
            "start 1, unfinished 1, start 2, succeeded 2",
            "unfinished-call@2(1)",
            [2, 1, 0, 0, 1],
        ),
        (
            "start id=a, done id=a, good, ask, start id=a, done id=a",
            "start 1, succeeded 1, start 2, succeeded 2",
            "",
            [2, 2, 0, 0, 0],
        ),
    ];
    assert_told(&json!({}), &rows);
}

#[test]
fn a_completion_without_a_start_means_what_the_profile_says() {
    for (meaning, events, changes, found, counts) in [
        ("error", "done id=a", "succeeded 1", "completion-without-start@1", [1, 1, 0, 0, 0]),
        ("error", "rejected id=a", "rejected 1", "rejected-without-start@1", [1, 0, 0, 1, 0]),
        ("warning", "done id=a", "succeeded 1", "rejected-without-start@1", [1, 1, 0, 0, 0]),
        ("call", "done id=a", "succeeded 1", "", [1, 1, 0, 0, 0]),
        ("call", "rejected id=a", "rejected 1", "denied-call@1", [1, 0, 0, 1, 0]),
        ("ignore", "done id=a", "", "", [0; 5]),
        ("ignore", "start id=a, done id=a", "start 1, succeeded 1", "", [1, 1, 0, 0, 0]),
        (
            "call",
            "done id=a, done id=a",
            "succeeded 1",
            "duplicate-completion@2(1)",
            [1, 1, 0, 0, 0],
        ),
        // Its start comes late, once.
        (
            "error",
            "done id=a, start id=a",
            "succeeded 1",
            "completion-without-start@1",
            [1, 1, 0, 0, 0],
        ),
        (
            "error",
            "done id=a, start id=a, start id=a",
            "succeeded 1, start 2",
            "completion-without-start@1 reused-call-id@3(1)",
            [2, 1, 0, 0, 1],
        ),
        // A whole call has no start.
        (
            "call",
            "done id=a, start id=a",
            "succeeded 1, start 2",
            "reused-call-id@2(1)",
            [2, 1, 0, 0, 1],
        ),
    ] {
        let mut completions = agent()["calls"]["completion"].take();
        for rule in completions.as_array_mut().expect("an array") {
            rule["without_start"] = json!(meaning);
        }
        assert_told(&json!({ "completion": completions }), &[(events, changes, found, counts)]);
    }
}

#[test]
fn halves_may_be_repeated_where_the_profile_says_so() {
    let start = |members: Value| {
        let mut rule = json!({ "when": { "/at": "start" }, "id": ["/id"] });
        rule.as_object_mut().expect("an object").extend(members.as_object().cloned().expect("one"));
        json!({ "start": [
            rule,
            { "when": { "/at": "more" }, "id": ["/id"], "only_repeats": true }
        ] })
    };
    assert_told(
        &start(json!({ "may_repeat": true })),
        &[
            ("start id=a, start id=a", "start 1, again 1", "", [1, 0, 0, 0, 1]),
            (
                "start id=a, done id=a, start id=a",
                "start 1, succeeded 1, start 2",
                "reused-call-id@3(2)",
                [2, 1, 0, 0, 1],
            ),
        ],
    );
    // An event that says more of an open call starts none.
    assert_told(
        &start(json!({})),
        &[
            ("more id=a", "", "", [0; 5]),
            ("start id=a, more id=a", "start 1, again 1", "", [1, 0, 0, 0, 1]),
            ("start id=a, done id=a, more id=a", "start 1, succeeded 1", "", [1, 1, 0, 0, 0]),
        ],
    );
    // After the completion a start is a repeat if it says the same.
    assert_told(
        &start(json!({ "same": "/same" })),
        &[
            (
                "start id=a same=s, done id=a, start id=a same=s",
                "start 1, succeeded 1",
                "",
                [1, 1, 0, 0, 0],
            ),
            (
                "start id=a same=s, done id=a, start id=a same=t",
                "start 1, succeeded 1, start 2",
                "reused-call-id@3(2)",
                [2, 1, 0, 0, 1],
            ),
            (
                "start id=a, done id=a, start id=a",
                "start 1, succeeded 1, start 2",
                "reused-call-id@3(2)",
                [2, 1, 0, 0, 1],
            ),
        ],
    );
    let done = json!({ "when": { "/at": "done" }, "id": ["/id"], "may_repeat": true,
        "outcomes": [{ "outcome": "succeeded", "when": {} }] });
    assert_told(
        &json!({ "completion": [done] }),
        &[("start id=a, done id=a, done id=a", "start 1, succeeded 1", "", [1, 1, 0, 0, 0])],
    );
}

#[test]
fn a_refusal_counts_whenever_it_comes() {
    let rows = [
        ("start id=a, rejected id=a", "start 1, rejected 1", "denied-call@2(1)", [1, 0, 0, 1, 0]),
        (
            "start id=a, denied id=a, broken id=a",
            "start 1, denied 1",
            "denied-call@3(1)",
            [1, 0, 0, 1, 0],
        ),
        (
            "start id=a, broken id=a, denied id=a",
            "start 1, failed 1, failed becomes denied 1",
            "denied-call@3(1)",
            [1, 0, 0, 1, 0],
        ),
        ("start id=a, denied id=a", "start 1", "", [1, 0, 0, 0, 1]),
        ("denied id=a", "", "", [0; 5]),
        // It adds nothing about a call that was already refused.
        (
            "start id=a, rejected id=a, denied id=a",
            "start 1, rejected 1, rejected becomes denied 1",
            "denied-call@2(1)",
            [1, 0, 0, 1, 0],
        ),
        (
            "start id=a, broken id=a, denied id=a, denied id=a",
            "start 1, failed 1, failed becomes denied 1",
            "denied-call@3(1)",
            [1, 0, 0, 1, 0],
        ),
        // A call that succeeded may have done its work.
        (
            "start id=a, done id=a, denied id=a",
            "start 1, succeeded 1",
            "contradictory-completion@3(1)",
            [1, 1, 0, 0, 0],
        ),
    ];
    assert_told(&json!({}), &rows);
}

#[test]
fn a_user_stops_the_calls_that_were_rejected_just_before() {
    let rows = [
        (
            "start id=a, rejected id=a, stop",
            "start 1, rejected 1, rejected becomes failed 1",
            "",
            [1, 0, 1, 0, 0],
        ),
        (
            "start id=a, start id=b, rejected id=a, rejected id=b, stop",
            "start 1, start 2, rejected 1, rejected 2, rejected becomes failed 1, \
             rejected becomes failed 2",
            "",
            [2, 0, 2, 0, 0],
        ),
        (
            "start id=a, rejected id=a, x, stop",
            "start 1, rejected 1",
            "denied-call@2(1)",
            [1, 0, 0, 1, 0],
        ),
        ("start id=a, rejected id=a", "start 1, rejected 1", "denied-call@2(1)", [1, 0, 0, 1, 0]),
        ("start id=a, broken id=a, stop", "start 1, failed 1", "", [1, 0, 1, 0, 0]),
        // The agent has said that it refused the call: what is interrupted is another one.
        (
            "start id=a, start id=b, rejected id=a, denied id=a, done id=b, stop",
            "start 1, start 2, rejected 1, rejected becomes denied 1, succeeded 2",
            "denied-call@3(1)",
            [2, 1, 0, 1, 0],
        ),
        (
            "start id=a, start id=b, rejected id=a, rejected id=b, denied id=a, stop",
            "start 1, start 2, rejected 1, rejected 2, rejected becomes denied 1",
            "denied-call@3(1) denied-call@4(2)",
            [2, 0, 0, 2, 0],
        ),
        // What else is wrong with such a completion stays wrong.
        (
            "rejected id=a, stop",
            "rejected 1, rejected becomes failed 1",
            "rejected-without-start@1",
            [1, 0, 1, 0, 0],
        ),
    ];
    assert_told(&json!({ "interruptions": [{ "when": { "/at": "stop" } }] }), &rows);
}

/// Goal: a stream of rejected calls takes limited memory; the last ones can still be interrupted.
#[test]
fn few_rejected_calls_wait_for_an_interruption() {
    let count = CALLS_REJECTED_MAX + 5;
    let calls = |half: &str| {
        let calls: Vec<_> = (0..count).map(|id| format!("{half} id={id}, ")).collect();
        calls.concat()
    };
    let rules = json!({ "interruptions": [{ "when": { "/at": "stop" } }] });
    let events = format!("{}{}stop", calls("start"), calls("rejected"));
    let (changes, found, counts) = reported(agent_with("calls", rules), &events);
    assert_eq!(changes.matches("becomes failed").count(), CALLS_REJECTED_MAX);
    assert_eq!(found.matches("denied-call").count(), 5);
    assert_eq!(counts, [count as u64, 0, CALLS_REJECTED_MAX as u64, 5, 0]);
}

#[test]
fn both_halves_must_agree() {
    let rules = json!({ "tool": [{ "value": "/tool" }], "must_match": ["/args"] });
    let by_key = json!({ "tool": [{ "key": "/*Tool" }] });
    for (rules, events, found) in [
        (&rules, "start id=a tool=sh args=1, done id=a tool=sh args=1", ""),
        (&rules, "start id=a tool=sh, done id=a tool=ls", "call-mismatch@2(1)"),
        (&rules, "start id=a args=1, done id=a args=2", "call-mismatch@2(1)"),
        (&rules, "start id=a tool=sh args=1, done id=a tool=ls args=2", "call-mismatch@2(1)"),
        // A value that only one half has is not a difference.
        (&rules, "start id=a tool=sh args=1, done id=a", ""),
        (&rules, "start id=a, done id=a tool=sh args=1", ""),
        // A difference says more than that the call was refused.
        (&rules, "start id=a tool=sh, rejected id=a tool=ls", "call-mismatch@2(1)"),
        // A key that names the tool is always there.
        (&by_key, "start id=a shTool=1, done id=a shTool=1", ""),
        (&by_key, "start id=a shTool=1, done id=a lsTool=1", "call-mismatch@2(1)"),
        (&by_key, "start id=a shTool=1, done id=a", "call-mismatch@2(1)"),
        (&by_key, "start id=a, done id=a shTool=1", ""),
    ] {
        assert_eq!(reported(agent_with("calls", rules.clone()), events).1, found, "{events}");
    }
}

/// Goal: where a completion does not show an exit status, no command counts as succeeded.
#[test]
fn a_completion_may_hide_how_a_command_ended() {
    let done = json!({ "when": { "/at": "done" }, "id": ["/id"], "outcomes":
        [{ "outcome": "succeeded", "when": {}, "hides_exit_status": true }] });
    let action = |tool: &str, kind: &str| {
        json!({ "tool": tool, "kind": kind,
            "done": "Did", "attempt": "do" })
    };
    let rules = json!({ "completion": [done], "tool": [{ "value": "/tool" }],
        "actions": { "rules": [action("sh", "command"), action("cat", "read")] } });
    let found = "completion-without-start@1";
    assert_told(
        &rules,
        &[
            ("start id=a tool=sh, done id=a", "start 1, unknown 1", "", [1, 0, 0, 0, 0]),
            ("start id=a tool=cat, done id=a", "start 1, succeeded 1", "", [1, 1, 0, 0, 0]),
            ("done id=a", "unknown 1", found, [1, 0, 0, 0, 0]),
        ],
    );
}

#[test]
fn a_completion_may_contradict_itself() {
    for (meaning, events, found) in [
        ("error", "start id=a, both id=a", "contradictory-completion@2(1)"),
        ("error", "both id=a", "contradictory-completion@1 completion-without-start@1"),
        ("call", "both id=a", "contradictory-completion@1"),
        ("ignore", "both id=a", ""),
        ("ignore", "start id=a, both id=a", "contradictory-completion@2(1)"),
    ] {
        let both = json!({ "when": { "/at": "both" }, "id": ["/id"], "without_start": meaning,
            "outcomes": [{ "outcome": "failed", "when": {}, "is_contradictory": true }] });
        let agent = agent_with("calls", json!({ "completion": [both] }));
        assert_eq!(reported(agent, events).1, found, "{meaning}: {events}");
    }
}
