//! How the stream ends.

use serde::Deserialize;

use super::{ErrorRule, EventRule, ExitCodes};
use crate::profile::path::{Conditions, Path};

/// How the stream ends.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndRules {
    /// Whether there is a terminal event.
    #[serde(default)]
    pub policy: TerminalPolicy,
    /// The events that end the run; the first rule that holds.
    #[serde(default)]
    pub rules: Vec<TerminalRule>,
    /// Events that say how the run goes, for an end that does not: the last that came counts.
    #[serde(default)]
    pub progress: Vec<ProgressRule>,
    /// Events that open a new turn after a terminal event.
    #[serde(default)]
    pub reopen: Vec<EventRule>,
    /// Events that may follow the terminal event.
    #[serde(default)]
    pub after: Vec<EventRule>,
    /// Where a terminal event has the run's duration in milliseconds.
    pub duration_ms: Option<Path>,
    /// Where a terminal event counts tokens.
    #[serde(default)]
    pub usage: UsagePaths,
    /// Events that report an error; the first rule that holds.
    #[serde(default)]
    pub errors: Vec<ErrorRule>,
    /// What the producer's exit codes mean.
    #[serde(default)]
    pub exit: ExitCodes,
}

/// Whether the producer ends its stream with a terminal event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TerminalPolicy {
    /// A terminal event is the last one.
    #[default]
    Required,
    /// A terminal event may come; without one, the end of the stream is the end of the run.
    Optional,
    /// The end of the stream is the end of the run; outcome events may come at any time, and one
    /// failure is a failed run.
    None,
}

/// An event that ends the run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TerminalRule {
    /// What it says of the run.
    pub outcome: TerminalOutcome,
    /// Whether it is the end only if nothing follows it.
    #[serde(default)]
    pub provisional: bool,
    /// These hold for the event.
    pub when: Conditions,
}

/// What a terminal event says of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TerminalOutcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
    /// It ended; the latest progress says how.
    Neutral,
}

/// An event that says how the run goes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgressRule {
    /// How.
    pub outcome: RunOutcome,
    /// These hold for the event.
    pub when: Conditions,
}

/// What the producer says of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunOutcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
}

/// Where token counts are.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsagePaths {
    /// Tokens sent to the model.
    pub input_tokens: Option<Path>,
    /// Tokens it wrote.
    pub output_tokens: Option<Path>,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<Path>,
    /// Tokens written to the cache.
    pub cache_write_tokens: Option<Path>,
}
