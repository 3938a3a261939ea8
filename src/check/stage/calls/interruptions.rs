//! Calls that a user stopped. Their completions reject them, and only the event behind says why.

use super::{CallTable, CorrectedCall};
use crate::facts::Facts;
use crate::profile::CallOutcome;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// A rejected call that may have been interrupted, and what is to be reported if it was not.
#[derive(Debug)]
pub(super) struct RejectedCall {
    pub(super) row: Option<usize>,
    pub(super) found: Option<Diagnostic>,
}

impl CallTable<'_> {
    /// Observes an event behind the completions of rejected calls.
    pub(super) fn settle_rejected(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if facts.rare.as_ref().is_some_and(|rare| rare.interrupts_calls) {
            for call in std::mem::take(&mut self.rejected) {
                found.extend(call.found.filter(|found| found.rule != Rule::DeniedCall));
                self.interrupted(call.row);
            }
        } else if facts.completed().is_empty() {
            self.report_rejected(found);
        }
    }

    /// Nothing interrupted these calls.
    pub(crate) fn report_rejected(&mut self, found: &mut Vec<Diagnostic>) {
        found.extend(self.rejected.drain(..).filter_map(|call| call.found));
    }

    fn interrupted(&mut self, row: Option<usize>) {
        let (counted, outcome) = (CallOutcome::Rejected, CallOutcome::Failed);
        self.counts.replace(counted, outcome);
        let Some(row) = row.and_then(|row| self.rows.get_mut(row)) else { return };
        row.outcome = Some(outcome);
        let (id, tool) = (row.id.clone(), row.tool.clone());
        self.corrected.push(CorrectedCall { id, tool, counted, outcome });
    }
}
