//! How tool calls start and complete.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::changes::{ChangeRule, FileChange};
use super::media::{Media, MediaRule};
use super::{ActionRules, CallDuration, EventRule, Objects, ResultRule};
use crate::json::{JsonRef, parse_tree};
use crate::limits::MEDIA_MAX;
use crate::profile::path::{Conditions, Finder, Path, Scope};
use crate::profile::pattern::LazyRegex;
use crate::rules::names::names;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CallRules {
    /// All rules that match an event apply.
    pub start: Vec<CallRule>,
    /// As for starts, and after them.
    pub completion: Vec<CallRule>,
    /// Events that say how a call ended, whatever its completion says.
    pub corrections: Vec<CallCorrection>,
    /// Events that say that the user stopped the calls which the latest completions reject.
    pub interruptions: Vec<EventRule>,
    /// The first that is present.
    pub tool: Vec<ToolName>,
    /// Values that must be equal in both halves of a call, if both have them.
    pub must_match: Vec<Path>,
    /// Where the arguments of a call are that make it equal to another one; the first that is
    /// present.
    arguments: Vec<Path>,
    /// Where all arguments of a call are, if those are not all; the first that is present.
    input: Vec<InputRule>,
    /// Where the exit status of a command is, in its completion; the first that is present.
    exit_code: Vec<ExitCodeAt>,
    /// Where its standard output and its standard error are, apart from each other.
    pub stdout: Vec<Path>,
    pub stderr: Vec<Path>,
    /// Where its completion says what it changed; the first rule that finds a change is used.
    changes: Vec<ChangeRule>,
    /// Where its completion has images and other binary content; all rules apply.
    media: Vec<MediaRule>,
    /// Where an event names the call inside which it happens; the first that is present.
    parent: Vec<Path>,
    /// Where the text of a result is; the first that is present.
    pub results: Vec<ResultRule>,
    /// When a part of a result is missing; any of them.
    cut_results: Vec<Conditions>,
    /// How long a call took, in its completion; the first that is present.
    pub durations: Vec<CallDuration>,
    pub open_at_end: OpenAtEnd,
    /// Whether a call is written only when it has ended: silence may be a tool at work.
    pub only_ended: bool,
    /// The flag with which the agent may use its tools.
    pub allow_with: Option<String>,
    /// The commands whose exit status a completion with `hides_exit_status` hides; without it, all.
    pub hiding_commands: Option<CommandPattern>,
    pub background: BackgroundRules,
    pub actions: ActionRules,
}

impl CallRules {
    pub(crate) fn are_shown(&self) -> bool {
        !(self.start.is_empty() && self.completion.is_empty())
    }

    pub(crate) fn arguments<'e>(&self, half: Scope<'e>) -> Option<JsonRef<'e>> {
        let mut finder = Finder::new(half);
        self.arguments.iter().find_map(|path| finder.find(path))
    }

    /// All that the tool was asked to do, if this half of the call shows it. The members of objects
    /// are in the order of their names, whichever parser read the event. Some agents write them as
    /// JSON in a string.
    pub(crate) fn input(&self, half: Scope<'_>) -> Option<Value> {
        let input = if self.input.is_empty() {
            self.arguments(half).map(JsonRef::to_value)?
        } else {
            self.input.iter().find_map(|rule| rule.find(half))?
        };
        // A string with two members of one name stays what it is: readers differ in which counts.
        let parsed = input.as_str().and_then(|text| parse_tree(text, 1).ok());
        let object = parsed.filter(|(value, twice)| value.is_object() && twice.is_empty());
        Some(object.map_or(input, |(value, _)| value))
    }

    /// Whether events name the call inside which they happen.
    pub(crate) fn show_inner(&self) -> bool {
        !self.parent.is_empty()
    }

    pub(crate) fn parent<'e>(&self, half: Scope<'e>) -> Option<Cow<'e, str>> {
        let values = self.parent.iter().filter_map(|path| path.find(half.event));
        values.filter(|value| value.as_bool() != Some(false)).find_map(JsonRef::scalar_text)
    }

    pub(crate) fn exit_code(&self, half: Scope<'_>) -> Option<i64> {
        self.exit_code.iter().find_map(|place| place.find(half))
    }

    pub(crate) fn cuts_result(&self, half: Scope<'_>) -> bool {
        self.cut_results.iter().any(|when| when.hold(half))
    }

    pub(crate) fn changes(&self, half: Scope<'_>) -> Vec<FileChange> {
        let mut changes = self.changes.iter().map(|rule| rule.changes(half));
        changes.find(|changes| !changes.is_empty()).unwrap_or_default()
    }

    pub(crate) fn media(&self, half: Scope<'_>) -> Vec<Media> {
        let media = self.media.iter().flat_map(|rule| rule.media(half));
        media.take(MEDIA_MAX).collect()
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum ExitCodeAt {
    Value(Path),
    /// In a text: what that must match, with a group `code`.
    Text {
        #[serde(default)]
        when: Conditions,
        at: Path,
        matches: LazyRegex,
    },
}

impl ExitCodeAt {
    fn find(&self, half: Scope<'_>) -> Option<i64> {
        match self {
            Self::Value(path) => path.find(half)?.to_value().as_i64(),
            Self::Text { when, at, matches } => {
                let text = at.find(half).filter(|_| when.hold(half))?;
                matches.group(&text.as_str()?, "code")?.parse().ok()
            }
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum InputRule {
    /// In one value.
    Value(Path),
    /// Each in its own value, by its name.
    Members(BTreeMap<String, Path>),
}

impl InputRule {
    fn find(&self, half: Scope<'_>) -> Option<Value> {
        match self {
            Self::Value(path) => path.find(half).map(JsonRef::to_value),
            Self::Members(paths) => {
                let found = paths.iter().filter_map(|(name, path)| {
                    Some((name.clone(), path.find(half).map(JsonRef::to_value)?))
                });
                let members: Map<String, Value> = found.collect();
                (!members.is_empty()).then_some(Value::Object(members))
            }
        }
    }
}

/// Work that goes on after its call has ended.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BackgroundRules {
    /// All rules that match an event apply.
    pub start: Vec<BackgroundRule>,
    /// Events that report that the work has ended, in any way.
    pub end: Vec<BackgroundRule>,
    /// Events that say that work which ended only by being stopped was lost.
    pub lost: Vec<EventRule>,
    /// Whether the agent waits for such work after its terminal event.
    pub agent_waits: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct BackgroundRule {
    pub when: Conditions,
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the id of the work. An end without an id is the end of all work.
    #[serde(default)]
    pub id: Vec<Path>,
    /// Of a start: the id is that of a sub-agent's session, which says and asks nothing of the run.
    #[serde(default)]
    pub session: bool,
    /// Of an end: after the end of the run, it means that the work was lost.
    #[serde(default)]
    pub only_in_run: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OpenAtEnd {
    #[default]
    Error,
    /// The producer ends runs without waiting for their calls.
    Allowed,
    /// The same, but only for calls of these tools.
    #[serde(untagged)]
    AllowedFor(Vec<String>),
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallRule {
    pub when: Conditions,
    /// The half: the event, or elements of an array in it.
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id. The paths of a call begin at its half.
    pub id: Vec<Path>,
    /// Replaces [`CallRules::tool`].
    pub tool: Option<Vec<ToolName>>,
    /// Of a completion: the first rule that matches.
    #[serde(default)]
    pub outcomes: Vec<CallOutcomeRule>,
    #[serde(flatten)]
    pub half: HalfRules,
    /// Of a start: what a repeat has in common with the first. Without it, or with another value, a
    /// start after the completion is a new call.
    pub same: Option<Path>,
}

/// What a half of a call means, whatever its values are.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HalfRules {
    /// Whether several calls may have one id: the first that starts ends first.
    pub in_order: bool,
    /// What a completion means if no start came before.
    pub without_start: WithoutStart,
    /// Whether a completion may belong to an earlier run: it comes before the session starts.
    pub may_precede_session: bool,
    /// Whether the half may be repeated.
    pub may_repeat: bool,
    /// Whether it only says more of a call that is open.
    pub only_repeats: bool,
    /// Of a start: whether it asks for permission. A call that is only asked for when the model
    /// goes on was rejected.
    pub asks: bool,
}

/// Replaces the outcome that the completion of the call reports.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallCorrection {
    pub when: Conditions,
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id.
    pub id: Vec<Path>,
    pub outcome: CallOutcome,
    /// Where the tool's name is, if the event names it.
    #[serde(default)]
    pub tool: Vec<ToolName>,
    /// Whether it counts as a call if the stream shows no calls.
    #[serde(default)]
    pub is_call: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WithoutStart {
    #[default]
    Error,
    /// A call that was stopped before it began: a warning.
    Warning,
    Call,
    /// No call at all.
    Ignore,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandPattern {
    pub matches: LazyRegex,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallOutcomeRule {
    pub outcome: CallOutcome,
    pub when: Conditions,
    /// Whether such a completion contradicts itself.
    #[serde(default)]
    pub is_contradictory: bool,
    /// Whether it does not show how a command ended. The start of the call says whether it is one.
    #[serde(default)]
    pub hides_exit_status: bool,
    /// Whether its work goes on, so that what it printed shows nothing yet.
    #[serde(default)]
    pub still_runs: bool,
}

names! {
    /// How a tool call ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    pub enum CallOutcome {
        /// The tool did its work.
        Succeeded = "succeeded",
        /// The tool failed.
        Failed = "failed",
        /// The user, or a policy in their place, refused.
        Rejected = "rejected",
        /// A permission rule forbade it.
        Denied = "denied",
        /// The completion does not show it.
        Unknown = "unknown",
    }
}

impl CallOutcome {
    /// Whether a person or a rule refused the call.
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::Rejected | Self::Denied)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolName {
    /// A path that ends in `*suffix`: the star matches the name.
    pub key: Option<Path>,
    /// A path to a string that is the name.
    pub value: Option<Path>,
    /// The name itself.
    pub name: Option<String>,
    /// The names that are known; without it every name is.
    pub known: Option<Vec<String>>,
}
