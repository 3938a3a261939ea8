//! The start of the session, its id and its times.

use serde_json::json;

use super::{agent, each_event, profile, shown};
use crate::check::stage::session::SessionCheck;

/// The findings of these events; `repeats` says when the session may start again.
fn found(repeats: &str, events: &str) -> String {
    let mut agent = agent();
    agent["session"]["repeats"] = json!(repeats);
    let profile = profile(agent);
    let mut check = SessionCheck::new(&profile.session);
    let mut found = Vec::new();
    each_event(&profile, events, |facts| {
        if facts.marks.starts_turn {
            check.new_turn();
        }
        check.observe(facts, &mut found);
    });
    check.finish(true, &mut found);
    shown(&found)
}

#[test]
fn a_session_starts_once_before_all_else() {
    for (repeats, events, expected) in [
        ("never", "hello, x, x", ""),
        ("never", "x, x", "missing-session-start@1"),
        ("never", "x, hello, x", "late-session-start@2(1)"),
        ("never", "hello, x, hello", "duplicate-session-start@3(1)"),
        ("never", "hello, ask, hello", "duplicate-session-start@3(1)"),
        ("each_turn", "hello, hello", "duplicate-session-start@2(1)"),
        ("each_turn", "hello, ask, hello", ""),
        ("each_turn", "hello, ask, hello, hello", "duplicate-session-start@4(3)"),
        ("always", "hello, hello, hello", ""),
        ("never", "", ""),
    ] {
        assert_eq!(found(repeats, events), expected, "{repeats}: {events}");
    }
}

#[test]
fn the_id_stays_and_times_do_not_go_back() {
    for (events, expected) in [
        ("hello session=a, x session=a, x", ""),
        ("hello session=a, x session=b, x session=b", "session-id-changed@2(1)"),
        (
            "hello session=a, x session=b, x session=a",
            "session-id-changed@2(1) session-id-changed@3(2)",
        ),
        ("hello, x session=b", ""),
        ("hello time=5, x time=5, x time=7", ""),
        ("hello time=5, x time=4, x time=4", "timestamp-went-backwards@2(1)"),
        ("hello time=5, x, x time=4", "timestamp-went-backwards@3(1)"),
    ] {
        assert_eq!(found("never", events), expected, "{events}");
    }
}
