//! The terminal event: where events come, and what the stream says of the run.

use serde_json::json;

use super::{agent, agent_with, each_event, profile, shown};
use crate::check::FailureSource;
use crate::check::end_of_run::TerminalState;
use crate::check::stage::lines::FailureLine;
use crate::check::stage::terminal::{Place, TerminalCheck};
use crate::facts::{Facts, RunFacts};
use crate::profile::{EndReason, Profile, RunOutcome};
use crate::rules::diagnostic::Diagnostic;

fn observe(check: &mut TerminalCheck, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) -> Place {
    let place = check.place(facts);
    match place {
        Place::Run | Place::AfterEnd => check.observe(facts, found),
        Place::NewTurn => {
            check.new_turn(found);
            check.observe(facts, found);
        }
        Place::Epilogue => check.observe_epilogue(facts, found),
    }
    place
}

/// The check of these events, before the end of the stream.
fn check_of(profile: &Profile, events: &str) -> TerminalCheck {
    let mut check = TerminalCheck::default();
    each_event(profile, events, |facts| {
        observe(&mut check, facts, &mut Vec::new());
    });
    check
}

/// Where each event comes (`r`un, new `t`urn, `e`pilogue, `a`fter the end), the end, what the
/// stream says of the run, and the findings.
fn reported(events: &str) -> (String, TerminalState, Option<RunOutcome>, String) {
    let profile = profile(agent());
    let mut check = TerminalCheck::default();
    let (mut places, mut found) = (String::new(), Vec::new());
    each_event(&profile, events, |facts| {
        places.push(match observe(&mut check, facts, &mut found) {
            Place::Run => 'r',
            Place::NewTurn => 't',
            Place::Epilogue => 'e',
            Place::AfterEnd => 'a',
        });
    });
    let state = check.finish(true, false, &mut found);
    (places, state, check.reported_outcome(), shown(&found))
}

#[test]
fn events_have_a_place_and_the_end_says_how_the_run_went() {
    use RunOutcome::{Failure, Success};
    use TerminalState::{Came, Missing, Provisional};

    for (events, places, state, outcome, found) in [
        ("x, good", "rr", Came, Some(Success), ""),
        ("x, bad", "rr", Came, Some(Failure), "run-failed@2"),
        ("x, x", "rr", Missing, None, ""),
        ("x, good, x", "rra", Came, Some(Success), "event-after-terminal@3(2)"),
        ("good, hello", "ra", Came, Some(Success), "event-after-terminal@2(1)"),
        ("good, bad", "ra", Came, Some(Success), "event-after-terminal@2(1)"),
        ("x, good, bye", "rre", Came, Some(Success), ""),
        ("x, good, late-error", "rre", Came, Some(Failure), "run-failed@3(2)"),
        ("x, good, late-bad", "rre", Came, Some(Failure), "run-failed@3(2)"),
        ("good, late-bad, late-error", "ree", Came, Some(Failure), "run-failed@2(1)"),
        ("x, bad, late-error", "rre", Came, Some(Failure), "run-failed@2"),
        ("x, good, ask, x, bad", "rrtrr", Came, Some(Failure), "run-failed@5"),
        ("x, good, ask, x", "rrtr", Missing, None, ""),
        // An end that counts only if nothing follows.
        ("x, pause", "rr", Provisional, Some(Success), ""),
        ("x, pause, bye", "rrr", Provisional, Some(Success), ""),
        ("x, pause, x", "rrr", Missing, None, ""),
        ("x, pause, ask, good", "rrtr", Came, Some(Success), ""),
        ("x, quit", "rr", Provisional, Some(Failure), "run-failed@2"),
        ("x, quit, x, good", "rrrr", Came, Some(Success), ""),
        ("x, quit, ask, good", "rrtr", Came, Some(Success), "run-failed@2"),
        // Errors, and ends without an outcome of their own.
        ("warning, good", "rr", Came, Some(Success), ""),
        ("fatal, good", "rr", Came, Some(Success), "success-after-fatal-error@2(1)"),
        ("fatal, fatal, good", "rrr", Came, Some(Success), "success-after-fatal-error@3(1)"),
        ("fatal, over", "rr", Came, Some(Failure), "run-failed@2"),
        ("late-error, good", "rr", Came, Some(Failure), "run-failed@2"),
        ("well, over", "rr", Came, Some(Success), ""),
        ("badly, over", "rr", Came, Some(Failure), "run-failed@2(1)"),
        ("badly, well, over", "rrr", Came, Some(Success), ""),
        ("badly, good", "rr", Came, Some(Success), ""),
        ("more, over", "rr", Came, Some(Failure), "run-failed@2"),
        ("x, over", "rr", Came, Some(Success), ""),
        ("badly, over, ask, over", "rrtr", Came, Some(Success), "run-failed@2(1)"),
        ("fatal, good, ask, good", "rrtr", Came, Some(Success), "success-after-fatal-error@2(1)"),
    ] {
        let expected = (places.to_owned(), state, outcome, found.to_owned());
        assert_eq!(reported(events), expected, "{events}");
    }
}

#[test]
fn without_a_terminal_event_the_stream_may_say_how_the_run_went() {
    use RunOutcome::{Failure, Success};

    for (policy, events, outcome, found) in [
        ("none", "x", None, ""),
        ("none", "good, x", Some(Success), ""),
        ("none", "bad, x", Some(Failure), ""),
        ("none", "good, bad, x", Some(Failure), ""),
        ("none", "bad, good, x", Some(Failure), ""),
        ("none", "over", None, ""),
        ("none", "well", Some(Success), ""),
        ("none", "badly", Some(Failure), ""),
        ("none", "badly, good", Some(Success), ""),
        ("none", "more", None, ""),
        ("none", "warning", None, ""),
        ("none", "fatal", Some(Failure), ""),
        ("none", "fatal, good, x", Some(Success), "success-after-fatal-error@3(1)"),
        ("none", "fatal, well", Some(Success), "success-after-fatal-error@2(1)"),
        ("none", "late-error, good", Some(Failure), ""),
        ("optional", "well", Some(Success), ""),
        ("required", "well", None, ""),
        ("required", "fatal", None, ""),
    ] {
        let profile = profile(agent_with("end", json!({ "policy": policy })));
        let mut check = check_of(&profile, events);
        let mut diagnostics = Vec::new();
        let state = check.finish(policy == "required", false, &mut diagnostics);
        assert_eq!(state, TerminalState::Missing, "{policy}: {events}");
        let reported = (check.reported_outcome(), &*shown(&diagnostics));
        assert_eq!(reported, (outcome, found), "{policy}: {events}");
    }
}

#[test]
fn a_broken_last_line_follows_an_end_that_is_one_if_nothing_follows() {
    let profile = profile(agent());
    for (events, is_broken, state, found) in [
        ("pause", false, TerminalState::Provisional, ""),
        ("pause", true, TerminalState::Missing, ""),
        ("quit", true, TerminalState::Missing, ""),
        ("good", true, TerminalState::Came, ""),
    ] {
        let (mut check, mut diagnostics) = (check_of(&profile, events), Vec::new());
        assert_eq!(check.finish(true, is_broken, &mut diagnostics), state, "{events} {is_broken}");
        assert_eq!(shown(&diagnostics), found, "{events} {is_broken}");
    }
}

#[test]
fn a_success_is_certain_where_the_event_ends_the_run_well() {
    let profile = profile(agent());
    for (events, expected) in [
        ("good", true),
        ("over", true),
        ("fatal, good", true),
        ("well, over", true),
        ("bad", false),
        ("x", false),
        ("pause", false),
        ("fatal, over", false),
        ("more, over", false),
        ("late-error, good", false),
    ] {
        let (mut check, mut last) = (TerminalCheck::default(), None);
        each_event(&profile, events, |facts| {
            last = Some(check.is_success(facts));
            observe(&mut check, facts, &mut Vec::new());
        });
        assert_eq!(last, Some(expected), "{events}");
    }
}

#[test]
fn turns_warnings_and_the_latest_event_are_those_of_the_whole_run() {
    let profile = profile(agent());
    for (events, turns, warnings, last_line) in [
        ("x", 0, 0, 1),
        ("warning, good", 1, 1, 2),
        ("warning, good, ask, warning, bad", 2, 2, 5),
        ("pause, ask, x", 1, 0, 3),
        ("pause, x", 0, 0, 2),
        // What comes after the end is not of the run.
        ("good, bye, x", 1, 0, 1),
    ] {
        let check = check_of(&profile, events);
        let reported = (check.turns, check.warnings, check.last_event().0);
        assert_eq!(reported, (turns, warnings, last_line), "{events}");
    }
}

#[test]
fn one_line_says_that_the_run_failed() {
    let profile = profile(agent());
    for (events, expected) in [
        ("x, good", None),
        ("x, bad", Some((2, FailureSource::TerminalEvent))),
        ("x, quit", Some((2, FailureSource::LastEvent))),
        ("more, over", Some((2, FailureSource::Unfinished))),
        ("badly, over", Some((1, FailureSource::EarlierEvent))),
        ("more, well, over", None),
        ("more, enough, over", None),
        ("badly, enough, over", Some((1, FailureSource::EarlierEvent))),
        ("x, good, late-bad", Some((3, FailureSource::TerminalEvent))),
        // An error says more than the end that follows it.
        ("fatal, x, bad", Some((1, FailureSource::Error))),
        ("fatal, bad, ask, good", None),
    ] {
        let mut check = check_of(&profile, events);
        check.finish(true, false, &mut Vec::new());
        assert_eq!(check.failure(), expected, "{events}");
    }
}

#[test]
fn a_line_of_text_says_why_the_run_failed_if_no_terminal_event_does() {
    let profile = profile(agent());
    let known = RunFacts { reason: Some(EndReason::Billing), ..RunFacts::default() };
    for (events, facts, counts, reason) in [
        ("x", RunFacts::default(), true, Some(EndReason::Auth)),
        ("x", known.clone(), true, Some(EndReason::Billing)),
        ("pause", RunFacts::default(), true, Some(EndReason::Auth)),
        ("good", RunFacts::default(), false, None),
        ("bad", known, false, Some(EndReason::Billing)),
    ] {
        let (mut check, mut facts) = (check_of(&profile, events), facts);
        let (text, reason_of_line) = ("no key".to_owned(), Some(EndReason::Auth));
        let line =
            FailureLine { number: Some(7), text, reason: reason_of_line, may_recover: false };
        assert_eq!(check.note_failure_line(Some(line), &mut facts), counts, "{events}");
        assert_eq!(facts.reason, reason, "{events}");
        assert_eq!(facts.error_text.is_some(), counts, "{events}");
        assert_eq!(check.has_fatal_error(), counts, "{events}");
        assert!(!check.note_failure_line(None, &mut facts), "{events}");
    }
}

#[test]
fn another_turn_may_have_to_follow() {
    let more = json!({ "more_turns": [{ "when": { "/at": ["good", "bad"], "/queued": "1" } }] });
    let profile = profile(agent_with("end", more));
    for (events, expected) in [
        ("x, good", false),
        ("x, good queued=1", true),
        ("x, bad queued=1", true),
        ("x, good queued=1, bye", true),
        ("x, good queued=1, ask", false),
        ("x, good queued=1, ask, good", false),
        ("x queued=1", false),
    ] {
        assert_eq!(check_of(&profile, events).expects_turn(), expected, "{events}");
    }
}

#[test]
fn a_stream_that_ends_in_the_middle_of_something_is_unfinished() {
    let profile = profile(agent());
    for (events, expected) in [
        ("more", true),
        ("more, x", true),
        ("more, well", false),
        ("more, bad", false),
        ("more, good, ask, x", false),
        ("x", false),
    ] {
        assert_eq!(check_of(&profile, events).is_unfinished(), expected, "{events}");
    }
}
