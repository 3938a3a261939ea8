//! What the report says about tool calls.

use serde::{Deserialize, Serialize, Serializer};

use crate::profile::CallOutcome;

/// A tool call as the report lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// Its number among the calls of the stream, from 1.
    #[serde(skip)]
    pub number: u64,
    /// Its id.
    pub id: String,
    /// Its tool, if an event names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How it ended; none while it is open.
    #[serde(serialize_with = "outcome_name")]
    pub outcome: Option<CallOutcome>,
    /// The line of its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_line: Option<u64>,
    /// The line of its completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_line: Option<u64>,
    /// Of a call that did not succeed: its purpose, such as a path or a command; its start,
    /// if it is long, and empty if nothing shows it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn outcome_name<S: Serializer>(of: &Option<CallOutcome>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(of.map_or("unfinished", CallOutcome::name))
}

/// How many tool calls there were, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallCounts {
    /// Calls started, or completed without a start.
    pub total: u64,
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
}

impl CallCounts {
    pub(super) fn add(&mut self, outcome: CallOutcome) {
        *self.count(outcome) += 1;
    }

    /// A call that was counted ended in another way.
    pub(super) fn replace(&mut self, counted: CallOutcome, outcome: CallOutcome) {
        *self.count(counted) -= 1;
        self.add(outcome);
    }

    fn count(&mut self, outcome: CallOutcome) -> &mut u64 {
        match outcome {
            CallOutcome::Succeeded => &mut self.succeeded,
            CallOutcome::Failed => &mut self.failed,
            CallOutcome::Rejected => &mut self.rejected,
            CallOutcome::Denied => &mut self.denied,
            CallOutcome::Unknown => &mut self.unknown,
        }
    }
}
