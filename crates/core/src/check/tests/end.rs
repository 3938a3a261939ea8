//! How the run ended, from all that is known of it.

use std::time::Duration;

use crate::check::Outcome;
use crate::check::end_of_run::{
    EndCause, EndOfRun, LastLine, ProducerExit, StopReason, StreamEnd, TerminalState, duration,
};
use crate::profile::{ExitCodes, ExitStatus, RunOutcome};

pub(in crate::check) const GOOD: StreamEnd = StreamEnd {
    has_events: true,
    needs_terminal: true,
    terminal: TerminalState::Came,
    reported_outcome: Some(RunOutcome::Success),
    text_says_failed: false,
    has_fatal_error: false,
    is_midway: false,
    last_line: LastLine::Whole,
};

pub(in crate::check) const BAD: StreamEnd =
    StreamEnd { reported_outcome: Some(RunOutcome::Failure), ..GOOD };

/// One without its terminal event.
pub(in crate::check) const OPEN: StreamEnd =
    StreamEnd { terminal: TerminalState::Missing, reported_outcome: None, ..GOOD };

/// One with which nothing followed an event that may be the last one.
const PROVISIONAL: StreamEnd = StreamEnd { terminal: TerminalState::Provisional, ..GOOD };

/// One whose agent writes no terminal event.
const SILENT: StreamEnd = StreamEnd { needs_terminal: false, ..OPEN };

pub(in crate::check) fn exited(code: u8) -> ProducerExit {
    ExitStatus::Code(code).into()
}

pub(in crate::check) fn stopped(stop: StopReason) -> ProducerExit {
    ProducerExit { stop: Some(stop), ..ProducerExit::from(ExitStatus::Signal(15)) }
}

fn decide<'p>(stream: StreamEnd, exit: &ProducerExit, codes: &'p ExitCodes) -> EndOfRun<'p> {
    EndOfRun::decide(stream, exit, exit.status.map(|status| codes.interpret(status)))
}

fn assert_ends(stream: StreamEnd, exit: &ProducerExit, cause: EndCause, outcome: Outcome) {
    let codes = ExitCodes::default();
    let end = decide(stream, exit, &codes);
    assert_eq!((end.cause, end.outcome), (cause, outcome), "{stream:?} {exit:?}");
}

#[test]
fn causes_and_outcomes() {
    let unknown = ProducerExit::default;
    let fatal_and_open = StreamEnd { has_fatal_error: true, ..OPEN };
    let bad_without_end = StreamEnd { reported_outcome: Some(RunOutcome::Failure), ..SILENT };
    for (stream, exit, cause, outcome) in [
        (GOOD, unknown(), EndCause::Ended, Outcome::Succeeded),
        (GOOD, exited(0), EndCause::Ended, Outcome::Succeeded),
        (BAD, unknown(), EndCause::Ended, Outcome::Failed),
        (BAD, exited(0), EndCause::Ended, Outcome::Failed),
        (GOOD, exited(1), EndCause::Failed, Outcome::Failed),
        (OPEN, unknown(), EndCause::NoTerminalEvent, Outcome::Truncated),
        (OPEN, exited(0), EndCause::NoTerminalEvent, Outcome::Truncated),
        (OPEN, exited(1), EndCause::Failed, Outcome::Failed),
        (SILENT, unknown(), EndCause::Ended, Outcome::Succeeded),
        (StreamEnd { is_midway: true, ..SILENT }, unknown(), EndCause::Ended, Outcome::Truncated),
        (
            StreamEnd { has_fatal_error: true, ..SILENT },
            unknown(),
            EndCause::Ended,
            Outcome::Failed,
        ),
        (
            StreamEnd { text_says_failed: true, ..OPEN },
            unknown(),
            EndCause::Failed,
            Outcome::Failed,
        ),
        (
            StreamEnd { has_events: false, ..OPEN },
            unknown(),
            EndCause::NoEvents,
            Outcome::Truncated,
        ),
        (
            StreamEnd { has_events: false, ..SILENT },
            exited(0),
            EndCause::NoEvents,
            Outcome::Truncated,
        ),
        (StreamEnd { has_events: false, ..OPEN }, exited(1), EndCause::Failed, Outcome::Failed),
        (OPEN, ExitStatus::Signal(9).into(), EndCause::Failed, Outcome::Failed),
        // Nothing followed, so that was the end.
        (PROVISIONAL, unknown(), EndCause::Ended, Outcome::Succeeded),
        (
            StreamEnd { is_midway: true, ..PROVISIONAL },
            unknown(),
            EndCause::Ended,
            Outcome::Succeeded,
        ),
        // An error counts for more than a success, and for less than what the stream lacks.
        (StreamEnd { has_fatal_error: true, ..GOOD }, unknown(), EndCause::Ended, Outcome::Failed),
        (fatal_and_open, unknown(), EndCause::NoTerminalEvent, Outcome::Truncated),
        (bad_without_end, exited(0), EndCause::Ended, Outcome::Failed),
    ] {
        assert_ends(stream, &exit, cause, outcome);
    }
}

#[test]
fn causes_and_outcomes_by_the_last_line() {
    use LastLine::{Cut, CutAllowed, Unparsed};

    let unknown = ProducerExit::default;
    let empty = StreamEnd { has_events: false, ..OPEN };
    for (last_line, stream, exit, cause, outcome) in [
        (Cut, OPEN, unknown(), EndCause::CutLine, Outcome::Truncated),
        (Cut, OPEN, exited(2), EndCause::Failed, Outcome::Failed),
        (Cut, GOOD, exited(0), EndCause::CutLine, Outcome::Succeeded),
        (Cut, BAD, unknown(), EndCause::CutLine, Outcome::Failed),
        (Cut, empty, unknown(), EndCause::CutLine, Outcome::Truncated),
        (Cut, OPEN, stopped(StopReason::Lingered), EndCause::NoTerminalEvent, Outcome::Truncated),
        // What a cut line leaves open is open even where the user allows it.
        (CutAllowed, OPEN, unknown(), EndCause::NoTerminalEvent, Outcome::Truncated),
        (CutAllowed, SILENT, unknown(), EndCause::Ended, Outcome::Truncated),
        (CutAllowed, GOOD, unknown(), EndCause::Ended, Outcome::Succeeded),
        (Unparsed, SILENT, unknown(), EndCause::Ended, Outcome::Truncated),
        (Unparsed, GOOD, unknown(), EndCause::Ended, Outcome::Succeeded),
    ] {
        assert_ends(StreamEnd { last_line, ..stream }, &exit, cause, outcome);
    }
}

/// Its status is ours then.
#[test]
fn causes_and_outcomes_of_a_producer_that_was_stopped() {
    let limit = Duration::from_secs(1);
    let interrupted = || ProducerExit { was_interrupted: true, ..exited(130) };
    for (stream, exit, cause, outcome) in [
        (OPEN, stopped(StopReason::IdleTimeout { limit }), EndCause::TimedOut, Outcome::TimedOut),
        (GOOD, stopped(StopReason::IdleTimeout { limit }), EndCause::TimedOut, Outcome::TimedOut),
        (
            OPEN,
            stopped(StopReason::Timeout { limit, open_calls: Vec::new() }),
            EndCause::TimedOut,
            Outcome::TimedOut,
        ),
        (BAD, stopped(StopReason::IdleTimeout { limit }), EndCause::TimedOut, Outcome::TimedOut),
        (OPEN, stopped(StopReason::LimitExceeded), EndCause::LimitExceeded, Outcome::Truncated),
        (BAD, stopped(StopReason::LimitExceeded), EndCause::LimitExceeded, Outcome::Failed),
        (
            StreamEnd { text_says_failed: true, ..OPEN },
            stopped(StopReason::LimitExceeded),
            EndCause::LimitExceeded,
            Outcome::Truncated,
        ),
        (GOOD, stopped(StopReason::Lingered), EndCause::Ended, Outcome::Succeeded),
        (GOOD, interrupted(), EndCause::Ended, Outcome::Succeeded),
        (PROVISIONAL, interrupted(), EndCause::Ended, Outcome::Succeeded),
        (OPEN, interrupted(), EndCause::Failed, Outcome::Failed),
    ] {
        assert_ends(stream, &exit, cause, outcome);
    }
}

#[test]
fn a_status_in_no_list_of_the_profile_says_nothing() {
    let codes = r#"{ "failure": [2], "meaning": { "2": "no key" }, "reason": { "2": "auth" } }"#;
    let codes: ExitCodes = serde_json::from_str(codes).expect("exit codes");
    for (stream, code, cause, contradicts, meaning) in [
        (GOOD, 0, EndCause::Ended, false, None),
        (GOOD, 2, EndCause::Failed, true, Some("no key")),
        // This status is not a success, so the run failed, whatever the stream says.
        (GOOD, 7, EndCause::Failed, false, None),
        (BAD, 7, EndCause::Failed, false, None),
    ] {
        let end = decide(stream, &exited(code), &codes);
        assert_eq!(end.cause, cause, "{code}");
        assert_eq!(end.contradiction(None).is_some(), contradicts, "{code}");
        assert_eq!(end.status.and_then(|status| status.meaning), meaning, "{code}");
    }
}

#[test]
fn what_the_status_and_the_stream_contradict() {
    let codes = ExitCodes::default();
    let silent_bad = StreamEnd { reported_outcome: Some(RunOutcome::Failure), ..SILENT };
    for (stream, exit, contradicts, is_silent) in [
        (GOOD, exited(0), false, false),
        (GOOD, exited(1), true, true),
        (BAD, exited(0), true, false),
        (BAD, exited(1), false, false),
        (silent_bad, exited(0), true, false),
        (OPEN, exited(0), false, false),
        (OPEN, exited(1), false, true),
        (OPEN, exited(255), false, true),
        (OPEN, exited(130), false, false),
        (StreamEnd { has_fatal_error: true, ..OPEN }, exited(1), false, false),
        (StreamEnd { has_events: false, ..GOOD }, exited(1), false, true),
        // Who was killed could not write why.
        (GOOD, ExitStatus::Signal(9).into(), true, false),
        (OPEN, ExitStatus::Signal(9).into(), false, false),
        (GOOD, stopped(StopReason::Lingered), false, false),
        (GOOD, ProducerExit::default(), false, false),
    ] {
        let exit = ProducerExit { stderr: Some(Vec::new()), ..exit };
        let end = decide(stream, &exit, &codes);
        let reported = (end.contradiction(Some(1)).is_some(), end.failed_silently(&exit));
        assert_eq!(reported, (contradicts, is_silent), "{stream:?} {exit:?}");
        // It may have written why; if standard error is not read, it is not known to be empty.
        for stderr in [None, Some(vec!["no key".to_owned()])] {
            assert!(!end.failed_silently(&ProducerExit { stderr, ..exit.clone() }), "{exit:?}");
        }
    }
}

#[test]
fn a_contradiction_quotes_both_sides() {
    let codes: ExitCodes =
        serde_json::from_str(r#"{ "meaning": { "2": "no key" } }"#).expect("exit codes");
    let says = "the stream says that the run";
    for (stream, exit, line, message, note) in [
        (GOOD, exited(1), Some(7), "succeeded, but the exit status is 1", None),
        (BAD, exited(0), Some(7), "failed, but the exit status is 0", None),
        (
            GOOD,
            exited(2),
            None,
            "succeeded, but the exit status is 2",
            Some("the status means: no key"),
        ),
        (
            GOOD,
            ExitStatus::Signal(9).into(),
            Some(7),
            "succeeded, but the command was ended by signal 9",
            None,
        ),
    ] {
        let found = decide(stream, &exit, &codes).contradiction(line).expect("a contradiction");
        assert_eq!(found.message, format!("{says} {message}"));
        assert_eq!((found.note.as_deref(), found.related_line), (note, line), "{message}");
    }
}

/// The columns: nothing followed the last event, open calls are reported, a cut line is reported.
#[test]
fn what_the_end_of_the_stream_leaves_open() {
    let codes = ExitCodes::default();
    let limit = Duration::from_secs(1);
    let cut = StreamEnd { last_line: LastLine::Cut, ..OPEN };
    for (stream, exit, nothing_followed, open_calls, cut_line) in [
        (GOOD, exited(0), false, false, false),
        (PROVISIONAL, exited(0), true, true, false),
        (PROVISIONAL, exited(1), true, false, false),
        (PROVISIONAL, stopped(StopReason::Lingered), false, false, false),
        (SILENT, exited(0), true, true, false),
        // With a failed status the run was cut, and its calls with it.
        (SILENT, exited(1), true, false, false),
        (SILENT, stopped(StopReason::IdleTimeout { limit }), false, false, false),
        (StreamEnd { is_midway: true, ..SILENT }, exited(0), true, true, false),
        (StreamEnd { is_midway: true, ..OPEN }, exited(0), true, false, false),
        (StreamEnd { has_events: false, ..SILENT }, exited(0), false, false, false),
        (OPEN, exited(0), true, false, false),
        (cut, exited(0), true, false, true),
        (cut, exited(1), true, false, true),
        (StreamEnd { last_line: LastLine::CutAllowed, ..OPEN }, exited(0), true, false, true),
        (StreamEnd { last_line: LastLine::Unparsed, ..OPEN }, exited(0), true, false, false),
        (cut, stopped(StopReason::Lingered), false, false, false),
    ] {
        let end = decide(stream, &exit, &codes);
        let reported = (end.nothing_followed(), end.reports_open_calls(), end.reports_cut_line());
        assert_eq!(reported, (nothing_followed, open_calls, cut_line), "{stream:?} {exit:?}");
    }
}

#[test]
fn durations_are_told_as_people_write_them() {
    for (millis, expected) in
        [(250, "250ms"), (1_000, "1s"), (90_500, "1m 30s 500ms"), (5_400_000, "1h 30m")]
    {
        assert_eq!(duration(Duration::from_millis(millis)), expected);
    }
}
