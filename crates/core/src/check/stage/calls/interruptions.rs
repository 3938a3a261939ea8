//! Calls that a user stopped. Their completions reject them, and only the event behind says why.

use super::CallTable;
use crate::check::{CallChange, CallUpdate};
use crate::facts::Facts;
use crate::limits::CALLS_REJECTED_MAX;
use crate::profile::CallOutcome;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// A rejected call that may have been interrupted, and the diagnostic if it was not.
#[derive(Debug)]
pub(super) struct RejectedCall {
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) found: Option<Diagnostic>,
}

impl<'p> CallTable<'p> {
    /// Observes an event behind the completions of rejected calls.
    pub(super) fn settle_rejected<'f>(
        &mut self,
        facts: &Facts<'_>,
        updates: &mut Vec<CallUpdate<'f>>,
        found: &mut Vec<Diagnostic>,
    ) where
        'p: 'f,
    {
        if facts.rare.as_ref().is_some_and(|rare| rare.interrupts_calls) {
            for call in std::mem::take(&mut self.rejected) {
                let (instead_of, outcome) = (CallOutcome::Rejected, CallOutcome::Failed);
                if self.rows.outcome(call.number).is_some_and(|known| known != instead_of) {
                    // The agent has said why it was refused.
                    found.extend(call.found);
                    continue;
                }
                found.extend(call.found.filter(|found| found.rule != Rule::DeniedCall));
                self.counts.replace(instead_of, outcome);
                self.rows.change(call.number, |row| row.outcome = Some(outcome));
                let change = CallChange::Corrected { instead_of, outcome };
                let (id, rules) = (call.id.into(), self.rules);
                let update = CallUpdate::of_other_event(change, call.number, id, rules);
                updates.push(self.corrected(update));
            }
        } else if facts.completed().is_empty() {
            self.report_rejected(found);
        }
    }

    /// Keeps a call until the next event; returns what is known about an earlier one that is no
    /// longer kept.
    pub(super) fn keep_rejected(&mut self, call: RejectedCall) -> Option<Diagnostic> {
        self.rejected.push_back(call);
        let is_full = self.rejected.len() > CALLS_REJECTED_MAX;
        if is_full { self.rejected.pop_front()?.found } else { None }
    }

    /// Nothing interrupted these calls.
    #[inline]
    pub(crate) fn report_rejected(&mut self, found: &mut Vec<Diagnostic>) {
        if self.rejected.is_empty() {
            return;
        }
        found.extend(self.rejected.drain(..).filter_map(|call| call.found));
    }
}
