//! How the run ended: decided here, once.

use std::time::Duration;

use super::Outcome;
use super::last_lines::last_lines;
use crate::profile::{ExitStatus, RunOutcome, StatusMeaning};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// What profiles say of a status.
const ON_STDERR: &str = "; the reason is on standard error";

/// What is known about the producer of a stream when the stream has ended. The default knows
/// nothing. It is made from the status of a process, also of one that `tokio::process` started:
///
/// ```no_run
/// use std::io::Read as _;
/// use std::process::{Command, Stdio};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use ndjson_check_core as ndjson_check;
/// let mut reader = ndjson_check::Checker::builder().build()?.reader("the run");
/// let mut agent = Command::new("agent").arg("--print").stdout(Stdio::piped()).spawn()?;
/// let mut stream = agent.stdout.take().ok_or("it is piped")?;
/// let mut buffer = [0; 4096];
/// loop {
///     match stream.read(&mut buffer)? {
///         0 => break,
///         count => drop(reader.feed(&buffer[..count])?),
///     }
/// }
/// let end = reader.finish(&agent.wait()?.into())?;
/// assert!(end.summary.passed());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProducerExit {
    /// Its exit status, if it is known.
    pub status: Option<ExitStatus>,
    /// Another part of this program waited for the producer, so its exit status is not known.
    pub status_is_lost: bool,
    /// Why reading was stopped before the producer ended by itself.
    pub stop: Option<StopReason>,
    /// We received a signal and passed it on to the producer.
    pub was_interrupted: bool,
    /// A descendant of the producer kept its standard output open after the producer's end.
    pub stdout_held_open: bool,
    /// A message was written to the agent after its latest turn, and no event followed.
    pub expects_turn: bool,
    /// An idle timeout was asked for and did not apply: the agent does not show calls at work.
    pub had_no_idle_timeout: bool,
    /// The same of a timeout of calls.
    pub had_no_call_timeout: bool,
    /// The last lines it wrote to standard error, if standard error was read.
    pub stderr: Option<Vec<String>>,
    /// Lines of its standard error, in their order: all, or at least those that the profile knows.
    /// Some of them say what no event shows, such as a call that was denied.
    pub stderr_lines: Vec<String>,
}

impl From<ExitStatus> for ProducerExit {
    fn from(status: ExitStatus) -> Self {
        Self { status: Some(status), ..Self::default() }
    }
}

impl From<std::process::ExitStatus> for ProducerExit {
    fn from(status: std::process::ExitStatus) -> Self {
        ExitStatus::from(status).into()
    }
}

impl ProducerExit {
    /// Sets [`stderr`](Self::stderr) to the last lines of this text; a stack at its end does not
    /// hide the line in front of it.
    pub fn keep_stderr(&mut self, text: &str) {
        self.stderr = Some(last_lines(text));
    }
}

/// The message about a stream without the terminal event of its last turn.
pub(super) fn what_is_missing(expects_turn: bool, holds_back_ends: bool) -> &'static str {
    if expects_turn {
        "the stream ends here, without an answer to the last message"
    } else if holds_back_ends {
        "the stream ends here, but a turn has not ended"
    } else {
        "the stream ends here, without a terminal event"
    }
}

/// Why a producer was stopped, or its stream abandoned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It was still running some time after its terminal event; not a defect.
    Lingered,
    /// The run took longer than its limit.
    Timeout {
        /// The limit.
        limit: Duration,
        /// The lines that started the open calls, and how long these had been open.
        open_calls: Vec<(u64, Duration)>,
    },
    /// No event came for longer than the limit, and no call was open.
    IdleTimeout {
        /// The limit.
        limit: Duration,
    },
    /// The stream reported that the run exceeded one of its limits.
    LimitExceeded,
    /// The run did not start as it must: see [`Expectation::Model`](super::Expectation::Model) and
    /// those after it.
    WrongStart,
    /// A tool call did not end within its limit.
    CallTimeout {
        /// The limit.
        limit: Duration,
        /// The line that started the call.
        line: u64,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StreamEnd {
    pub(super) has_events: bool,
    pub(super) needs_terminal: bool,
    pub(super) terminal: TerminalState,
    pub(super) reported_outcome: Option<RunOutcome>,
    /// Whether plain text says that the run failed, and no terminal event says how it ended.
    pub(super) text_says_failed: bool,
    pub(super) has_fatal_error: bool,
    /// Whether more had to follow the last event, or calls are open that must not be.
    pub(super) is_midway: bool,
    pub(super) last_line: LastLine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalState {
    Missing,
    /// An event came that is the terminal one if nothing follows, and nothing followed.
    Provisional,
    Came,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLine {
    Whole,
    /// It looks like an event, and could not be parsed.
    Unparsed,
    Cut,
    /// It was cut, and the severity of `truncated-line` is not an error.
    CutAllowed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndCause {
    TimedOut,
    /// We ended it because it exceeded a limit.
    LimitExceeded,
    /// We ended it because it did not start as it must.
    WrongStart,
    /// The exit status says that the run failed, or a last line of plain text does.
    Failed,
    CutLine,
    NoEvents,
    NoTerminalEvent,
    /// Nothing is missing.
    Ended,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct EndOfRun<'p> {
    pub(super) cause: EndCause,
    pub(super) outcome: Outcome,
    /// The producer's own status: none if we stopped it.
    pub(super) status: Option<StatusMeaning<'p>>,
    pub(super) stream: StreamEnd,
    was_stopped: bool,
}

impl<'p> EndOfRun<'p> {
    /// `status` is the exit status as the profile reads it.
    pub(super) fn decide(
        stream: StreamEnd,
        exit: &ProducerExit,
        status: Option<StatusMeaning<'p>>,
    ) -> Self {
        let is_closed = stream.terminal != TerminalState::Missing;
        let timed_out = exit.stop.as_ref().is_some_and(StopReason::is_timeout);
        let was_stopped = exit.stop.is_some();
        // A status is the producer's own unless we stopped it, or a signal did when it was done.
        let status = status.filter(|_| !(was_stopped || exit.was_interrupted && is_closed));
        let has_no_stderr = exit.stderr.as_ref().is_some_and(Vec::is_empty);
        let status = status.map(|it| if has_no_stderr { without_stderr(it) } else { it });
        let failed = status.is_some_and(|status| !status.is_success()) || stream.text_says_failed;
        let is_complete = is_closed || !stream.needs_terminal;

        let cause = match (timed_out, failed, stream.last_line, stream.has_events, is_complete) {
            (true, ..) => EndCause::TimedOut,
            _ if exit.stop == Some(StopReason::LimitExceeded) => EndCause::LimitExceeded,
            _ if exit.stop == Some(StopReason::WrongStart) => EndCause::WrongStart,
            // Whatever is missing is missing because the run failed.
            (_, true, ..) => EndCause::Failed,
            (_, _, LastLine::Cut, ..) if !was_stopped => EndCause::CutLine,
            (_, _, _, false, _) => EndCause::NoEvents,
            (_, _, _, _, false) => EndCause::NoTerminalEvent,
            (_, _, _, true, true) => EndCause::Ended,
        };

        let outcome =
            match (cause, stream.reported_outcome, stream.ended_early(), stream.has_fatal_error) {
                (EndCause::TimedOut, ..) => Outcome::TimedOut,
                (EndCause::Failed, ..) | (_, Some(RunOutcome::Failure), ..) => Outcome::Failed,
                (_, _, true, _) => Outcome::Truncated,
                (_, _, _, true) => Outcome::Failed,
                (_, _, false, false) => Outcome::Succeeded,
            };
        Self { cause, outcome, status, stream, was_stopped }
    }

    pub(super) fn succeeded(&self) -> bool {
        self.outcome == Outcome::Succeeded
    }

    /// Whether the run is over because nothing followed; not because of a terminal event, and not
    /// because we stopped it.
    pub(super) fn nothing_followed(&self) -> bool {
        let StreamEnd { has_events, terminal, .. } = self.stream;
        has_events && !self.was_stopped && terminal != TerminalState::Came
    }

    pub(super) fn reports_open_calls(&self) -> bool {
        let StreamEnd { needs_terminal, terminal, .. } = self.stream;
        // With a failed status the run was cut, and its calls with it.
        let ended_silently =
            !needs_terminal && terminal == TerminalState::Missing && self.cause != EndCause::Failed;
        self.nothing_followed() && (self.succeeded() || ended_silently)
    }

    /// How the exit status contradicts what the stream says. A message of an agent without terminal
    /// event may be its last one; it claims no success.
    pub(super) fn contradiction(&self, terminal_line: Option<u64>) -> Option<Diagnostic> {
        let has_terminal = self.stream.terminal != TerminalState::Missing;
        let claims = |says: &RunOutcome| has_terminal || *says == RunOutcome::Failure;
        let says = self.stream.reported_outcome.filter(claims);
        let both = self.status.zip(says).filter(|_| self.stream.has_events);
        let (status, says) = both.filter(|(status, says)| !status.is_consistent_with(*says))?;
        let says = match says {
            RunOutcome::Failure => "failed",
            RunOutcome::Success => "succeeded",
        };
        let found = match status.status {
            ExitStatus::Code(code) => format!("the exit status is {code}"),
            ExitStatus::Signal(signal) => format!("the command was ended by signal {signal}"),
        };
        let message = format!("the stream says that the run {says}, but {found}");
        let diagnostic = Diagnostic::new(Rule::ExitStatusContradictsResult, message);
        let note = status.meaning.map(|meaning| format!("the status means: {meaning}"));
        Some(Diagnostic { note, ..diagnostic.related(terminal_line) })
    }

    /// What is wrong with the producer, besides its stream. `is_explained` says whether a text says
    /// why the run failed.
    pub(super) fn producer_defects(
        &self,
        exit: &ProducerExit,
        is_explained: bool,
        found: &mut Vec<Diagnostic>,
    ) {
        if self.failed_silently(exit) && !is_explained {
            let message = "the command failed and wrote nothing to standard error";
            found.push(Diagnostic::new(Rule::SilentFailure, message));
        }
        if exit.stdout_held_open && !(self.was_stopped || exit.was_interrupted) {
            let message = "a process that the command left behind keeps the stream open";
            found.push(Diagnostic::new(Rule::PipeHeldOpen, message));
        }
    }

    /// Whether neither the stream nor standard error says why the run failed.
    pub(super) fn failed_silently(&self, exit: &ProducerExit) -> bool {
        // From 129 to 192, a shell says which signal ended the command.
        let status = self.status.map(|it| it.status);
        let failed = matches!(status, Some(ExitStatus::Code(1..=128 | 193..)));
        let is_explained = self.stream.reported_outcome == Some(RunOutcome::Failure)
            || self.stream.has_fatal_error;
        failed && !is_explained && exit.stderr.as_ref().is_some_and(Vec::is_empty)
    }

    pub(super) fn reports_cut_line(&self) -> bool {
        let is_cut = matches!(self.stream.last_line, LastLine::Cut | LastLine::CutAllowed);
        is_cut && !self.was_stopped
    }
}

/// The same, if there is no reason on standard error.
fn without_stderr(mut status: StatusMeaning<'_>) -> StatusMeaning<'_> {
    let meaning = status.meaning.map(|it| it.strip_suffix(ON_STDERR).unwrap_or(it));
    status.meaning = meaning;
    status
}

impl StreamEnd {
    pub(super) fn ended_early(self) -> bool {
        let Self { has_events, needs_terminal, is_midway, last_line, .. } = self;
        let is_open = self.terminal == TerminalState::Missing;
        let has_loose_end = needs_terminal || is_midway || last_line != LastLine::Whole;
        !has_events || is_open && has_loose_end
    }
}

impl StopReason {
    /// Whether a timeout fired.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Lingered | Self::LimitExceeded | Self::WrongStart => false,
            Self::Timeout { .. } | Self::IdleTimeout { .. } | Self::CallTimeout { .. } => true,
        }
    }
}

/// As people write it: `1h 30m`, `250ms`.
pub(super) fn duration(duration: Duration) -> String {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_millis());
    let parts = [
        (seconds / 3_600, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
        (millis.into(), "ms"),
    ];
    let shown = parts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, unit)| format!("{count}{unit}")).collect::<Vec<_>>().join(" ")
}
