//! Why a run ended, as far as a profile says it, and whether a retry is worth it.

use serde::{Deserialize, Serialize};

use super::{ExitStatus, Profile};
use crate::profile::path::{Path, Scope};
use crate::profile::pattern::LazyRegex;
use crate::rules::names::names;

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum ReasonSource {
    /// The event means this one.
    This(EndReason),
    /// The event names it there.
    At(Path),
}

impl TryFrom<String> for ReasonSource {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.starts_with('/') {
            return Ok(Self::At(Path::try_from(text.as_str())?));
        }
        EndReason::named(&text).map(Self::This).ok_or_else(|| format!("no such reason: {text}"))
    }
}

impl ReasonSource {
    pub(crate) fn reason(&self, scope: Scope<'_>) -> Option<EndReason> {
        match self {
            Self::This(reason) => Some(*reason),
            Self::At(path) => EndReason::named(&path.find(scope)?.as_str()?),
        }
    }
}

names! {
    all
    /// Why a run ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    #[non_exhaustive]
    pub enum EndReason {
        /// The agent finished.
        Completed = "completed",
        /// It is not signed in, or not allowed to use the model.
        Auth = "auth",
        /// The account has no money, or no quota that comes back by itself.
        Billing = "billing",
        /// The provider allows no more requests for now.
        RateLimit = "rate-limit",
        /// The provider failed, or has too much to do.
        Overloaded = "overloaded",
        /// The provider could not be reached, or the connection was lost.
        Network = "network",
        /// The conversation no longer fits the model.
        ContextOverflow = "context-overflow",
        /// The answer reached the limit of the model's output.
        OutputLimit = "output-limit",
        /// The model refused to answer.
        Refusal = "refusal",
        /// A filter of the provider held the answer back.
        ContentFilter = "content-filter",
        /// It reached its limit of turns.
        MaxTurns = "max-turns",
        /// It reached its limit of cost or tokens.
        Budget = "budget",
        /// It was not allowed to do what it needed to.
        Permission = "permission",
        /// A tool failed, and the agent gave up.
        Tool = "tool",
        /// A user ended it, or a signal that asks for an end.
        Interrupted = "interrupted",
        /// A signal killed it that leaves no time to end, such as that of a system without memory.
        Killed = "killed",
        /// A time limit ended it.
        Timeout = "timeout",
        /// The agent itself broke.
        Crash = "crash",
        /// Its configuration, or what it was called with, is wrong.
        Config = "config",
        /// The provider does not have the model.
        ModelNotFound = "model-not-found",
        /// Nothing says why.
        Unknown = "unknown",
    }
}

impl EndReason {
    /// Whether a retry is worth it. Unknown if the run was interrupted, crashed, or does not say
    /// why it failed.
    pub(crate) fn retryable(self) -> Option<Retryable> {
        match self {
            Self::Overloaded | Self::Network => Some(Retryable::Yes),
            Self::RateLimit => Some(Retryable::Later),
            Self::Completed
            | Self::Interrupted
            | Self::Killed
            | Self::Timeout
            | Self::Crash
            | Self::Unknown => None,
            Self::Auth
            | Self::Billing
            | Self::ContextOverflow
            | Self::OutputLimit
            | Self::Refusal
            | Self::ContentFilter
            | Self::MaxTurns
            | Self::Budget
            | Self::Permission
            | Self::Tool
            | Self::Config
            | Self::ModelNotFound => Some(Retryable::No),
        }
    }

    /// Whether it may pass with time alone, so that a time for a retry makes sense.
    pub(crate) fn may_pass(self) -> bool {
        self.retryable().is_some_and(|it| it != Retryable::No) || self == Self::Billing
    }

    /// Why a run ended whose command `timeout` or a shell gave this status.
    pub(crate) fn of_status(status: ExitStatus) -> Option<Self> {
        match status {
            ExitStatus::Code(124) => Some(Self::Timeout),
            // It cannot be executed, or is not there.
            ExitStatus::Code(126 | 127) => Some(Self::Config),
            _ => None,
        }
    }

    /// Why a run ended whose process a signal ended, from the status that a shell reports. Other
    /// statuses say nothing.
    pub(crate) fn of_signal(status: ExitStatus) -> Option<Self> {
        const HANGUP: u8 = 1;
        const INTERRUPT: u8 = 2;
        const QUIT: u8 = 3;
        const KILL: u8 = 9;
        const TERMINATE: u8 = 15;
        // Illegal instruction, trap, abort, bus error, arithmetic, segmentation fault.
        const CRASHES: [u8; 6] = [4, 5, 6, 7, 8, 11];
        match status.shell_code().checked_sub(128)? {
            HANGUP | INTERRUPT | QUIT | TERMINATE => Some(Self::Interrupted),
            KILL => Some(Self::Killed),
            signal if CRASHES.contains(&signal) => Some(Self::Crash),
            _ => matches!(status, ExitStatus::Signal(_)).then_some(Self::Killed),
        }
    }
}

names! {
    /// Whether a retry of a run that did not succeed is worth it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
    #[non_exhaustive]
    pub enum Retryable {
        /// The same run may succeed now.
        Yes = "yes",
        /// The same run fails again until something is changed.
        No = "no",
        /// The same run may succeed after some time.
        Later = "later",
    }
}

/// A text of an error, or a line of standard error, that says why the run failed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReasonText {
    /// What the group `after` matches says when a retry is worth it.
    pub matches: LazyRegex,
    pub reason: EndReason,
}

impl Profile {
    /// The reason in the text of an error or in a line of standard error, and the text after which
    /// a retry is worth it.
    pub(crate) fn reason_in<'t>(&self, text: &'t str) -> (Option<EndReason>, Option<&'t str>) {
        match ReasonText::find(&self.end.reasons, text) {
            (None, _) => (self.known_line(text).and_then(|line| line.reason), None),
            found => found,
        }
    }

    /// Whether the agent goes on after a line of standard error that has a reason.
    pub(crate) fn may_recover_after(&self, line: &str) -> bool {
        self.known_line(line).is_some_and(|line| line.may_recover)
    }
}

impl ReasonText {
    /// The reason that the first of these finds in a text, and the text after which a retry is
    /// worth it.
    fn find<'t>(rules: &[Self], text: &'t str) -> (Option<EndReason>, Option<&'t str>) {
        let reason = rules.iter().find(|rule| rule.matches.is_in(text)).map(|rule| rule.reason);
        let with_time = |rule: &&Self| rule.matches.as_str().contains("(?<after>");
        let mut with_time = rules.iter().filter(with_time).filter(|_| reason.is_some());
        let after = with_time.find_map(|rule| rule.matches.group(text, "after"));
        (reason, after)
    }
}
