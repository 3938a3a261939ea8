//! A tool call in an event.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::CallUpdate;
use crate::check::paths::relative;
use crate::check::updates::CallStart;
use crate::facts::whole_number;
use crate::profile::path::{Path, Scope};
use crate::profile::{CallKind, CallOutcome, CallRules, FileChange, Media, Profile};

/// A tool call, as far as this event and those before it show it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct EventCall<'a> {
    /// Its number in the stream, from 1.
    #[serde(rename = "call")]
    pub number: u64,
    /// The agent's id, which it may use again.
    pub id: Cow<'a, str>,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Cow<'a, str>>,
    /// The number of the call inside which a sub-agent makes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// The line of its start, if another event started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_line: Option<u64>,
    /// The agent's time of that start in milliseconds, if times are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// What the tool does; `None` if the profile does not know the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<CallKind>,
    /// What the call is about, such as a path or a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'a, str>>,
    /// The files that it writes or deletes.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub files: Cow<'a, [String]>,
    /// What the tool was asked to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The number of the profile's rule that says what the tool does.
    #[serde(skip)]
    pub(crate) rule: Option<usize>,
    /// Whether this event itself has the detail, and so the whole of it.
    #[serde(skip)]
    pub(crate) shows_detail: bool,
    /// Whether this event itself names the files, and so all of them.
    #[serde(skip)]
    pub(crate) shows_files: bool,
    /// Whether this event itself has a patch that deletes a file.
    #[serde(skip)]
    pub(crate) deletes: bool,
}

/// A tool call that has ended.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct CompletedCall<'a> {
    /// The call.
    #[serde(flatten)]
    pub call: EventCall<'a>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The exit status of a command, if the agent says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The text of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Cow<'a, str>>,
    /// The standard output of a command, if the agent gives it apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Cow<'a, str>>,
    /// The standard error of a command, if the agent gives it apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Cow<'a, str>>,
    /// What it changed in files, if the agent says it.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub changes: Vec<FileChange>,
    /// The images and other binary content in its result; at most 1,000.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub media: Vec<Media>,
    /// How long it took in milliseconds: from its start to its end, or as the agent says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What passed from its start to its end, by the times of two events.
    #[serde(skip)]
    pub passed_ms: Option<f64>,
    /// How long it took, as the agent says, where the events do not show it.
    #[serde(skip)]
    pub said_ms: Option<f64>,
    /// When it began and ended in milliseconds, if the agent says both at its end.
    #[serde(skip)]
    pub(crate) times: Option<(f64, f64)>,
    /// What the tool was asked to do, if this event says it too.
    #[serde(skip)]
    pub arguments: Option<Value>,
    /// Numbers in the result that the profile names, such as lines read.
    #[serde(skip)]
    pub numbers: Vec<String>,
    /// Whether the agent shows the result, and it has no text.
    #[serde(skip)]
    pub(crate) has_blank_result: bool,
    /// Whether a part of the result is missing.
    #[serde(skip)]
    pub(crate) has_cut_result: bool,
    /// Whether its work goes on.
    #[serde(skip)]
    pub(crate) still_runs: bool,
    /// Whether nothing was known of the call before.
    #[serde(skip)]
    pub is_new: bool,
}

impl<'a> EventCall<'a> {
    /// Without its arguments.
    pub(in crate::check) fn new(update: &'a CallUpdate<'_>) -> Self {
        Self {
            number: update.number,
            id: update.id().into(),
            tool: Some(&*update.action.tool).filter(|tool| !tool.is_empty()).map(Into::into),
            parent: update.parent,
            started_line: None,
            started_ms: None,
            kind: update.action.kind,
            detail: update.detail().map(Into::into),
            files: Cow::Borrowed(&update.action.files),
            arguments: None,
            rule: update.action.rule,
            shows_detail: update.action.shows_detail,
            shows_files: update.action.shows_files,
            deletes: update.action.deletes,
        }
    }

    pub(in crate::check) fn with_start(self, start: Option<CallStart>) -> Self {
        Self {
            started_line: start.map(|start| start.line),
            started_ms: start.and_then(|start| start.time).and_then(whole_number),
            ..self
        }
    }
}

impl<'a> CompletedCall<'a> {
    /// Without arguments and result. `now` is the time of the completion in milliseconds.
    pub(in crate::check) fn new(
        update: &'a CallUpdate<'_>,
        outcome: CallOutcome,
        now: Option<f64>,
    ) -> Self {
        let time = update.start.and_then(|start| start.time);
        let is_shown = time.is_some() && time != now;
        let said_ms = update.duration_ms().filter(|_| !is_shown);
        let passed_ms = said_ms.is_none().then(|| Some(now? - time?)).flatten();
        Self {
            call: EventCall::new(update).with_start(update.start),
            outcome,
            exit_code: update.completion().and_then(|(rules, half)| rules.exit_code(half)),
            result: None,
            stdout: None,
            stderr: None,
            changes: Vec::new(),
            media: Vec::new(),
            duration_ms: said_ms.or(passed_ms).and_then(whole_number),
            passed_ms,
            said_ms,
            times: update.times(),
            arguments: None,
            numbers: Vec::new(),
            has_blank_result: false,
            has_cut_result: false,
            still_runs: update.still_runs(),
            is_new: update.is_new,
        }
    }

    pub(in crate::check) fn with_values(
        self,
        update: &'a CallUpdate<'_>,
        profile: &Profile,
        directory: Option<&str>,
    ) -> Self {
        let Some((rules, half)) = update.completion() else { return self };
        let actions = &profile.calls.actions;
        let numbers = self.call.rule.zip(actions.object(half));
        let numbers = numbers.map(|(rule, object)| {
            actions.rule(rule).suffix.iter().filter_map(|suffix| suffix.filled(object)).collect()
        });
        let text = |paths: &[Path]| paths.iter().find_map(|path| path.find(half)?.as_str());
        let result = rules.results.iter().find_map(|rule| rule.text(half));
        let is_blank = || rules.results.iter().any(|rule| rule.is_blank(half));
        let may_have_changed = !(self.outcome == CallOutcome::Failed || self.outcome.is_refusal());
        Self {
            has_blank_result: result.is_none() && is_blank(),
            result,
            stdout: text(&rules.stdout),
            stderr: text(&rules.stderr),
            changes: if may_have_changed { changes(rules, half, directory) } else { Vec::new() },
            media: rules.media(half),
            arguments: update.arguments(),
            numbers: numbers.unwrap_or_default(),
            has_cut_result: rules.cuts_result(half),
            ..self
        }
    }
}

/// What the call changed, by the names that its `files` have.
fn changes(rules: &CallRules, half: Scope<'_>, directory: Option<&str>) -> Vec<FileChange> {
    let mut changes = rules.changes(half);
    for change in &mut changes {
        for path in std::iter::once(&mut change.path).chain(&mut change.from) {
            *path = relative(path, directory).into_owned();
        }
    }
    changes
}
