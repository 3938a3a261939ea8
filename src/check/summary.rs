//! The result of checking one stream, as plain data.

use std::collections::BTreeMap;

use super::note::Note;
use super::stage::calls::{CallCounts, CallRow};
use super::stats::RunStats;
use super::unknown::UnknownName;
use crate::facts::RunFacts;
use crate::profile::ExitStatus;
use crate::rules::Rule;

/// Whether a stream keeps its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There is no diagnostic of severity error.
    Conforming,
    /// There is at least one.
    NonConforming,
}

impl Verdict {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conforming => "conforming",
            Self::NonConforming => "non-conforming",
        }
    }
}

/// How the run ended that wrote the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The stream says so, or it did not end too early and nothing says that the run failed.
    Succeeded,
    /// The stream or the exit status says so.
    Failed,
    /// The stream ended before the run did.
    Truncated,
    /// A timeout fired before the run was over.
    TimedOut,
}

impl Outcome {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Truncated => "truncated",
            Self::TimedOut => "timed-out",
        }
    }
}

/// The format that the agent was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One event on each line.
    StreamJson,
    /// One object at the end of the run.
    Json,
}

impl Format {
    /// The name in reports and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::StreamJson => "stream-json",
            Self::Json => "json",
        }
    }
}

/// The result of checking one stream.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamSummary {
    /// The stream's name: a path, or `-`.
    pub name: String,
    /// The name of the profile.
    pub profile: String,
    /// The format, as far as the stream shows it.
    pub format: Format,
    /// Whether the stream keeps its contract.
    pub verdict: Verdict,
    /// How the run ended.
    pub outcome: Outcome,
    /// Lines, including blank ones; of an array, its elements.
    pub lines: u64,
    /// Lines that are events.
    pub events: u64,
    /// Size of the stream in bytes.
    pub bytes: u64,
    /// The SHA-256 hash of these bytes in hexadecimal digits, if it was asked for.
    pub sha256: Option<String>,
    /// Diagnostics of severity error.
    pub errors: u64,
    /// Diagnostics of severity warning.
    pub warnings: u64,
    /// Diagnostics that a baseline accepts; they are in no other count.
    pub known: u64,
    /// Diagnostics of each rule that was raised, including those that were not reported.
    pub rule_counts: BTreeMap<Rule, u64>,
    /// The session's id; the first, if it changed.
    pub session_id: Option<String>,
    /// How many tool calls there were.
    pub call_counts: CallCounts,
    /// The tool calls in the order in which they appeared; a limited number, from which a call
    /// that did not succeed is not left out for one that did.
    pub tool_calls: Vec<CallRow>,
    /// The agent's exit status, if it is known.
    pub exit_status: Option<ExitStatus>,
    /// The last lines of its standard error, if the run did not succeed and they are known.
    pub stderr: Vec<String>,
    /// What the agent reports about the run.
    pub facts: RunFacts,
    /// Size of the assistant's text in bytes.
    pub text_bytes: u64,
    /// What the profile does not know: event tags, tools and values. With
    /// [`CheckerBuilder::stats`](super::CheckerBuilder::stats), members of known events, too.
    pub unknown: Vec<UnknownName>,
    /// Figures of the run, if they were asked for.
    pub stats: Option<Box<RunStats>>,
    /// What else a reader of the report should know.
    pub notes: Vec<Note>,
}
