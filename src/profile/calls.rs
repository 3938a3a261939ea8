//! How tool calls start and complete.

use serde::Deserialize;

use super::{ActionRules, Objects};
use crate::profile::path::{Conditions, Path};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CallRules {
    /// All rules that match an event apply.
    pub start: Vec<CallStart>,
    /// As for starts, and after them.
    pub completion: Vec<CallCompletion>,
    /// Events that say that a call was refused.
    pub refusals: Vec<CallRefusal>,
    /// The first that is present.
    pub tool: Vec<ToolName>,
    /// Values that must be equal in both halves of a call, if both have them.
    pub must_match: Vec<Path>,
    pub open_at_end: OpenAtEnd,
    pub actions: ActionRules,
}

/// Whether a call may be open when the run ends.
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
pub(crate) struct CallStart {
    pub when: Conditions,
    /// The half of the call: the event, or elements of an array in it.
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id. The paths of a call begin at its half.
    pub id: Vec<Path>,
    /// Replaces [`CallRules::tool`].
    pub tool: Option<Vec<ToolName>>,
    /// Whether a call may be announced again.
    #[serde(default)]
    pub may_repeat: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallCompletion {
    pub when: Conditions,
    /// The half of the call: the event, or elements of an array in it.
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id. The paths of a call begin at its half.
    pub id: Vec<Path>,
    /// Replaces [`CallRules::tool`].
    pub tool: Option<Vec<ToolName>>,
    /// The first rule that matches.
    #[serde(default)]
    pub outcomes: Vec<CallOutcomeRule>,
    /// What it means if no start came before.
    #[serde(default)]
    pub without_start: WithoutStart,
    /// Whether a call may complete again.
    #[serde(default)]
    pub may_repeat: bool,
}

/// Replaces the outcome that the completion of the call reports.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CallRefusal {
    pub when: Conditions,
    #[serde(flatten)]
    pub of: Objects,
    /// The parts of the call's id.
    pub id: Vec<Path>,
    pub outcome: CallOutcome,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WithoutStart {
    #[default]
    Error,
    /// A whole call.
    Call,
    /// No call at all.
    Ignore,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallOutcomeRule {
    pub outcome: CallOutcome,
    pub when: Conditions,
    /// Whether such a completion contradicts itself.
    #[serde(default)]
    pub is_contradictory: bool,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool did its work.
    Succeeded,
    /// The tool failed.
    Failed,
    /// The user, or a policy in their place, refused.
    Rejected,
    /// A permission rule forbade it.
    Denied,
    /// The completion does not show it.
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
