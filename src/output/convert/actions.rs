//! One line for each tool call: what was done, or only attempted.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::{CallChange, CallUpdate, CheckedEvent, TextUpdate};
use crate::limits::{ACTION_DETAIL_CHARS_MAX, CALL_ID_BYTES_MAX};
use crate::profile::path::Scope;
use crate::profile::{ActionRule, CallOutcome, Profile};
use crate::rules::escape::{clipped, visible};

/// Describes each call when it ends.
pub(super) struct Actions {
    profile: Arc<Profile>,
    is_raw: bool,
    /// Paths below it are shown relative to it.
    directory: Option<String>,
    /// By the number of the call, and so in the order of their starts.
    open: BTreeMap<u64, OpenAction>,
}

/// What is known of a call; its completion need not repeat what its start said.
#[derive(Default)]
struct OpenAction {
    tool: String,
    /// The numbers of the profile's rules that apply to its start or its completion.
    rules: Vec<usize>,
    /// With a space before it, if there is one.
    detail: String,
}

impl Actions {
    pub(super) fn new(profile: &Arc<Profile>, is_raw: bool) -> Self {
        let profile = Arc::clone(profile);
        Self { profile, is_raw, directory: None, open: BTreeMap::new() }
    }

    /// The lines for an event: one for each call it completes.
    pub(super) fn lines(&mut self, event: &CheckedEvent<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        if !event.is_in_run() {
            return lines;
        }
        if event.text().contains(&TextUpdate::NewTurn) {
            lines = self.unfinished();
        }
        if let Some(directory) = event.facts.rare.as_ref().and_then(|rare| rare.directory.as_ref())
        {
            self.directory = Some(directory.trim_end_matches(['/', '\\']).to_owned());
        }
        for update in event.calls() {
            match update.change {
                CallChange::Started | CallChange::StartedAgain => self.start(update),
                CallChange::Completed(outcome) => lines.push(self.complete(update, outcome)),
            }
        }
        lines
    }

    /// The lines for calls that never completed, in the order of their starts.
    pub(super) fn unfinished(&mut self) -> Vec<String> {
        let open = std::mem::take(&mut self.open).into_values();
        let lines = open.map(|open| {
            let ActionText { attempt, detail, .. } = self.texts(open);
            format!("Unfinished: {attempt}{detail}")
        });
        lines.collect()
    }

    fn start(&mut self, update: &CallUpdate<'_>) {
        // What was announced before may have more details now.
        let mut open = self.open.remove(&update.number).unwrap_or_default();
        self.add(&mut open, update);
        self.open.insert(update.number, open);
    }

    fn complete(&mut self, update: &CallUpdate<'_>, outcome: CallOutcome) -> String {
        let mut open = self.open.remove(&update.number).unwrap_or_default();
        let detail_of_start = std::mem::take(&mut open.detail);
        let object = self.add(&mut open, update);
        if open.detail.is_empty() {
            open.detail = detail_of_start;
        }
        let suffix = match (object, open.rules.first()) {
            (Some(object), Some(rule)) => self.suffix(*rule, object),
            _ => String::new(),
        };
        let ActionText { done, failed, attempt, detail } = self.texts(open);
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

    /// Adds the start or the completion; returns the object in which the paths of the rules begin.
    fn add<'e>(&self, open: &mut OpenAction, update: &CallUpdate<'e>) -> Option<Scope<'e>> {
        let call = update.call;
        if let Some(tool) = &call.tool {
            open.tool = clipped(tool, CALL_ID_BYTES_MAX).into_owned();
        }
        let actions = &self.profile.calls.actions;
        let object = actions.object(call.scope)?;
        open.rules.retain(|rule| actions.rule(*rule).is_for(&open.tool));
        open.rules.extend(actions.holding(&open.tool, object));
        // In the order of the profile: the first that applies to a half is the rule of the call.
        open.rules.sort_unstable();
        open.rules.dedup();
        if open.detail.is_empty()
            && let Some(rule) = open.rules.first().map(|rule| actions.rule(*rule))
            && let Some(detail) = rule.detail(object)
        {
            open.detail = self.detail(&detail, rule.path);
        }
        Some(object)
    }

    /// The profile's texts for a call; for a tool it does not know, the name.
    fn texts(&self, open: OpenAction) -> ActionText {
        let OpenAction { tool, rules, detail, .. } = open;
        let Some(rule) = rules.first() else {
            let name = if tool.is_empty() { "without a name" } else { &tool };
            return ActionText {
                done: "Called tool".to_owned(),
                failed: None,
                attempt: "call tool".to_owned(),
                detail: self.detail(name, false),
            };
        };
        let ActionRule { done, failed, attempt, .. } = self.profile.calls.actions.rule(*rule);
        let attempt = attempt.clone().unwrap_or_else(|| format!("call tool {}", self.line(&tool)));
        ActionText {
            done: done.clone().unwrap_or_else(|| attempt.clone()),
            failed: failed.clone(),
            attempt,
            detail,
        }
    }

    /// Numbers from the result, in brackets, with a space before them; empty without any.
    fn suffix(&self, rule: usize, object: Scope<'_>) -> String {
        let suffix = self.profile.calls.actions.rule(rule).suffixes(object);
        let suffix: Vec<String> = suffix.iter().map(|text| self.short(text)).collect();
        let suffix = suffix.join(", ");
        if suffix.is_empty() { suffix } else { format!(" ({suffix})") }
    }

    /// A detail with a space before it; a path is shown relative to the agent's directory.
    fn detail(&self, detail: &str, is_path: bool) -> String {
        let directory = self.directory.as_deref().filter(|path| is_path && !path.is_empty());
        let below = directory.and_then(|directory| {
            detail
                .strip_prefix(directory)?
                .strip_prefix(['/', '\\'])
                .filter(|rest| !rest.is_empty())
        });
        format!(" {}", self.short(below.unwrap_or(detail)))
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
        if self.is_raw { text.replace('\n', "\\n") } else { visible(text).into_owned() }
    }
}

struct ActionText {
    done: String,
    failed: Option<String>,
    attempt: String,
    /// With a space before it, if there is one.
    detail: String,
}
