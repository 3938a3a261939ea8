//! Stage: what tool calls do, by the profile's actions.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::check::paths::relative;
use crate::check::{Bound, CallChange, CallUpdate, Note};
use crate::facts::{CommandCounts, Facts};
use crate::limits::{ACTION_DETAIL_BYTES_MAX, CALL_ID_BYTES_MAX, CALL_ROWS_MAX, FILES_MAX};
use crate::profile::path::Scope;
use crate::profile::{ActionRules, CallKind, CallOutcome};
use crate::rules::escape::clipped;

/// What a tool call does, as far as this event and the start of the call show it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Action {
    /// None if the profile does not know it.
    pub(crate) kind: Option<CallKind>,
    /// The number of the profile's rule; none if the profile does not know the tool.
    pub(crate) rule: Option<usize>,
    /// The name of the tool; empty if no event names it.
    pub(crate) tool: Arc<str>,
    /// What it is about, such as a path or a command; empty if nothing shows it.
    pub(crate) detail: Arc<str>,
    /// Whether this event has the detail, and so the whole of it.
    pub(crate) shows_detail: bool,
    pub(crate) files: Vec<String>,
    /// Whether this event names the files, and so all of them.
    pub(crate) shows_files: bool,
    /// Whether this event has a patch that deletes a file.
    pub(crate) deletes: bool,
    /// Whether agents repeat it to wait for something.
    pub(crate) polls: bool,
}

/// Finds the action of each call, and collects what the actions changed.
#[derive(Debug)]
pub(crate) struct ActionTable<'p> {
    rules: &'p ActionRules,
    /// Paths below it are shown relative to it.
    directory: Option<String>,
    /// The latest calls that have ended, of an agent that may say more of them.
    ended: VecDeque<(u64, OpenAction)>,
    files: Vec<String>,
    known_files: HashSet<String>,
    commands: CommandCounts,
    /// Calls that ended and asked the user.
    pub(crate) questions: u64,
    may_have_written: bool,
    has_overflowed: bool,
}

/// What is known of an open call; its completion need not repeat what its start said.
#[derive(Debug, Default)]
pub(crate) struct OpenAction {
    tool: Arc<str>,
    /// The number of the profile's rule that applies to its start.
    rule: Option<usize>,
    detail: Arc<str>,
    files: Vec<String>,
}

impl OpenAction {
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }
}

impl<'p> ActionTable<'p> {
    pub(crate) fn new(rules: &'p ActionRules) -> Self {
        Self {
            rules,
            directory: None,
            ended: VecDeque::new(),
            files: Vec::new(),
            known_files: HashSet::new(),
            commands: CommandCounts::default(),
            questions: 0,
            may_have_written: false,
            has_overflowed: false,
        }
    }

    /// Observes where the agent works.
    pub(crate) fn observe(&mut self, facts: &Facts<'_>) {
        let directory = facts.rare.as_ref().and_then(|rare| rare.directory.as_ref());
        if let Some(directory) = directory {
            self.directory = Some(directory.clone().into_owned());
        }
    }

    /// Adds the action of a call, of which this is known while it is open.
    pub(crate) fn add<'e>(
        &mut self,
        mut update: CallUpdate<'e>,
        known: &mut OpenAction,
    ) -> CallUpdate<'e> {
        if let CallChange::Corrected { instead_of, outcome } = update.change {
            self.corrected(&mut update, instead_of, outcome);
            return update;
        }
        update.action = self.action(known, &update);
        if let CallChange::Completed(outcome) = update.change {
            self.count(&update.action, outcome);
            self.keep(&update, std::mem::take(known));
        }
        update
    }

    /// What an open call would have done, as far as its start shows it.
    pub(crate) fn of_open(&self, open: &OpenAction) -> Action {
        let (tool, detail) = (Arc::clone(&open.tool), Arc::clone(&open.detail));
        let Some(number) = open.rule else {
            return Action { tool, ..Action::default() };
        };
        let rule = self.rules.rule(number);
        Action { kind: rule.known_kind(), rule: Some(number), tool, detail, ..Action::default() }
    }

    /// Keeps what is known of a call that has ended, if the agent may say more of it.
    fn keep(&mut self, update: &CallUpdate<'_>, ended: OpenAction) {
        if update.may_be_corrected() {
            if self.ended.len() == CALL_ROWS_MAX {
                self.ended.pop_front();
            }
            self.ended.push_back((update.number, ended));
        }
    }

    /// A call that has been counted ended in another way.
    fn corrected(
        &mut self,
        update: &mut CallUpdate<'_>,
        instead_of: CallOutcome,
        outcome: CallOutcome,
    ) {
        let at = self.ended.iter().rposition(|(number, _)| *number == update.number);
        let Some(at) = at else { return };
        let mut known = std::mem::take(&mut self.ended[at].1);
        update.action = self.named(&mut known, None);
        self.ended[at].1 = known;
        if update.action.kind == Some(CallKind::Command) {
            self.commands.failed -= u64::from(instead_of == CallOutcome::Failed);
            self.commands.failed += u64::from(outcome == CallOutcome::Failed);
        }
    }

    fn action(&mut self, open: &mut OpenAction, update: &CallUpdate<'_>) -> Action {
        if let Some(tool) = update.tool() {
            open.tool = clipped(tool, CALL_ID_BYTES_MAX).into();
        }
        let Some(object) = update.call.and_then(|call| self.rules.object(call.scope)) else {
            return self.named(open, None);
        };
        // In the order of the profile: the first that applies to a half is the rule of the call.
        let known = open.rule.filter(|rule| self.rules.rule(*rule).is_for(&open.tool));
        open.rule = self.rules.first(&open.tool, object, known).or(known);
        self.named(open, Some(object))
    }

    /// The action by the first rule that applies; `object` is where its paths begin.
    fn named(&mut self, open: &mut OpenAction, object: Option<Scope<'_>>) -> Action {
        let Some(number) = open.rule else { return self.of_open(open) };
        let rule = self.rules.rule(number);
        let detail = object.and_then(|object| rule.detail(object));
        let detail: Option<Arc<str>> =
            detail.map(|it| if rule.path { self.relative(&it).into() } else { it.into() });
        let shows_detail = detail.is_some();
        if let Some(detail) = &detail {
            open.detail = if detail.len() <= ACTION_DETAIL_BYTES_MAX {
                Arc::clone(detail)
            } else {
                clipped(detail, ACTION_DETAIL_BYTES_MAX).into()
            };
        }
        let detail = detail.unwrap_or_else(|| Arc::clone(&open.detail));
        let mut files = std::mem::take(&mut open.files);
        let mut shows_files = false;
        if rule.kind.changes_files() {
            let named = object.map(|object| rule.files(object)).unwrap_or_default();
            if !named.is_empty() {
                let relative = named.iter().map(|file| self.relative(file));
                let mut known = HashSet::new();
                let new = relative.filter(|file| known.insert(file.clone()));
                files = new.map(Cow::into_owned).collect();
                shows_files = true;
            } else if rule.path && !detail.is_empty() {
                files = vec![detail.to_string()];
                shows_files = shows_detail;
            }
        }
        open.files = self.kept(&files);
        Action {
            detail,
            shows_detail,
            files,
            shows_files,
            deletes: object.is_some_and(|object| rule.deletes(object)),
            polls: rule.polls,
            ..self.of_open(open)
        }
    }

    /// What is kept of the files of an open call, for its completion.
    fn kept(&mut self, files: &[String]) -> Vec<String> {
        let mut room = ACTION_DETAIL_BYTES_MAX;
        let fits = |file: &&String| {
            let left = room.checked_sub(file.len());
            room = left.unwrap_or_default();
            left.is_some()
        };
        let kept: Vec<String> = files.iter().take_while(fits).cloned().collect();
        self.has_overflowed |= kept.len() < files.len();
        kept
    }

    fn relative<'t>(&self, path: &'t str) -> Cow<'t, str> {
        relative(path, self.directory.as_deref())
    }

    pub(super) fn count(&mut self, action: &Action, outcome: CallOutcome) {
        if action.kind == Some(CallKind::Command) {
            self.commands.total += 1;
            self.commands.failed += u64::from(outcome == CallOutcome::Failed);
        }
        self.questions += u64::from(action.kind == Some(CallKind::Question));
        // A call that failed may have done a part of its work.
        self.may_have_written |=
            !outcome.is_refusal() && !action.kind.is_some_and(CallKind::only_reads);
        if outcome == CallOutcome::Succeeded {
            for file in &action.files {
                if self.known_files.contains(file) {
                    continue;
                }
                if self.files.len() == FILES_MAX || file.len() > ACTION_DETAIL_BYTES_MAX {
                    self.has_overflowed = true;
                    continue;
                }
                self.known_files.insert(file.clone());
                self.files.push(file.clone());
            }
        }
    }

    /// The files that successful calls wrote or deleted, in the order of their calls; none if the
    /// profile does not know which calls do.
    pub(crate) fn files(&self) -> Option<Vec<String>> {
        self.rules.kinds().any(CallKind::changes_files).then(|| self.files.clone())
    }

    /// The commands that ended; none if the profile does not know which calls are commands.
    pub(crate) fn commands(&self) -> Option<CommandCounts> {
        self.rules.kinds().any(|kind| kind == CallKind::Command).then_some(self.commands)
    }

    /// Whether a call may have changed something; `None` if the profile does not know the kinds of
    /// calls.
    pub(crate) fn may_have_written(&self) -> Option<bool> {
        self.rules.kinds().any(CallKind::changes_files).then_some(self.may_have_written)
    }

    pub(crate) fn note(&self) -> Option<Note> {
        self.has_overflowed.then_some(Note::LimitReached(Bound::Files))
    }
}
