//! What the report says about tool calls.

use crate::profile::CallOutcome;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// A tool call as the report lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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

    /// Reported where a run succeeded: there were calls, and each was refused.
    pub(crate) fn all_refused(self) -> Option<Diagnostic> {
        let all = self.total > 0 && self.total == self.rejected + self.denied;
        all.then(|| {
            let calls =
                if self.total == 1 { "its tool call was" } else { "all its tool calls were" };
            let message = format!("the run succeeded although {calls} refused");
            Diagnostic::new(Rule::AllCallsRefused, message)
        })
    }
}
