//! Tool calls: what each half changes, what is wrong with it, and the counts.

use super::{agent, each_event, profile, shown};
use crate::check::CallChange;
use crate::check::stage::calls::CallTable;

/// The changes as `start 1`, the findings, and the counts: total, succeeded, failed, denied,
/// unfinished.
fn told(events: &str) -> (String, String, [u64; 5]) {
    let profile = profile(agent());
    let mut calls = CallTable::new(&profile.calls);
    let (mut changes, mut found) = (Vec::new(), Vec::new());
    each_event(&profile, events, |facts| {
        if facts.marks.starts_turn {
            calls.new_turn();
        }
        let mut updates = Vec::new();
        let is_success = facts.terminal().is_some();
        calls.observe(facts, is_success, &mut updates, &mut found);
        changes.extend(updates.iter().map(|update| {
            let change = match update.change {
                CallChange::Started => "start".to_owned(),
                CallChange::StartedAgain => "again".to_owned(),
                CallChange::Completed(outcome) => outcome.name().to_owned(),
                CallChange::Corrected { outcome, .. } => format!("corrected to {}", outcome.name()),
            };
            format!("{change} {}", update.number)
        }));
    });
    let counts = calls.counts();
    let counts = [counts.total, counts.succeeded, counts.failed, counts.denied, counts.unfinished];
    (changes.join(", "), shown(&found), counts)
}

#[test]
fn halves_of_calls_are_paired_once() {
    for (events, changes, found, counts) in [
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
        ("done id=a", "succeeded 1", "completion-without-start@1", [1, 1, 0, 0, 0]),
        (
            "start id=a, start id=a, done id=a",
            "start 1, again 1, succeeded 1",
            "duplicate-call-start@2(1)",
            [1, 1, 0, 0, 0],
        ),
        (
            "start id=a, done id=a, done id=a",
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
        // In another turn an id may be used again, and what was open stays open.
        (
            "start id=a, good, ask, start id=a, done id=a",
            "start 1, start 2, succeeded 2",
            "unfinished-call@2(1)",
            [2, 1, 0, 0, 1],
        ),
    ] {
        let expected = (changes.to_owned(), found.to_owned(), counts);
        assert_eq!(told(events), expected, "{events}");
    }
}

#[test]
fn a_refusal_counts_whenever_it_comes() {
    for (events, changes, counts) in [
        ("start id=a, denied id=a, broken id=a", "start 1, denied 1", [1, 0, 0, 1, 0]),
        (
            "start id=a, broken id=a, denied id=a",
            "start 1, failed 1, corrected to denied 1",
            [1, 0, 0, 1, 0],
        ),
    ] {
        let (found_changes, _, found_counts) = told(events);
        assert_eq!((found_changes.as_str(), found_counts), (changes, counts), "{events}");
    }
}
