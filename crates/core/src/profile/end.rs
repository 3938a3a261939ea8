//! How the stream ends.

use serde::Deserialize;

use super::{AfterRule, ErrorRule, EventRule, ExitCodes, ReasonText};
use crate::profile::path::Conditions;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EndRules {
    pub policy: TerminalPolicy,
    /// Events that end the run; the first rule that matches.
    pub rules: Vec<TerminalRule>,
    /// Events with the outcome so far, for a terminal event without one; the last counts.
    pub progress: Vec<ProgressRule>,
    /// Events that open a new turn after a terminal event.
    pub reopen: Vec<EventRule>,
    /// Terminal events of turns that another turn must follow.
    pub more_turns: Vec<EventRule>,
    /// Whether they also open one if no terminal event came.
    pub only_last_turn_ends: bool,
    /// Events that may follow the terminal event.
    pub after: Vec<AfterRule>,
    /// Events that report an error; the first rule that matches.
    pub errors: Vec<ErrorRule>,
    pub exit: ExitCodes,
    /// Texts of errors, and lines of standard error, that say why the run failed; the first that
    /// matches.
    pub reasons: Vec<ReasonText>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TerminalPolicy {
    /// A terminal event is the last one.
    #[default]
    Required,
    /// Without a terminal event, the end of the stream is the end of the run.
    Optional,
    /// The end of the stream is the end of the run; outcome events may come at any time, and one
    /// failure is a failed run.
    None,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TerminalRule {
    pub outcome: TerminalOutcome,
    /// Whether it is the end only if nothing follows.
    #[serde(default)]
    pub provisional: bool,
    /// What it is if the exit status is unknown, because the run may go on after it.
    pub without_status: Option<WithoutStatus>,
    pub when: Conditions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WithoutStatus {
    /// The end, as far as the stream shows.
    End,
    /// The run was cut short.
    CutShort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TerminalOutcome {
    Success,
    Failure,
    /// The latest progress decides.
    Neutral,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgressRule {
    pub outcome: RunProgress,
    pub when: Conditions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunProgress {
    Success,
    Failure,
    /// More must follow: a stream that ends here is truncated.
    Unfinished,
    /// What was unfinished has ended; it changes nothing else.
    Finished,
}

impl RunProgress {
    /// What it says about the run, if it says how it ended.
    pub(crate) fn outcome(self) -> Option<RunOutcome> {
        match self {
            Self::Success => Some(RunOutcome::Success),
            Self::Failure => Some(RunOutcome::Failure),
            Self::Unfinished | Self::Finished => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunOutcome {
    Success,
    Failure,
}
