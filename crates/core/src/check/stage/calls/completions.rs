//! The ends of calls.

use super::call_name::{denied, name, named, tool};
use super::known_call::{EndedCall, OpenCall};
use super::{CallTable, Effect};
use crate::check::{CallChange, CallUpdate};
use crate::facts::{Call, Facts};
use crate::limits::ACTION_DETAIL_BYTES_MAX;
use crate::profile::{CallKind, CallOutcome, WithoutStart};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

impl<'p> CallTable<'p> {
    /// Whether a completion hides how its call ended: the call is such a command, or has no start.
    pub(super) fn hides_end(&self, key: u64, call: &Call<'_>) -> bool {
        let is_such_command = |open: &OpenCall| {
            let action = self.actions.of_open(&open.action);
            // Of a long command only the beginning is known.
            let is_cut = action.detail.len() + 8 > ACTION_DETAIL_BYTES_MAX;
            let hiding = self.rules.hiding_commands.as_ref();
            action.kind == Some(CallKind::Command)
                && hiding.is_none_or(|it| is_cut || it.matches.is_in(&action.detail))
        };
        call.hides_exit_status && self.open.get(&key).is_none_or(is_such_command)
    }

    /// Whether a completion says two things at once.
    pub(super) fn contradiction(&self, key: u64, call: &Call<'_>) -> Option<Diagnostic> {
        let open = self.open.get(&key);
        if !call.is_contradictory
            || call.rules.without_start == WithoutStart::Ignore && open.is_none()
        {
            return None;
        }
        let message = format!("the completion of {} contradicts itself", name(call, open));
        let start = open.map(|open| open.start.line);
        Some(Diagnostic::new(Rule::ContradictoryCompletion, message).related(start))
    }

    pub(super) fn complete<'f>(
        &mut self,
        key: u64,
        call: &'f Call<'f>,
        outcome: CallOutcome,
        line: u64,
    ) -> Effect<'f>
    where
        'p: 'f,
    {
        let Some(open) = self.open.remove(&key) else {
            return self.complete_unopened(key, call, outcome, line);
        };
        self.asked -= usize::from(open.is_asked);
        self.remember(key, EndedCall::of(&open, line));
        let outcome = open.refusal.unwrap_or(outcome);
        self.counts.unfinished -= 1;
        self.counts.add(outcome);
        self.rows.change(open.number, |row| {
            row.outcome = Some(outcome);
            row.completed_line = Some(line);
            row.tool = row.tool.take().or_else(|| tool(call));
        });
        let denied = || denied(&name(call, Some(&open)), outcome, Some(open.start.line));
        let denied = || outcome.is_refusal().then(denied);
        let diagnostic = self.mismatch(&open, call).or_else(denied);
        let change = CallChange::Completed(outcome);
        let update = CallUpdate::new(change, open.number, call, self.rules);
        self.arguments.release(open.must_match);
        (Some(update), diagnostic)
    }

    /// The model goes on, or the turn has succeeded: calls of which only a request for permission
    /// came were rejected.
    pub(crate) fn reject_asked<'f>(
        &mut self,
        facts: &Facts<'_>,
        updates: &mut Vec<CallUpdate<'f>>,
        found: &mut Vec<Diagnostic>,
    ) where
        'p: 'f,
    {
        if std::mem::take(&mut self.asked) == 0 {
            return;
        }
        let mut asked: Vec<(u64, OpenCall)> = self.open.extract_if(|_, it| it.is_asked).collect();
        asked.sort_by_key(|(_, open)| open.number);
        for (key, open) in asked {
            let outcome = CallOutcome::Rejected;
            self.remember(key, EndedCall::of(&open, facts.line));
            self.counts.unfinished -= 1;
            self.counts.add(outcome);
            self.rows.change(open.number, |row| {
                (row.outcome, row.completed_line) = (Some(outcome), Some(facts.line));
            });
            let update = self.update_of(&open, CallChange::Completed(outcome));
            self.actions.count(&update.action, outcome);
            self.rows.describe(update.number, &update.action.detail);
            updates.push(update);
            let name = named(open.tool.as_deref(), &open.id);
            let diagnostic = denied(&name, outcome, Some(open.start.line));
            let diagnostic = diagnostic.of_call(open.id.as_str());
            found.push(diagnostic.at(facts.line, facts.offset));
            self.arguments.release(open.must_match);
        }
    }

    /// A completion of a call that is not open: a repeated one, or one without a start.
    pub(super) fn complete_unopened<'f>(
        &mut self,
        key: u64,
        call: &'f Call<'f>,
        outcome: CallOutcome,
        line: u64,
    ) -> Effect<'f>
    where
        'p: 'f,
    {
        let (change, rules) = (CallChange::Completed(outcome), self.rules);
        if let Some(ended) = self.ended.get_mut(&key) {
            if call.rules.may_repeat {
                return (None, None);
            }
            if ended.repeats > 0 {
                ended.repeats -= 1;
                return (None, None);
            }
            let message = format!("{} is completed a second time", name(call, None));
            let diagnostic = Diagnostic::new(Rule::DuplicateCompletion, message);
            return (None, Some(diagnostic.related(ended.line)));
        }
        if self.untracked_calls.complete(key) {
            self.counts.unfinished -= 1;
            self.counts.add(outcome);
            self.remember(key, EndedCall::unopened(line, true));
            self.latest += 1;
            return (Some(CallUpdate::new(change, self.latest, call, rules).first()), None);
        }
        if call.rules.without_start == WithoutStart::Ignore {
            return (None, None);
        }
        let is_of_earlier_run = call.rules.may_precede_session && !self.in_session;
        let is_whole_call = call.rules.without_start == WithoutStart::Call || is_of_earlier_run;
        let may_lack_start =
            call.rules.without_start == WithoutStart::Warning || outcome == CallOutcome::Rejected;
        self.counts.total += 1;
        self.counts.add(outcome);
        // A start that follows what needs none begins another call, which must end, too.
        self.remember(key, EndedCall::unopened(line, is_whole_call || may_lack_start));
        self.begin(call, None);
        self.rows.change(self.latest, |row| {
            (row.outcome, row.completed_line) = (Some(outcome), Some(line));
        });
        let completed = Some(CallUpdate::new(change, self.latest, call, rules).first());
        if is_whole_call {
            let denied = || denied(&name(call, None), outcome, None);
            return (completed, outcome.is_refusal().then(denied));
        }
        let rule =
            if may_lack_start { Rule::RejectedWithoutStart } else { Rule::CompletionWithoutStart };
        let message = match (name(call, None), self.has_forgotten) {
            (name, false) => format!("{name} is completed but was not started before"),
            (name, true) => {
                format!("{name} is completed; its start is unknown: there were too many calls")
            }
        };
        (completed, Some(Diagnostic::new(rule, message)))
    }
}
