//! Calls of which another event than their completion says how they ended.

use super::call_name::{denied, named};
use super::{CallTable, Effect};
use crate::check::{CallChange, CallUpdate};
use crate::facts::{Call, Facts};
use crate::profile::{CallOutcome, WithoutStart};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use std::hash::BuildHasher as _;

/// A note on a refused call where no event shows calls.
const ONLY_REFUSED: &str =
    "only refused calls are named here; the events of a run show whether others succeeded";

impl<'p> CallTable<'p> {
    pub(crate) fn observe_corrections<'f>(
        &mut self,
        facts: &'f Facts<'_>,
        updates: &mut Vec<CallUpdate<'f>>,
        found: &mut Vec<Diagnostic>,
    ) where
        'p: 'f,
    {
        for (call, outcome) in facts.corrected() {
            let is_only_named = call.rules.without_start == WithoutStart::Call && !self.shows_calls;
            let (update, diagnostic) = if is_only_named {
                let key = self.hash(&call.id);
                let (update, refused) = self.complete_unopened(key, call, *outcome, facts.line);
                (update, refused.map(|it| it.note(ONLY_REFUSED)))
            } else {
                self.correct(call, *outcome)
            };
            updates.extend(update.map(|update| self.corrected(update)));
            let about_call = diagnostic.map(|it| it.of_call(call.id.as_str()));
            found.extend(about_call.map(|it| it.at(facts.line, facts.offset)));
        }
    }

    /// An event after the completion says that the call was refused, or how its work in the
    /// background ended.
    fn correct<'f>(&mut self, call: &'f Call<'f>, outcome: CallOutcome) -> Effect<'f>
    where
        'p: 'f,
    {
        let id = &call.id;
        if let Some(open) = self.open.get_mut(&self.state.hash_one(id)) {
            open.refusal = Some(outcome).filter(|it| it.is_refusal()).or(open.refusal);
            return (None, None);
        }
        let Some(row) = self.rows.last(id.as_str()) else { return (None, None) };
        let known = row.outcome.filter(|known| *known != outcome);
        let replaces = |known: &CallOutcome| outcome.is_refusal() || *known == CallOutcome::Unknown;
        let Some(instead_of) = known.filter(replaces) else { return (None, None) };
        let (number, name) = (row.number, named(row.tool.as_deref(), id));
        let line = row.started_line;
        // It may have done its work, so it stays what it is.
        if instead_of == CallOutcome::Succeeded {
            let message = format!("{name} succeeded, and is reported as {}", outcome.name());
            let diagnostic = Diagnostic::new(Rule::ContradictoryCompletion, message);
            return (None, Some(line.into_iter().fold(diagnostic, Diagnostic::related)));
        }
        self.rows.change(number, |row| row.outcome = Some(outcome));
        self.counts.replace(instead_of, outcome);
        let diagnostic = || denied(&name, outcome, line);
        let change = CallChange::Corrected { instead_of, outcome };
        let is_news = outcome.is_refusal() && !instead_of.is_refusal();
        let update = CallUpdate::new(change, number, call, self.rules);
        (Some(update), is_news.then(diagnostic))
    }
}
