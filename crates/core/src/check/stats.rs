//! Where the time of a run went and what its tools did, as plain data.

use serde::{Deserialize, Serialize};

use crate::profile::CallOutcome;

/// Figures of one run. Times and durations come from the stream's own times alone: what it does
/// not show is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunStats {
    /// Events of the run that have a time.
    pub timed_events: u64,
    /// The time from the first event that has one to the last one, without the time between turns.
    /// `calls_ms` and `other_ms` are its parts. They are absent if the stream does not show when
    /// each completed call started and ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// The time in which a tool call was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_ms: Option<u64>,
    /// The time in which no tool call was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_ms: Option<u64>,
    /// Texts of the assistant: segments that are not empty.
    pub texts: u64,
    /// The size of all of them in bytes.
    pub text_bytes: u64,
    /// The size of the longest of them in bytes.
    pub longest_text_bytes: u64,
    /// Blocks of the agent's reasoning: those that the stream shows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_blocks: u64,
    /// The size of all of them in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_bytes: u64,
    /// The size of the longest of them in bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub longest_reasoning_bytes: u64,
    /// The calls of each tool, the most frequent tool first.
    pub tools: Vec<ToolStats>,
    /// The sub-agents that the stream shows at work, at most 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_agents: Vec<SubAgentStats>,
    /// The calls that took longest, at most ten.
    pub slowest_calls: Vec<SlowCall>,
    /// The longest times without an event while no tool call was open, at most ten.
    pub silences: Vec<IdlePeriod>,
}

/// The calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolStats {
    /// The tool; absent for the calls whose tool no event names, and for those of the tools for
    /// which there is no room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// All calls. The six counts that follow are their parts.
    pub calls: u64,
    /// Calls that succeeded.
    pub succeeded: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls rejected by the user.
    pub rejected: u64,
    /// Calls denied by a permission rule.
    pub denied: u64,
    /// Calls that completed without an outcome.
    pub unknown: u64,
    /// Calls that never completed.
    pub unfinished: u64,
    /// Calls of which both halves have a time, or of which the agent says how long they took. The
    /// durations are theirs.
    pub timed: u64,
    /// The sum of the durations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<u64>,
    /// The median; of an even number, between the two in the middle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<u64>,
    /// The longest duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_ms: Option<u64>,
}

/// What a sub-agent did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubAgentStats {
    /// The id of the call that started it.
    pub id: String,
    /// The tool of that call, if an event names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it was asked, in short, if the profile knows where that is; its start, if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The line of that call.
    pub started_line: u64,
    /// The model of its messages; the last, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its tool calls.
    pub calls: u64,
    /// Tokens sent to the model, from a cache or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
}

/// A call that took long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SlowCall {
    /// From its start to its completion, or as the agent says.
    pub duration_ms: u64,
    /// Its id.
    pub id: String,
    /// Its tool, if an event names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it is about, such as a path or a command, if the profile knows where that is; its
    /// start, if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The line of its start.
    pub started_line: u64,
    /// The line of its completion.
    pub completed_line: u64,
}

/// A time without an event that has a time, while no tool call was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IdlePeriod {
    /// How long it was.
    pub duration_ms: u64,
    /// The line of the event before it.
    pub after_line: u64,
    /// The line of the event that ends it.
    pub before_line: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ToolStats {
    pub(crate) fn count(&mut self, outcome: CallOutcome) -> &mut u64 {
        match outcome {
            CallOutcome::Succeeded => &mut self.succeeded,
            CallOutcome::Failed => &mut self.failed,
            CallOutcome::Rejected => &mut self.rejected,
            CallOutcome::Denied => &mut self.denied,
            CallOutcome::Unknown => &mut self.unknown,
        }
    }
}
