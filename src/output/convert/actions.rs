//! One line for each tool call: what was done, or what was asked for and did not happen.

use std::collections::{HashMap, HashSet};

use super::Seen;
use crate::stream::event::Event;
use crate::facts::{Call, CallId, Fact};
use crate::limits::{ACTION_DETAIL_CHARS_MAX, CALL_ID_BYTES_MAX, CALLS_ENDED_MAX, CALLS_OPEN_MAX};
use crate::profile::path::Scope;
use crate::profile::{ActionRule, CallOutcome, Profile, WithoutStart};
use crate::check::stage::text::Piece;
use crate::rules::escape::{clipped, visible};

/// Follows the calls and tells of each when it ends.
pub(super) struct Actions<'p> {
    profile: &'p Profile,
    raw: bool,
    /// Paths below it are shown relative to it.
    directory: Option<String>,
    open: HashMap<CallId, Open>,
    /// Calls whose end has been told; a second end is told by the report.
    told: HashSet<CallId>,
    started: u64,
}

/// What the halves of a call have told so far; the completion may not repeat what the start says.
#[derive(Default)]
struct Open {
    number: u64,
    tool: String,
    /// The profile's rules that held for a half, by number.
    rules: Vec<usize>,
    /// With a space before it, if there is one.
    detail: String,
}

impl<'p> Actions<'p> {
    pub(super) fn new(profile: &'p Profile, raw: bool) -> Self {
        Self {
            profile,
            raw,
            directory: None,
            open: HashMap::new(),
            told: HashSet::new(),
            started: 0,
        }
    }

    /// The lines for an event: one for each call it completes.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    pub(super) fn lines(&mut self, seen: &Seen<'_, '_>) -> Vec<String> {
        let mut lines = Vec::new();
        if !seen.in_run {
            return lines;
        }
        if seen.pieces.iter().any(|it| matches!(it, Piece::Turn)) {
            lines = self.unfinished();
            self.told.clear();
        }
        for fact in seen.facts.list() {
            match fact {
                Fact::Directory(directory) => {
                    self.directory = Some(directory.trim_end_matches(['/', '\\']).to_owned());
                }
                Fact::CallStarted(call) => self.start(call, seen),
                Fact::CallCompleted(call, outcome) => {
                    lines.extend(self.complete(call, *outcome, seen));
                }
                _ => {}
            }
        }
        lines
    }

    /// The lines for calls that never completed, in the order of their starts.
    pub(super) fn unfinished(&mut self) -> Vec<String> {
        let mut open: Vec<Open> = self.open.drain().map(|(_, open)| open).collect();
        open.sort_unstable_by_key(|open| open.number);
        let lines = open.into_iter().map(|it| {
            let Told { asked, detail, .. } = self.words(it);
            format!("Unfinished: {asked}{detail}")
        });
        lines.collect()
    }

    fn start(&mut self, call: &Call<'_>, seen: &Seen<'_, '_>) {
        self.started += 1;
        let known = self.open.remove(&call.id);
        let is_told = call.repeat && self.told.contains(&call.id);
        let mut open = match known {
            None if is_told || self.open.len() >= CALLS_OPEN_MAX => return,
            None => Open { number: self.started, ..Open::default() },
            Some(open) => open,
        };
        // What was announced before may say more now.
        self.hear(&mut open, call, seen);
        self.open.insert(call.id.clone(), open);
    }

    fn complete(
        &mut self,
        call: &Call<'_>,
        outcome: CallOutcome,
        seen: &Seen<'_, '_>,
    ) -> Option<String> {
        let open = self.open.remove(&call.id);
        if open.is_none() && (call.alone == WithoutStart::Ignore || self.told.contains(&call.id)) {
            return None;
        }
        if self.told.len() < CALLS_ENDED_MAX {
            self.told.insert(call.id.clone());
        }
        let mut open = open.unwrap_or_default();
        let said = std::mem::take(&mut open.detail);
        let object = self.hear(&mut open, call, seen);
        if open.detail.is_empty() {
            open.detail = said;
        }
        let figures = match (object, open.rules.first()) {
            (Some(object), Some(rule)) => self.figures(*rule, object),
            _ => String::new(),
        };
        let Told { done, failed, asked, detail } = self.words(open);
        Some(match (outcome, failed) {
            (CallOutcome::Succeeded | CallOutcome::Unknown, _) => {
                format!("{done}{detail}{figures}")
            }
            (CallOutcome::Failed, Some(failed)) => format!("{failed}{detail}{figures}"),
            (CallOutcome::Failed, None) => format!("Failed: {asked}{detail}{figures}"),
            (CallOutcome::Rejected, _) => format!("Rejected: {asked}{detail}"),
            (CallOutcome::Denied, _) => format!("Denied: {asked}{detail}"),
        })
    }

    /// Adds what a half of a call tells; returns where the rules' paths begin in it.
    fn hear<'e>(&self, open: &mut Open, call: &Call<'e>, seen: &Seen<'e, '_>) -> Option<Scope<'e>> {
        if let Some(tool) = &call.tool {
            open.tool = clipped(tool, CALL_ID_BYTES_MAX).into_owned();
        }
        let actions = &self.profile.calls.actions;
        let event = seen.event.map(Event::root)?;
        let object = actions.object(Scope { event, object: call.object })?;
        open.rules.retain(|rule| actions.rule(*rule).is_for(&open.tool));
        open.rules.extend(actions.holding(&open.tool, object));
        // In the order of the profile: the first that held for a half is the rule of the call.
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

    /// What the profile says of a call; of a tool it does not know, the name.
    fn words(&self, open: Open) -> Told {
        let Open { tool, rules, detail, .. } = open;
        let Some(rule) = rules.first() else {
            let name = if tool.is_empty() { "without a name" } else { &tool };
            return Told {
                done: "Called tool".to_owned(),
                failed: None,
                asked: "call tool".to_owned(),
                detail: self.detail(name, false),
            };
        };
        let ActionRule { done, failed, attempt, .. } = self.profile.calls.actions.rule(*rule);
        let asked = attempt.clone().unwrap_or_else(|| format!("call tool {}", self.line(&tool)));
        Told {
            done: done.clone().unwrap_or_else(|| asked.clone()),
            failed: failed.clone(),
            asked,
            detail,
        }
    }

    /// What the result says in numbers, in brackets and with a space before them, if anything.
    fn figures(&self, rule: usize, object: Scope<'_>) -> String {
        let figures = self.profile.calls.actions.rule(rule).suffixes(object);
        let figures: Vec<String> = figures.iter().map(|figure| self.short(figure)).collect();
        let figures = figures.join(", ");
        if figures.is_empty() { figures } else { format!(" ({figures})") }
    }

    /// A detail with a space before it; a path is shown relative to the agent's directory.
    fn detail(&self, detail: &str, is_path: bool) -> String {
        let directory = self.directory.as_deref().filter(|it| is_path && !it.is_empty());
        let below = directory.and_then(|directory| {
            detail.strip_prefix(directory)?.strip_prefix(['/', '\\']).filter(|it| !it.is_empty())
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

    /// Text of the stream on one line, also where nothing else is made visible.
    fn line(&self, text: &str) -> String {
        if self.raw { text.replace('\n', "\\n") } else { visible(text).into_owned() }
    }
}

/// What a person is told of a call.
struct Told {
    done: String,
    failed: Option<String>,
    asked: String,
    /// With a space before it, if there is one.
    detail: String,
}
