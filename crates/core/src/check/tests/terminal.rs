//! The terminal event: where events come, and what the stream says of the run.

use super::{agent, each_event, profile, shown};
use crate::check::end_of_run::TerminalState;
use crate::check::stage::terminal::{Place, TerminalCheck};
use crate::profile::RunOutcome;

/// Where each event comes (`r`un, new `t`urn, `e`pilogue, `a`fter the end), the end, what the
/// stream says of the run, and the findings.
fn told(events: &str) -> (String, TerminalState, Option<RunOutcome>, String) {
    let profile = profile(agent());
    let mut check = TerminalCheck::default();
    let (mut places, mut found) = (String::new(), Vec::new());
    each_event(&profile, events, |facts| {
        let place = check.place(facts);
        match place {
            Place::Run | Place::AfterEnd => check.observe(facts, &mut found),
            Place::NewTurn => {
                check.new_turn(&mut found);
                check.observe(facts, &mut found);
            }
            Place::Epilogue => check.observe_epilogue(facts, &mut found),
        }
        places.push(match place {
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
        ("x, good, bye", "rre", Came, Some(Success), ""),
        ("x, good, late-error", "rre", Came, Some(Failure), "run-failed@3(2)"),
        ("x, bad, late-error", "rre", Came, Some(Failure), "run-failed@2"),
        ("x, good, ask, x, bad", "rrtrr", Came, Some(Failure), "run-failed@5"),
        ("x, good, ask, x", "rrtr", Missing, None, ""),
        // An end that counts only if nothing follows.
        ("x, pause", "rr", Provisional, Some(Success), ""),
        ("x, pause, bye", "rrr", Provisional, Some(Success), ""),
        ("x, pause, x", "rrr", Missing, None, ""),
        ("x, pause, ask, good", "rrtr", Came, Some(Success), ""),
        // Errors, and ends without an outcome of their own.
        ("warning, good", "rr", Came, Some(Success), ""),
        ("fatal, good", "rr", Came, Some(Success), "success-after-fatal-error@2(1)"),
        ("fatal, over", "rr", Came, Some(Failure), "run-failed@2"),
        ("late-error, good", "rr", Came, Some(Failure), "run-failed@2"),
        ("well, over", "rr", Came, Some(Success), ""),
        ("more, over", "rr", Came, Some(Failure), "run-failed@2"),
        ("fatal, good, ask, good", "rrtr", Came, Some(Success), "success-after-fatal-error@2(1)"),
    ] {
        let expected = (places.to_owned(), state, outcome, found.to_owned());
        assert_eq!(told(events), expected, "{events}");
    }
}

#[test]
fn a_stream_that_ends_in_the_middle_of_something_is_unfinished() {
    let profile = profile(agent());
    for (events, expected) in [("more", true), ("more, well", false), ("more, bad", false)] {
        let mut check = TerminalCheck::default();
        each_event(&profile, events, |facts| check.observe(facts, &mut Vec::new()));
        assert_eq!(check.is_unfinished(), expected, "{events}");
    }
}
