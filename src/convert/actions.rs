//! One line for each tool call: what was done, or what was asked for and did not happen.

use std::collections::{HashMap, HashSet};

use super::Seen;
use crate::event::Event;
use crate::facts::{Call, CallId, Fact};
use crate::limits::{ACTION_DETAIL_CHARS_MAX, CALLS_ENDED_MAX, CALLS_OPEN_MAX};
use crate::profile::{Action, CallOutcome, Profile};
use crate::reassembly::Piece;
use crate::visible::visible;

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

/// What the start of a call told; its completion may not repeat it.
struct Open {
    number: u64,
    asked: String,
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
        if seen.pieces.contains(&Piece::Turn) {
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
        let lines = open.into_iter().map(|it| format!("Unfinished: {}{}", it.asked, it.detail));
        lines.collect()
    }

    fn start(&mut self, call: &Call<'_>, seen: &Seen<'_, '_>) {
        self.started += 1;
        if self.open.len() >= CALLS_OPEN_MAX || self.open.contains_key(&call.id) {
            return;
        }
        let told = self.told(call, seen);
        let open = Open { number: self.started, asked: told.asked, detail: told.detail };
        self.open.insert(call.id.clone(), open);
    }

    fn complete(
        &mut self,
        call: &Call<'_>,
        outcome: CallOutcome,
        seen: &Seen<'_, '_>,
    ) -> Option<String> {
        let open = self.open.remove(&call.id);
        if open.is_none() && self.told.contains(&call.id) {
            return None;
        }
        if self.told.len() < CALLS_ENDED_MAX {
            self.told.insert(call.id.clone());
        }
        let mut told = self.told(call, seen);
        if told.detail.is_empty()
            && let Some(open) = open
        {
            told.detail = open.detail;
        }
        let Told { done, failed, asked, detail, figures } = told;
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

    /// What the profile tells of a call; of a tool it does not know, the name.
    fn told(&self, call: &Call<'_>, seen: &Seen<'_, '_>) -> Told {
        let tool = call.tool.as_deref().unwrap_or_default();
        let root = seen.event.map(Event::root);
        let action = root.and_then(|root| self.profile.calls.actions.find(tool, root));
        let Some((action, object)) = action else {
            let detail = if tool.is_empty() { "without a name" } else { tool };
            return Told {
                done: "Called tool".to_owned(),
                failed: None,
                asked: "call tool".to_owned(),
                detail: self.detail(detail, false),
                figures: String::new(),
            };
        };
        let detail =
            action.detail(object).map_or(String::new(), |it| self.detail(&it, action.path));
        let figures: Vec<String> =
            action.figures(object).iter().map(|figure| self.short(figure)).collect();
        let figures = figures.join(", ");
        let figures = if figures.is_empty() { figures } else { format!(" ({figures})") };
        let Action { done, failed, asked, .. } = action;
        let asked = asked.clone().unwrap_or_else(|| format!("call tool {}", self.line(tool)));
        Told {
            done: done.clone().unwrap_or_else(|| asked.clone()),
            failed: failed.clone(),
            asked,
            detail,
            figures,
        }
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
    /// In brackets, with a space before them, if there are any.
    figures: String,
}
