//! How many tool calls there were, and how each ended.

use crate::rules::diagnostic::Diagnostic;
use crate::profile::CallOutcome;
use crate::rules::Rule;

/// A tool call as the report lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// Its id.
    pub id: String,
    /// Its tool, if an event names one.
    pub tool: Option<String>,
    /// How it ended; none while it is open.
    pub outcome: Option<CallOutcome>,
    /// The line of its start.
    pub started_line: Option<u64>,
    /// The line of its completion.
    pub completed_line: Option<u64>,
}

/// How many tool calls there were, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls started, or completed without a start.
    pub total: u64,
    /// Of these, those that succeeded.
    pub succeeded: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those rejected by the user.
    pub rejected: u64,
    /// Those denied by a permission rule.
    pub denied: u64,
    /// Those that completed without saying how.
    pub unknown: u64,
    /// Those that never completed.
    pub unfinished: u64,
}

impl CallCounts {
    /// Counts a completion.
    pub(super) fn add(&mut self, outcome: CallOutcome) {
        let count = match outcome {
            CallOutcome::Succeeded => &mut self.succeeded,
            CallOutcome::Failed => &mut self.failed,
            CallOutcome::Rejected => &mut self.rejected,
            CallOutcome::Denied => &mut self.denied,
            CallOutcome::Unknown => &mut self.unknown,
        };
        *count += 1;
    }

    /// What is to be said where a run succeeded: there were calls, and none was let through.
    pub fn refusal(self) -> Option<Diagnostic> {
        let all = self.total > 0 && self.total == self.rejected + self.denied;
        all.then(|| {
            let one = self.total == 1;
            let calls = if one { "its tool call was" } else { "all its tool calls were" };
            let message = format!("the run succeeded, and {calls} refused");
            Diagnostic::new(Rule::RefusedCalls, message)
        })
    }
}
