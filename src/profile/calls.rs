//! How tool calls start and complete.

use serde::Deserialize;

use super::{ActionRules, Objects};
use crate::profile::path::{Conditions, Path};

/// How tool calls start and complete.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallRules {
    /// Events that start calls: all rules that hold.
    #[serde(default)]
    pub start: Vec<CallStart>,
    /// Events that complete calls: all rules that hold, after those for starts.
    #[serde(default)]
    pub completion: Vec<CallCompletion>,
    /// Where the tool's name is; the first that is there.
    #[serde(default)]
    pub tool: Vec<ToolName>,
    /// What must be the same in both halves of a call, where both have it.
    #[serde(default)]
    pub must_match: Vec<Path>,
    /// Whether a call may be open where the run ends.
    #[serde(default)]
    pub open_at_end: OpenAtEnd,
    /// How the conversions for people show a call.
    #[serde(default)]
    pub actions: ActionRules,
}

/// Whether a call may be open where the run ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OpenAtEnd {
    /// It is a defect.
    #[default]
    Error,
    /// The producer ends runs without waiting for their calls.
    Allowed,
}

/// An event that starts a call.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallStart {
    /// These hold for the event.
    pub when: Conditions,
    /// What is the call's half: the event, or elements of an array in it.
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id, from there, as all other paths of the call.
    pub id: Vec<Path>,
    /// Where the tool's name is, instead of what holds for all calls.
    pub tool: Option<Vec<ToolName>>,
    /// Whether a call may be announced again.
    #[serde(default)]
    pub may_repeat: bool,
}

/// An event that completes a call.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallCompletion {
    /// These hold for the event.
    pub when: Conditions,
    /// What is the call's half: the event, or elements of an array in it.
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id, from there, as all other paths of the call.
    pub id: Vec<Path>,
    /// Where the tool's name is, instead of what holds for all calls.
    pub tool: Option<Vec<ToolName>>,
    /// How the call ended: the first rule that holds.
    #[serde(default)]
    pub outcomes: Vec<CallOutcomeRule>,
    /// What it is where no start came before it.
    #[serde(default)]
    pub without_start: WithoutStart,
    /// Whether it may come again.
    #[serde(default)]
    pub may_repeat: bool,
}

/// What a completion without a start is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WithoutStart {
    /// An error.
    #[default]
    Error,
    /// A whole call.
    Call,
    /// Nothing: no call at all.
    Ignore,
}

/// How a call ended, if these conditions hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallOutcomeRule {
    /// The outcome.
    pub outcome: CallOutcome,
    /// These hold for the half.
    pub when: Conditions,
    /// Whether such a completion says two things that cannot both be true.
    #[serde(default)]
    pub is_contradictory: bool,
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

/// Where a tool's name is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolName {
    /// A path that ends in `*suffix`: the name is what the star stands for.
    pub key: Option<Path>,
    /// A path to a string that is the name.
    pub value: Option<Path>,
    /// The name itself.
    pub name: Option<String>,
    /// The names that are known; without it every name is.
    pub known: Option<Vec<String>>,
}
