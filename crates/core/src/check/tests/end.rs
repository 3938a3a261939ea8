//! How the run ended, from all that is known of it.

use std::time::Duration;

use crate::check::Outcome;
use crate::check::end_of_run::{
    Cause, EndOfRun, LastLine, ProducerExit, StopReason, StreamEnd, TerminalState,
};
use crate::profile::{EndReason, ExitCodes, ExitStatus, RunOutcome};

/// A stream that ended well.
const GOOD: StreamEnd = StreamEnd {
    has_events: true,
    needs_terminal: true,
    terminal: TerminalState::Came,
    reported_outcome: Some(RunOutcome::Success),
    text_says_failed: false,
    has_fatal_error: false,
    is_midway: false,
    last_line: LastLine::Whole,
};

/// One without its terminal event.
const OPEN: StreamEnd =
    StreamEnd { terminal: TerminalState::Missing, reported_outcome: None, ..GOOD };

/// One whose agent writes no terminal event.
const SILENT: StreamEnd = StreamEnd { needs_terminal: false, ..OPEN };

fn bad() -> StreamEnd {
    StreamEnd { reported_outcome: Some(RunOutcome::Failure), ..GOOD }
}

fn exited(code: u8) -> ProducerExit {
    ExitStatus::Code(code).into()
}

fn stopped(stop: StopReason) -> ProducerExit {
    ProducerExit { stop: Some(stop), ..ProducerExit::from(ExitStatus::Signal(15)) }
}

fn decide<'p>(stream: StreamEnd, exit: &ProducerExit, codes: &'p ExitCodes) -> EndOfRun<'p> {
    EndOfRun::decide(stream, exit, exit.status.map(|status| codes.interpret(status)))
}

#[test]
fn causes_and_outcomes() {
    let limit = Duration::from_secs(1);
    let unknown = ProducerExit::default;
    let codes = ExitCodes::default();
    let interrupted = || ProducerExit { was_interrupted: true, ..exited(130) };
    for (stream, exit, cause, outcome) in [
        (GOOD, unknown(), Cause::Ended, Outcome::Succeeded),
        (GOOD, exited(0), Cause::Ended, Outcome::Succeeded),
        (bad(), unknown(), Cause::Ended, Outcome::Failed),
        (bad(), exited(0), Cause::Ended, Outcome::Failed),
        (GOOD, exited(1), Cause::Failed, Outcome::Failed),
        (OPEN, unknown(), Cause::NoTerminalEvent, Outcome::Truncated),
        (OPEN, exited(0), Cause::NoTerminalEvent, Outcome::Truncated),
        (OPEN, exited(1), Cause::Failed, Outcome::Failed),
        (SILENT, unknown(), Cause::Ended, Outcome::Succeeded),
        (StreamEnd { is_midway: true, ..SILENT }, unknown(), Cause::Ended, Outcome::Truncated),
        (StreamEnd { has_fatal_error: true, ..SILENT }, unknown(), Cause::Ended, Outcome::Failed),
        (StreamEnd { text_says_failed: true, ..OPEN }, unknown(), Cause::Failed, Outcome::Failed),
        (StreamEnd { has_events: false, ..OPEN }, unknown(), Cause::NoEvents, Outcome::Truncated),
        (StreamEnd { has_events: false, ..SILENT }, exited(0), Cause::NoEvents, Outcome::Truncated),
        (
            StreamEnd { last_line: LastLine::Cut, ..OPEN },
            unknown(),
            Cause::CutLine,
            Outcome::Truncated,
        ),
        (StreamEnd { last_line: LastLine::Cut, ..OPEN }, exited(2), Cause::Failed, Outcome::Failed),
        // We stopped it: its status is ours.
        (OPEN, stopped(StopReason::IdleTimeout { limit }), Cause::TimedOut, Outcome::TimedOut),
        (GOOD, stopped(StopReason::IdleTimeout { limit }), Cause::TimedOut, Outcome::TimedOut),
        (OPEN, stopped(StopReason::LimitExceeded), Cause::LimitExceeded, Outcome::Truncated),
        (GOOD, stopped(StopReason::Lingered), Cause::Ended, Outcome::Succeeded),
        (GOOD, interrupted(), Cause::Ended, Outcome::Succeeded),
        (OPEN, interrupted(), Cause::Failed, Outcome::Failed),
    ] {
        let end = decide(stream, &exit, &codes);
        assert_eq!((end.cause, end.outcome), (cause, outcome), "{stream:?} {exit:?}");
    }
}

#[test]
fn reasons() {
    let codes = ExitCodes::default();
    let interrupted = ProducerExit { was_interrupted: true, ..exited(130) };
    let limit = Duration::from_secs(1);
    for (stream, exit, reported, reason) in [
        (GOOD, exited(0), None, EndReason::Completed),
        (bad(), exited(1), Some(EndReason::RateLimit), EndReason::RateLimit),
        (bad(), exited(1), None, EndReason::Unknown),
        (OPEN, interrupted, None, EndReason::Interrupted),
        (OPEN, ExitStatus::Signal(9).into(), None, EndReason::Killed),
        (OPEN, stopped(StopReason::IdleTimeout { limit }), None, EndReason::Timeout),
    ] {
        let end = decide(stream, &exit, &codes);
        assert_eq!(end.reason(reported, &exit), reason, "{stream:?} {exit:?}");
    }
}

#[test]
fn what_the_status_and_the_stream_contradict() {
    let codes = ExitCodes::default();
    for (stream, exit, contradicts, is_silent) in [
        (GOOD, exited(0), false, false),
        (GOOD, exited(1), true, true),
        (bad(), exited(0), true, false),
        (bad(), exited(1), false, false),
        (OPEN, exited(1), false, true),
        (StreamEnd { has_fatal_error: true, ..OPEN }, exited(1), false, false),
        (GOOD, stopped(StopReason::Lingered), false, false),
    ] {
        let exit = ProducerExit { stderr: Some(Vec::new()), ..exit };
        let end = decide(stream, &exit, &codes);
        let told = (end.contradiction(Some(1)).is_some(), end.failed_silently(&exit));
        assert_eq!(told, (contradicts, is_silent), "{stream:?} {exit:?}");
        // If standard error is not read, it is not known to be empty.
        assert!(!end.failed_silently(&ProducerExit { stderr: None, ..exit }));
    }
}

#[test]
fn what_the_end_of_the_stream_leaves_open() {
    let codes = ExitCodes::default();
    let cut = StreamEnd { last_line: LastLine::Cut, ..OPEN };
    let provisional = StreamEnd { terminal: TerminalState::Provisional, ..GOOD };
    for (stream, exit, open_calls, cut_line) in [
        (GOOD, exited(0), false, false),
        (provisional, exited(0), true, false),
        (SILENT, exited(0), true, false),
        (SILENT, exited(1), false, false),
        (OPEN, exited(0), false, false),
        (cut, exited(0), false, true),
        (cut, stopped(StopReason::Lingered), false, false),
    ] {
        let end = decide(stream, &exit, &codes);
        let told = (end.reports_open_calls(), end.reports_cut_line());
        assert_eq!(told, (open_calls, cut_line), "{stream:?} {exit:?}");
    }
}
