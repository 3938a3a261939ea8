//! The result of checking one stream, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::error_text::error_line;
use super::event::TextSegment;
use super::note::Note;
use super::stage::calls::{CallCounts, ToolCall};
use super::stats::{RunStats, is_zero};
use super::unknown::UnknownName;
use crate::facts::{RunFacts, message_in};
use crate::profile::ExitStatus;
use crate::rules::Rule;
use crate::rules::names::names;

names! {
    /// Whether a stream keeps its contract.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
    pub enum Verdict {
        /// There is no diagnostic of severity error.
        Conforming = "conforming",
        /// There is at least one.
        NonConforming = "non-conforming",
    }
}

names! {
    /// How the run ended that wrote the stream.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
    #[non_exhaustive]
    pub enum Outcome {
        /// The stream says so, or it did not end too early and nothing says that the run failed.
        Succeeded = "succeeded",
        /// The stream or the exit status says so.
        Failed = "failed",
        /// The stream ended before the run did.
        Truncated = "truncated",
        /// A timeout fired before the run was over.
        TimedOut = "timed-out",
    }
}

names! {
    /// The format that the agent was asked for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[non_exhaustive]
    pub enum AgentFormat {
        /// One event on each line.
        StreamJson = "stream-json",
        /// One object at the end of the run.
        Json = "json",
    }
}

/// The result of checking one stream. As JSON it has the names of the JSON report.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct StreamSummary {
    /// The stream's name: a path, or `-`.
    #[serde(rename = "path")]
    pub name: String,
    /// The name of the profile.
    pub profile: String,
    /// The format, as far as the stream shows it.
    pub format: AgentFormat,
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
    /// The line in the middle of which the stream ends.
    #[serde(skip)]
    pub cut_line: Option<u64>,
    /// The line of the last event; 0 if there is none.
    #[serde(skip)]
    pub last_event_line: u64,
    /// The SHA-256 hash of these bytes in hexadecimal digits, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Diagnostics of severity error.
    pub errors: u64,
    /// Diagnostics of severity warning.
    pub warnings: u64,
    /// Diagnostics that a baseline accepts; they are in no other count.
    #[serde(skip_serializing_if = "is_zero")]
    pub known: u64,
    /// Diagnostics of each rule that was raised, including those that were not reported.
    #[serde(serialize_with = "by_name")]
    pub rule_counts: BTreeMap<Rule, u64>,
    /// The id of the session: the first in the stream, or the latest if the agent announces that
    /// it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The tool calls in the order in which they appeared; a limited number, from which a call
    /// that did not succeed is not left out for one that did.
    pub tool_calls: Vec<ToolCall>,
    /// How many tool calls there were.
    #[serde(rename = "tool_call_counts")]
    pub call_counts: CallCounts,
    /// The agent's exit status, if it is known.
    #[serde(flatten)]
    pub exit_status: Option<ExitStatus>,
    /// The last lines of its standard error, if the run did not succeed and they are known.
    #[serde(rename = "stderr_tail", skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
    /// What the agent reports about the run.
    #[serde(flatten)]
    pub facts: RunFacts,
    /// Size of the assistant's text in bytes.
    pub text_bytes: u64,
    /// The text that was open at the end of the stream, if events are made.
    #[serde(skip)]
    pub(crate) open_text: Option<TextSegment<'static>>,
    /// What the profile does not know: event tags, tools and values. With
    /// [`CheckerBuilder::stats`](super::CheckerBuilder::stats), members of known events, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownName>,
    /// Figures of the run, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<Box<RunStats>>,
    /// What else a reader of the report should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

impl StreamSummary {
    /// Whether the stream keeps its contract, and the run succeeded.
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Conforming && self.outcome == Outcome::Succeeded
    }

    /// The line of standard error that says what went wrong, if the run did not succeed and there
    /// is one. Of a provider's answer in it only the message is left.
    pub fn error_line(&self) -> Option<String> {
        Some(message_in(&error_line(&self.stderr)?).into_owned())
    }

    /// Whether the command was started again after this run, so that it decides nothing.
    pub fn was_tried_again(&self) -> bool {
        self.notes.iter().any(|note| matches!(note, Note::TriedAgain { .. }))
    }
}

fn by_name<S: Serializer>(counts: &BTreeMap<Rule, u64>, to: S) -> Result<S::Ok, S::Error> {
    let by_name: BTreeMap<&str, u64> = counts.iter().map(|(rule, it)| (rule.name(), *it)).collect();
    by_name.serialize(to)
}
