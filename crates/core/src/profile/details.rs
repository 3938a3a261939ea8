//! Reasoning, notices, results and durations of calls.
//!
//! They are read only on request: most checks do not need them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Objects, Template};
use crate::profile::path::{Conditions, Path, Scope};
use crate::rules::names::names;

/// Where the agent's reasoning is. All rules that match apply.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ThinkingRule {
    pub mode: ThinkingMode,
    pub when: Conditions,
    /// The objects with the text; the path below begins there.
    #[serde(flatten)]
    pub of: Objects,
    pub value: Path,
}

/// A piece of a string, such as of the arguments of a call.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FragmentRule {
    pub when: Conditions,
    pub value: Path,
    /// The values that are the same in all pieces of one string.
    pub group: Vec<Path>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ThinkingMode {
    /// Appended to the open block.
    Delta,
    /// A whole block; it adds nothing if its deltas came before.
    Whole,
}

/// An event that a log shows as one line. All rules that match apply.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct NoticeRule {
    pub kind: NoticeKind,
    pub when: Conditions,
    /// The objects with the values of the detail.
    #[serde(flatten)]
    pub of: Objects,
    /// The first whose values are all present.
    #[serde(default)]
    pub detail: Vec<Template>,
    #[serde(default)]
    pub values: NoticePaths,
}

/// Where the agent's list of things to do is, as a whole. All rules that match apply.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PlanRule {
    pub when: Conditions,
    /// The items; the paths below begin there.
    #[serde(flatten)]
    pub of: Objects,
    pub text: Path,
    pub state: Path,
}

names! {
    /// How far a thing to do is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
    #[non_exhaustive]
    pub enum PlanState {
        /// It has not been begun.
        Pending = "pending",
        /// It is at work.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It was given up.
        Cancelled = "cancelled",
    }
}

impl PlanState {
    /// By the word of an agent, such as `TODO_STATUS_IN_PROGRESS`, or whether it is done.
    pub(crate) fn of(word: &str) -> Self {
        let word = word.to_ascii_lowercase();
        let has = |names: &[&str]| names.iter().any(|name| word.contains(name));
        match () {
            () if word == "true" || has(&["complete", "done"]) => Self::Completed,
            () if has(&["progress", "active"]) => Self::InProgress,
            () if has(&["cancel", "abandon"]) => Self::Cancelled,
            () => Self::Pending,
        }
    }
}

/// Where a notice has its values. The paths begin at its object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NoticePaths {
    pub attempt: Option<Path>,
    pub attempts: Option<Path>,
    pub delay_ms: Option<Path>,
    pub http_status: Option<Path>,
    pub tokens: Option<Path>,
    /// A time as RFC 3339, in milliseconds or in seconds.
    pub resets_at: Option<Path>,
    pub limit: Option<Path>,
    pub request: Option<Path>,
    pub call: Option<Path>,
    pub tool: Option<Path>,
    pub answer: Option<Template>,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// What the user asks for.
    Prompt,
    /// The agent tries a request again.
    Retry,
    /// It shortens its context.
    Compaction,
    /// It asks the user.
    Question,
    /// It asks for a permission.
    Permission,
    /// What it asked for is allowed, or is not.
    PermissionAnswer,
    /// A limit of the provider is near, or reached.
    RateLimit,
    /// Something failed; the run may go on.
    Error,
    /// Something else that a reader wants to know.
    Info,
}

impl NoticeKind {
    /// Its name, as reports show it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Prompt => "Prompt",
            Self::Retry => "Retry",
            Self::Compaction => "Compaction",
            Self::Question => "Question",
            Self::Permission => "Permission",
            Self::PermissionAnswer => "Permission answer",
            Self::RateLimit => "Rate limit",
            Self::Error => "Error",
            Self::Info => "Note",
        }
    }
}

/// Where the text of a call's result is.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ResultRule {
    /// The objects with the texts, from the half of the call.
    #[serde(flatten)]
    of: Objects,
    /// The texts of one object: all whose values are present.
    text: Vec<Template>,
}

/// Where an agent says how long a call took. The paths begin at the half of the call.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum CallDuration {
    Between { start: Path, end: Path },
    Milliseconds { ms: Path },
}

impl ResultRule {
    /// Whether it is there, and has no text.
    pub(crate) fn is_blank(&self, call: Scope<'_>) -> bool {
        self.of.objects(call).any(|object| self.text.iter().any(|text| text.is_blank(object)))
    }

    /// The texts, one below the other; none if no value is present.
    pub(crate) fn text<'e>(&self, call: Scope<'e>) -> Option<Cow<'e, str>> {
        let objects = self.of.objects(call);
        let texts =
            objects.flat_map(|object| self.text.iter().filter_map(move |text| text.text(object)));
        texts.reduce(|above, below| {
            let mut text = above.into_owned();
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&below);
            Cow::Owned(text)
        })
    }
}
