//! The rules of the profile language, as they are written in a profile.

use serde::Deserialize;

use super::action::Actions;
use crate::event::Node;
use crate::path::{Conditions, Path};

/// The tags a profile knows; the parts of a tag are joined by `/`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tags {
    /// Promised by the producer's documentation.
    #[serde(default)]
    pub documented: Vec<String>,
    /// Seen in real streams only.
    #[serde(default)]
    pub observed: Vec<String>,
}

/// How a session begins and what identifies it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The event that begins it; none if the producer writes no such event.
    #[serde(default)]
    pub start: Vec<EventRule>,
    /// Where an event names its session.
    pub id: Option<Path>,
    /// Where the start names the directory the agent works in.
    pub directory: Option<Path>,
}

/// The single object of a producer's non-streaming format: a terminal event on its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Single {
    /// The part of the event schema that it must satisfy, such as `#/$defs/result`.
    pub schema: String,
    /// Its members in the order in which the producer writes them.
    #[serde(default)]
    pub order: Vec<String>,
}

/// A rule that matches events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRule {
    /// All of these hold.
    pub when: Conditions,
}

/// How tool calls start and complete.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Events that start a call; the first rule that holds.
    #[serde(default)]
    pub start: Vec<CallStart>,
    /// Events that complete one; the first rule that holds.
    #[serde(default)]
    pub completion: Vec<CallCompletion>,
    /// Where the tool's name stands; the first that is there.
    #[serde(default)]
    pub tool: Vec<ToolName>,
    /// What must be the same in both halves of a call, where both have it.
    #[serde(default)]
    pub same: Vec<Path>,
    /// What a person is told of a call.
    #[serde(default)]
    pub actions: Actions,
}

/// An event that starts a call.
#[derive(Debug, Clone, Deserialize)]
pub struct CallStart {
    /// All of these hold for the event.
    pub when: Conditions,
    /// What is the call's half: the event, or elements of an array in it.
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id, from there, as all other paths of the call.
    pub id: Vec<Path>,
}

/// An event that completes a call.
#[derive(Debug, Clone, Deserialize)]
pub struct CallCompletion {
    /// All of these hold for the event.
    pub when: Conditions,
    /// What is the call's half: the event, or elements of an array in it.
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id, from there, as all other paths of the call.
    pub id: Vec<Path>,
    /// How the call ended: the first rule that holds.
    #[serde(default)]
    pub outcomes: Vec<CallOutcomeRule>,
}

/// The objects in an event that a rule is about: the event itself, or elements of an array.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Objects {
    /// The array.
    each: Option<Path>,
    /// Which elements: all of these hold for the element.
    #[serde(rename = "where", default)]
    element: Conditions,
}

impl Objects {
    /// Whether the array is there, where there is to be one.
    pub fn is_there(&self, root: Node<'_>) -> bool {
        self.each.as_ref().is_none_or(|path| path.find(root).is_some_and(Node::is_array))
    }

    /// The objects.
    pub fn objects<'e>(&self, root: Node<'e>) -> impl Iterator<Item = Node<'e>> {
        let itself = self.each.is_none().then_some(root);
        let elements = self.each.iter().filter_map(move |path| path.find(root));
        let elements = elements.flat_map(Node::items);
        itself.into_iter().chain(elements.filter(|element| self.element.hold(*element)))
    }
}

/// How a call ended, if these conditions hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallOutcomeRule {
    /// The outcome.
    pub outcome: CallOutcome,
    /// All of these hold.
    pub when: Conditions,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool did what it was asked for.
    Succeeded,
    /// The tool failed.
    Failed,
    /// The user, or the policy in their place, said no.
    Rejected,
    /// A permission rule forbade it.
    Denied,
    /// The completion does not say.
    Unknown,
}

impl CallOutcome {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Denied => "denied",
            Self::Unknown => "unknown",
        }
    }
}

/// Where a tool's name stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolName {
    /// A path that ends in `*suffix`: the name is what the star stands for.
    pub key: Option<Path>,
    /// A path to a string that is the name.
    pub value: Option<Path>,
    /// The names that are known; without it every name is.
    pub known: Option<Vec<String>>,
}

/// Where a piece of the assistant's text stands.
#[derive(Debug, Clone, Deserialize)]
pub struct TextRule {
    /// What the piece is to the whole.
    pub mode: TextMode,
    /// All of these hold.
    pub when: Conditions,
    /// What carries the text.
    #[serde(flatten)]
    pub of: Objects,
    /// The text, from there.
    pub value: Path,
}

/// What a piece of text is to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMode {
    /// It is appended to the open segment.
    Delta,
    /// It is the whole segment, and closes it.
    Whole,
    /// It is the concatenation of all segments.
    Final,
}

/// How the stream ends.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terminal {
    /// Whether there is a terminal event.
    #[serde(default)]
    pub policy: TerminalPolicy,
    /// The events that tell the run's outcome; the first rule that holds.
    #[serde(default)]
    pub rules: Vec<TerminalRule>,
    /// Where such an event tells the run's duration in milliseconds.
    pub duration_ms: Option<Path>,
    /// Where such an event counts tokens.
    #[serde(default)]
    pub usage: UsagePaths,
}

/// Whether the producer ends its stream with a terminal event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalPolicy {
    /// A terminal event is the last one.
    #[default]
    Required,
    /// The end of the stream is the end of the run; outcome events may come at any time, and one
    /// failure is a failed run.
    None,
}

/// An event that tells the run's outcome.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalRule {
    /// The outcome it tells.
    pub outcome: RunOutcome,
    /// All of these hold.
    pub when: Conditions,
}

/// What the producer says of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
}

/// Where token counts stand.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsagePaths {
    /// Tokens sent to the model.
    pub input_tokens: Option<Path>,
    /// Tokens it wrote.
    pub output_tokens: Option<Path>,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<Path>,
    /// Tokens written to the cache.
    pub cache_write_tokens: Option<Path>,
}
