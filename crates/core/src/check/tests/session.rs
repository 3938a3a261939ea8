//! The start of the session, its id and its times.

use serde_json::{Value, json};

use super::{agent, agent_with, each_event, profile, shown};
use crate::check::stage::session::SessionCheck;
use crate::limits::CALL_ID_BYTES_MAX;
use crate::profile::Profile;
use crate::rules::diagnostic::Diagnostic;

fn check_of<'p>(
    profile: &'p Profile,
    events: &str,
    found: &mut Vec<Diagnostic>,
) -> SessionCheck<'p> {
    let mut check = SessionCheck::new(&profile.session);
    each_event(profile, events, |facts| {
        if facts.marks.starts_turn {
            check.new_turn();
        }
        check.observe(facts, found);
    });
    check
}

fn found(rules: Value, events: &str) -> String {
    let profile = profile(agent_with("session", rules));
    let mut found = Vec::new();
    check_of(&profile, events, &mut found).finish(true, &mut found);
    shown(&found)
}

#[test]
fn a_session_starts_once_before_all_else() {
    for (repeats, events, expected) in [
        ("never", "hello, x, x", ""),
        ("never", "x, x", "missing-session-start@1"),
        ("never", "x, x, hello, x", "late-session-start@3(1)"),
        ("never", "hello, x, hello", "duplicate-session-start@3(1)"),
        (
            "never",
            "hello, x, hello, hello",
            "duplicate-session-start@3(1) duplicate-session-start@4(3)",
        ),
        ("never", "x, hello, hello", "late-session-start@2(1) duplicate-session-start@3(2)"),
        ("never", "hello, ask, hello", "duplicate-session-start@3(1)"),
        ("each_turn", "hello, hello", "duplicate-session-start@2(1)"),
        ("each_turn", "hello, ask, hello", ""),
        ("each_turn", "hello, ask, hello, hello", "duplicate-session-start@4(3)"),
        ("always", "hello, hello, hello", ""),
        ("always", "x, hello, hello", "late-session-start@2(1)"),
        ("never", "", ""),
    ] {
        assert_eq!(found(json!({ "repeats": repeats }), events), expected, "{repeats}: {events}");
    }
}

#[test]
fn a_profile_may_ask_for_less() {
    let again = json!({ "repeats": "each_turn", "may_repeat_after": [{ "when": { "/at": "y" } }] });
    for (rules, events, expected) in [
        (json!({ "required": false }), "x, x", ""),
        (json!({ "required": false }), "x, hello", "late-session-start@2(1)"),
        (json!({ "start": [] }), "x, x", ""),
        (json!({ "must_be_first": false }), "x, hello", ""),
        (json!({ "must_be_first": false }), "x, x", "missing-session-start@1"),
        (json!({ "must_be_first": ["y"] }), "x, hello", ""),
        (json!({ "must_be_first": ["y"] }), "x, y, y, hello", "late-session-start@4(2)"),
        // Only what may come before the start may have another id.
        (json!({ "must_be_first": ["y"] }), "x session=a, hello session=b, x session=b", ""),
        (
            json!({ "must_be_first": ["y"] }),
            "y session=a, hello session=b",
            "late-session-start@2(1) session-id-changed@2(1)",
        ),
        // A run that ended before the start is another one.
        (
            json!({ "must_be_first": ["y"] }),
            "good session=a, hello session=b",
            "session-id-changed@2(1)",
        ),
        (again.clone(), "hello, y, x, hello", ""),
        (again.clone(), "hello, y, y, hello, hello, x", ""),
        (again, "hello, y, hello, hello", "duplicate-session-start@4(3)"),
        (json!({ "id_is_constant": false }), "hello session=a, x session=b", ""),
        (json!({ "time": null }), "hello time=5, x time=4", ""),
    ] {
        assert_eq!(found(rules.clone(), events), expected, "{rules}: {events}");
    }
}

#[test]
fn an_event_may_announce_a_new_id() {
    let rules = json!({
        "must_be_first": false, "repeats": "each_turn",
        "may_repeat_after": [{ "when": { "/at": "y" }, "new_id": true }]
    });
    for (events, expected) in [
        ("y session=a, hello session=b, x session=b", ""),
        ("hello session=a, y session=a, hello session=b", ""),
        ("y session=a, x session=b, hello session=b", ""),
        ("y session=a, hello session=b, x session=c", "session-id-changed@3(2)"),
        (
            "y session=a, hello session=b, hello session=c",
            "duplicate-session-start@3(2) session-id-changed@3(2)",
        ),
    ] {
        assert_eq!(found(rules.clone(), events), expected, "{events}");
    }
}

/// Goal: a turn that begins before the last one has ended leaves its terminal event for later.
#[test]
fn each_turn_that_began_too_early_holds_back_one_end() {
    let rules = json!({
        "repeats": "each_turn",
        "may_repeat_after": [
            { "when": { "/at": "y" }, "new_turn": true }, { "when": { "/at": "z" } }
        ]
    });
    let profile = profile(agent_with("session", rules));
    for (events, held_back) in [
        ("hello, x", 0),
        ("y, hello, x", 0),
        ("hello, y, hello", 1),
        ("hello, y, y, hello, y, hello", 2),
        ("hello, y, hello, ask, hello", 0),
        ("hello, hello", 0),
        ("hello, z, hello", 0),
    ] {
        let mut check = check_of(&profile, events, &mut Vec::new());
        let count = (0..9).filter(|_| check.takes_held_back_end()).count();
        assert_eq!(count, held_back, "{events}");
    }
}

#[test]
fn one_object_has_no_start() {
    let profile = profile(agent());
    for (events, starts, expected) in
        [("good", true, "missing-session-start@1"), ("good", false, ""), ("", true, "")]
    {
        let mut found = Vec::new();
        check_of(&profile, events, &mut found).finish(starts, &mut found);
        assert_eq!(shown(&found), expected, "{events} {starts}");
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
        ("hello session=a, x session=a, x, x session=b", "session-id-changed@4(2)"),
        ("hello, x session=b", ""),
        ("hello time=5, x time=5, x time=7", ""),
        ("hello time=5, x time=4, x time=4", "timestamp-went-backwards@2(1)"),
        ("hello time=5, x, x time=4", "timestamp-went-backwards@3(1)"),
        ("hello time=5, x time=7, x time=6", "timestamp-went-backwards@3(2)"),
    ] {
        assert_eq!(found(json!({}), events), expected, "{events}");
    }
}

#[test]
fn the_session_has_the_first_id() {
    let profile = profile(agent());
    for (events, expected) in [
        ("hello", None),
        ("hello session=a, x session=a", Some("a")),
        ("hello session=a, x session=b", Some("a")),
        ("hello, x session=b", Some("b")),
    ] {
        let check = check_of(&profile, events, &mut Vec::new());
        assert_eq!(check.session_id(), expected, "{events}");
    }
}

#[test]
fn another_id_is_that_of_another_session() {
    let profile = profile(agent());
    let long = "i".repeat(CALL_ID_BYTES_MAX + 1);
    let (of_long, longer) = (format!("hello session={long}"), format!("{long}i"));
    for (events, id, expected) in [
        ("hello session=a", Some("a"), Some(false)),
        ("hello session=a", Some("b"), Some(true)),
        // The id of the start counts, if it has one.
        ("hello session=a, x session=b", Some("a"), Some(false)),
        ("hello session=a, x session=b, x", Some("b"), Some(true)),
        ("x session=a, hello, x session=b", Some("b"), Some(false)),
        // One of the ids is not known.
        ("hello session=a", None, None),
        ("hello session=a", Some(""), None),
        ("hello", Some("a"), None),
        (&of_long, Some(&*long), Some(false)),
        (&of_long, Some(&*longer), Some(true)),
    ] {
        let check = check_of(&profile, events, &mut Vec::new());
        assert_eq!(check.is_other(id), expected, "{events} {id:?}");
    }
}

#[test]
fn an_expected_start_may_have_another_id_where_ids_change() {
    let again = json!([{ "when": { "/at": "y" } }]);
    for (is_constant, events, is_other) in [
        (false, "hello session=a", true),
        (false, "hello session=a, y", false),
        (false, "hello session=a, y, hello session=b", true),
        (true, "hello session=a, y", true),
    ] {
        let rules = json!({
            "repeats": "each_turn", "may_repeat_after": again, "id_is_constant": is_constant
        });
        let profile = profile(agent_with("session", rules));
        let check = check_of(&profile, events, &mut Vec::new());
        assert_eq!(check.is_other(Some("c")), Some(is_other), "{events}");
    }
}
