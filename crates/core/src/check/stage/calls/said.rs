//! Calls that no event shows: a line of plain text says how they ended.

use super::{CallTable, ROW_DETAIL_BYTES_MAX, ToolCall};
use crate::check::{CallChange, CallUpdate};
use crate::profile::CallOutcome;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::clipped;

impl<'p> CallTable<'p> {
    /// Counts such a call. `line` is that of the text, if it is in the stream. Also returns what is
    /// found.
    pub(crate) fn observe_said(
        &mut self,
        outcome: CallOutcome,
        text: &str,
        line: Option<u64>,
    ) -> (CallUpdate<'p>, Option<Diagnostic>) {
        // Where events show the calls that succeed, all are known.
        self.shows_calls |= self.rules.are_shown();
        self.counts.total += 1;
        self.counts.add(outcome);
        self.latest += 1;
        self.rows.start(ToolCall {
            number: self.latest,
            id: String::new(),
            tool: None,
            outcome: Some(outcome),
            started_line: None,
            completed_line: line,
            detail: clipped(text, ROW_DETAIL_BYTES_MAX).into_owned(),
        });
        let change = CallChange::Completed(outcome);
        let mut update = CallUpdate::of_other_event(change, self.latest, "".into(), self.rules);
        update.is_new = true;
        update.action.detail = text.into();
        self.actions.count(&update.action, outcome);
        let message = format!("a tool call was {}, and no event shows it", outcome.name());
        let found = || Diagnostic::new(Rule::DeniedCall, message).of_text(Some(text.to_owned()));
        (update, outcome.is_refusal().then(found))
    }
}
