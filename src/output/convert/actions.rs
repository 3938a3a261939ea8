//! One line for each tool call: what was done, or only attempted; and its result.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::log::{LineStyle, Log, LogLine};
use crate::check::{Action, CallChange, CallUpdate, CheckedEvent, TextUpdate};
use crate::limits::ACTION_DETAIL_CHARS_MAX;
use crate::profile::{ActionRule, CallOutcome, Profile};
use crate::rules::escape::visible;

/// Describes each call when it ends.
pub(super) struct Actions {
    profile: Arc<Profile>,
    log: Log,
    /// The lines for open calls, by the number of the call, and so in the order of their starts.
    open: BTreeMap<u64, String>,
}

impl Actions {
    pub(super) fn new(profile: &Arc<Profile>, log: &Log) -> Self {
        Self { profile: Arc::clone(profile), log: log.clone(), open: BTreeMap::new() }
    }

    /// The lines for an event: one for each call it completes.
    pub(super) fn lines(&mut self, event: &CheckedEvent<'_>) -> Vec<LogLine> {
        let mut lines = Vec::new();
        if !event.is_in_run() {
            return lines;
        }
        if event.text().contains(&TextUpdate::NewTurn) {
            lines = self.unfinished();
        }
        for update in event.calls() {
            match update.change {
                CallChange::Started | CallChange::StartedAgain => {
                    let ActionText { attempt, detail, .. } = self.texts(&update.action, false);
                    self.open.insert(update.number, format!("Unfinished: {attempt}{detail}"));
                }
                CallChange::Completed(outcome) => {
                    self.open.remove(&update.number);
                    lines.push(self.line_of(update, outcome));
                }
                CallChange::Corrected { instead_of, outcome } => {
                    let call = self.completed(update, outcome);
                    let text = format!("{call} (reported as {} before)", instead_of.name());
                    lines.push(LogLine::new(text, LineStyle::Bad));
                }
            }
        }
        lines
    }

    /// The lines for calls that never completed, in the order of their starts.
    pub(super) fn unfinished(&mut self) -> Vec<LogLine> {
        let lines = std::mem::take(&mut self.open).into_values();
        lines.map(|line| LogLine::new(line, LineStyle::Bad)).collect()
    }

    fn line_of(&self, update: &CallUpdate<'_>, outcome: CallOutcome) -> LogLine {
        let style = match outcome {
            CallOutcome::Succeeded | CallOutcome::Unknown => LineStyle::Plain,
            CallOutcome::Failed | CallOutcome::Rejected | CallOutcome::Denied => LineStyle::Bad,
        };
        let result = if self.log.result_lines > 0 { update.result() } else { None };
        let below = result.map(|result| self.log.shown_lines(&result)).unwrap_or_default();
        LogLine { below, ..LogLine::new(self.completed(update, outcome), style) }
    }

    fn completed(&self, update: &CallUpdate<'_>, outcome: CallOutcome) -> String {
        let suffix = self.suffix(update);
        let ActionText { done, failed, attempt, detail } =
            self.texts(&update.action, !suffix.is_empty());
        match (outcome, failed) {
            (CallOutcome::Succeeded | CallOutcome::Unknown, _) => {
                format!("{done}{detail}{suffix}")
            }
            (CallOutcome::Failed, Some(failed)) => format!("{failed}{detail}{suffix}"),
            (CallOutcome::Failed, None) => format!("Failed: {attempt}{detail}{suffix}"),
            (CallOutcome::Rejected, _) => format!("Rejected: {attempt}{detail}"),
            (CallOutcome::Denied, _) => format!("Denied: {attempt}{detail}"),
        }
    }

    /// The profile's texts for a call; for a tool it does not know, the name.
    fn texts(&self, action: &Action, has_suffix: bool) -> ActionText {
        let tool = &action.tool;
        let Some(rule) = action.rule else {
            let name = if tool.is_empty() { "without a name" } else { tool };
            return ActionText {
                done: "Called tool".to_owned(),
                failed: None,
                attempt: "call tool".to_owned(),
                detail: format!(" {}", self.short(name)),
            };
        };
        let rule = self.profile.calls.actions.rule(rule);
        let ActionRule { done, failed, attempt, .. } = rule;
        let attempt = attempt.clone().unwrap_or_else(|| format!("call tool {}", self.line(tool)));
        let detail = &action.detail;
        ActionText {
            done: done.clone().unwrap_or_else(|| attempt.clone()),
            // A number in brackets shows what became of it; without one, the text must.
            failed: failed.clone().filter(|_| has_suffix || !rule.may_have_suffix()),
            attempt,
            detail: if detail.is_empty() {
                String::new()
            } else {
                format!(" {}", self.short(detail))
            },
        }
    }

    /// Numbers from the result, in brackets, with a space before them; empty without any.
    fn suffix(&self, update: &CallUpdate<'_>) -> String {
        let actions = &self.profile.calls.actions;
        let object = update.call.and_then(|call| actions.object(call.scope));
        let Some((rule, object)) = update.action.rule.zip(object) else {
            return String::new();
        };
        let suffix = actions.rule(rule).suffixes(object);
        let suffix: Vec<String> = suffix.iter().map(|text| self.short(text)).collect();
        let suffix = suffix.join(", ");
        if suffix.is_empty() { suffix } else { format!(" ({suffix})") }
    }

    /// Text of the stream on one line, and not too much of it.
    fn short(&self, text: &str) -> String {
        let shown = self.line(text);
        match shown.char_indices().nth(ACTION_DETAIL_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown,
        }
    }

    /// Text of the stream on one line, even if nothing else is escaped.
    fn line(&self, text: &str) -> String {
        if self.log.is_raw { text.replace('\n', "\\n") } else { visible(text).into_owned() }
    }
}

struct ActionText {
    done: String,
    failed: Option<String>,
    attempt: String,
    /// With a space before it, if there is one.
    detail: String,
}
