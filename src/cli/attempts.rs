//! Retries: whether a run that failed is tried again, and when.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ndjson_check_core::{
    AgentFormat, Diagnostic, EndReason, ExitStatus, NoRetry, Note, Outcome, ProducerExit,
    RetryAfter, Retryable, Rule, RunFacts, Severity, StopReason, StreamSummary,
};

use super::args::{Cli, RetryArgs};
use super::error::CliError;

/// Longest wait for a retry. A job that waits longer costs more than a person who runs it again.
const WAIT_MAX: Duration = Duration::from_secs(3_600);

/// The wait before the second attempt, if the provider does not name one, and the longest one: each
/// is twice as long as the one before.
const BACK_OFF: Duration = Duration::from_secs(10);
const BACK_OFF_MAX: Duration = Duration::from_secs(300);

/// Attempts whose copies are compared with other files.
const COMPARED_MAX: u64 = 100;

/// In the name of a copy: the number of the attempt.
const PLACE: &str = "{attempt}";

#[derive(Debug, Clone)]
pub(super) struct Attempt {
    args: RetryArgs,
    /// From 1.
    pub(super) number: u64,
    /// Known before the summary: whether the command ended by itself.
    pub(super) ended_alone: Rc<Cell<bool>>,
    /// Whether it exceeded a limit, or did what an expectation forbids.
    broke_demand: bool,
    /// How many attempts have begun, if more than one.
    begun: Rc<Cell<u64>>,
    /// How long to wait for the next attempt, if there is one.
    pub(super) next: Option<Duration>,
    pub(super) reason: Option<EndReason>,
}

impl Attempt {
    pub(super) fn first(args: &RetryArgs) -> Self {
        Self {
            args: args.clone(),
            number: 1,
            ended_alone: Rc::default(),
            broke_demand: false,
            begun: Rc::default(),
            next: None,
            reason: None,
        }
    }

    pub(super) fn following(&self) -> Self {
        let begun = Rc::clone(&self.begun);
        Self { number: self.number + 1, begun, ..Self::first(&self.args) }
    }

    pub(super) fn begin(&self) {
        self.begun.set(self.number);
    }

    /// How many attempts there may be.
    pub(super) fn most(&self) -> u64 {
        self.args.retries.map_or(1, |retries| retries.get().saturating_add(1))
    }

    pub(super) fn name(&self, command: &str) -> String {
        match self.number {
            1 => command.to_owned(),
            number => format!("{command}, attempt {number}"),
        }
    }

    pub(super) fn command_in(name: &str) -> &str {
        let number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        match name.rsplit_once(", attempt ") {
            Some((command, rest)) if number(rest) => command,
            _ => name,
        }
    }

    pub(super) fn copy(&self, pattern: &Path) -> PathBuf {
        match pattern.to_str() {
            Some(name) => name.replace(PLACE, &self.number.to_string()).into(),
            None => pattern.to_owned(),
        }
    }

    /// Where the copies of the attempts are that have begun.
    pub(super) fn recordings(&self, pattern: &Path) -> String {
        let copy = |number| Self { number, ..self.clone() }.copy(pattern).display().to_string();
        match self.begun.get() {
            0 | 1 => format!("its recording: {}", copy(1)),
            2 => format!("recordings of its attempts: {} and {}", copy(1), copy(2)),
            last => format!("recordings of its attempts: {} to {}", copy(1), copy(last)),
        }
    }

    pub(super) fn observe(&mut self, diagnostic: &Diagnostic) {
        let is_demand = matches!(diagnostic.rule, Rule::ExpectationFailed | Rule::LimitExceeded);
        self.broke_demand |= is_demand && diagnostic.severity == Severity::Error;
    }

    /// What its summary must say about the next attempt.
    pub(super) fn decide(&mut self, summary: &StreamSummary) -> Option<Note> {
        self.args.retries?;
        if summary.outcome == Outcome::Succeeded {
            return None;
        }
        let wait = match summary.facts.retry_after {
            Some(RetryAfter::Seconds(seconds)) => Duration::from_secs(seconds),
            // A time that has passed says nothing of the load now.
            Some(RetryAfter::At(time)) => {
                Duration::from_millis(time).saturating_sub(now()).max(back_off(self.number))
            }
            _ => back_off(self.number),
        };
        // A demand comes first: whether the command ended before we stopped it is a race.
        Some(if self.broke_demand {
            Note::NotTriedAgain(NoRetry::BrokeDemand)
        } else if summary.outcome == Outcome::TimedOut || !self.ended_alone.get() {
            Note::NotTriedAgain(NoRetry::Stopped)
        } else if let Some(no_retry) = self.refusal(summary) {
            Note::NotTriedAgain(no_retry)
        } else if self.number == self.most() {
            Note::NotTriedAgain(NoRetry::LastAttempt)
        } else if may_have_written(summary) && !self.args.retry_after_writes {
            Note::NotTriedAgain(NoRetry::MayHaveWritten)
        } else if wait > WAIT_MAX {
            Note::NotTriedAgain(NoRetry::TooLate)
        } else {
            (self.next, self.reason) = (Some(wait), summary.facts.reason);
            Note::TriedAgain { attempt: self.number, wait }
        })
    }

    /// Why the user does not want a retry after this failure, if so.
    fn refusal(&self, summary: &StreamSummary) -> Option<NoRetry> {
        let facts = &summary.facts;
        if !self.args.retry_on.is_empty() {
            let is_among = facts.reason.is_some_and(|reason| self.args.retry_on.contains(&reason));
            return (!is_among).then_some(NoRetry::OtherReason);
        }
        match facts.retryable {
            Some(Retryable::Yes | Retryable::Later) => None,
            Some(_) => Some(NoRetry::NotRetryable),
            None => Some(NoRetry::NotKnown),
        }
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Whether a command ended by itself: we did not end it, and no signal did.
pub(super) fn ended_alone(exit: &ProducerExit) -> bool {
    let was_stopped = exit.stop.as_ref().is_some_and(|stop| *stop != StopReason::Lingered);
    let was_killed = matches!(exit.status, Some(ExitStatus::Signal(_))) && exit.stop.is_none();
    !(was_stopped || was_killed || exit.was_interrupted)
}

fn back_off(number: u64) -> Duration {
    let doubled = u32::try_from(number - 1).ok().and_then(|times| 2_u32.checked_pow(times));
    doubled.map_or(BACK_OFF_MAX, |times| BACK_OFF.saturating_mul(times).min(BACK_OFF_MAX))
}

/// Whether a second run may find something else than the first. What a call changed that did not
/// end is unknown.
fn may_have_written(summary: &StreamSummary) -> bool {
    let (calls, wrote) = (&summary.call_counts, summary.facts.may_have_written);
    may_hide_calls(summary) || calls.total > 0 && (wrote.unwrap_or(true) || calls.unfinished > 0)
}

/// Whether the run may have called tools that the stream does not show: on a line that is lost, or
/// in the steps before its single object.
fn may_hide_calls(summary: &StreamSummary) -> bool {
    let RunFacts { turns, usage, .. } = &summary.facts;
    let has_steps = match turns {
        Some(0 | 1) => usage.output_tokens.is_some_and(|count| count > 0),
        Some(_) => true,
        None => usage.output_tokens != Some(0),
    };
    let has_lost_line = summary.notes.iter().any(|note| matches!(note, Note::LineLost { .. }));
    has_lost_line || summary.format == AgentFormat::Json && has_steps
}

/// The names of the copies of the first attempts.
pub(super) fn copies(cli: &Cli) -> Vec<PathBuf> {
    let Some(pattern) = &cli.tee else { return Vec::new() };
    let first = Attempt::first(&cli.retry);
    let most = if names_attempt(pattern) { first.most().min(COMPARED_MAX) } else { 1 };
    (1..=most).map(|number| Attempt { number, ..first.clone() }.copy(pattern)).collect()
}

fn names_attempt(pattern: &Path) -> bool {
    pattern.to_str().is_some_and(|name| name.contains(PLACE))
}

/// Refuses one file for the copies of several attempts.
pub(super) fn refuse(cli: &Cli) -> Result<(), CliError> {
    if cli.retry.retries.is_some() && cli.tee.as_ref().is_some_and(|it| !names_attempt(it)) {
        let message = "with --retries, each attempt has its own file: --tee run.{attempt}.ndjson";
        return Err(CliError::usage(message));
    }
    Ok(())
}
