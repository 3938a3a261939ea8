//! How a session begins, and what identifies it.

use serde::Deserialize;

use super::{EventRule, Objects, TrueByDefault};
use crate::profile::path::{Conditions, Path};
use crate::profile::pattern::LazyRegex;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionRules {
    /// Empty if the producer writes no such event.
    pub start: Vec<EventRule>,
    /// Where an event names its session; the first that is present.
    pub id: Vec<Path>,
    /// Where the start names the working directory of the agent.
    pub directory: Option<Path>,
    /// Whether there must be a start, if there are rules for one.
    pub required: TrueByDefault,
    pub must_be_first: MustBeFirst,
    pub repeats: Repeats,
    /// Events after which the start may be repeated in the same turn.
    pub may_repeat_after: Vec<RestartRule>,
    pub id_is_constant: TrueByDefault,
    /// The time of an event in milliseconds; it never decreases.
    pub time: Option<Path>,
    /// Where else an event says when it happened, in milliseconds or as RFC 3339; the first that is
    /// present. Durations come from it, and it may go back.
    pub times: Vec<Path>,
    /// How events say where they are among the others.
    pub order: Option<EventOrder>,
    /// Events that say with what the agent works.
    pub details: Vec<SessionDetailRule>,
    /// Events that say which tools the agent cannot use.
    pub unavailable: Vec<UnavailableRule>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RestartRule {
    pub when: Conditions,
    /// Whether the start that follows may have another session id.
    pub new_id: bool,
    /// Whether the start that follows begins a turn before the last one has ended. The terminal
    /// event of the earlier turn comes first.
    pub new_turn: bool,
}

/// Where an event names what should give the agent tools, and does not. All rules that match apply.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct UnavailableRule {
    pub when: Conditions,
    #[serde(flatten)]
    pub of: Objects,
    pub name: Path,
    /// If the name is inside a text: what that must match, with a group `name`.
    pub matches: Option<LazyRegex>,
    /// Why it is not there, in a word of the agent.
    pub why: Option<Path>,
    #[serde(default)]
    pub is: ToolSource,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolSource {
    #[default]
    Server,
    Plugin,
}

/// Where an event says with what the agent works. All rules that match apply.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionDetailRule {
    pub when: Conditions,
    /// The version of the agent.
    pub version: Option<Path>,
    pub model: Option<Path>,
    /// What the agent may do without asking.
    pub mode: Option<Path>,
    /// The names of the tools.
    pub tools: Option<ListedAt>,
    pub servers: Option<ServersAt>,
}

/// Where each object of a list has a value.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ListedAt {
    #[serde(flatten)]
    pub of: Objects,
    pub value: Path,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ServersAt {
    #[serde(flatten)]
    pub of: Objects,
    pub name: Path,
    pub status: Option<Path>,
    /// When the agent can use it. Without this, nothing is known.
    pub available: Option<Conditions>,
    /// When it is not known yet.
    pub pending: Option<Conditions>,
}

/// How an event says where it is. An event without these members says nothing.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum EventOrder {
    /// By its number, which is one more than that of the event before it.
    Number { number: Path },
    /// By its id, which no other event has.
    Id { id: Path },
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum MustBeFirst {
    /// All events, or none.
    OfAll(bool),
    /// Events with one of these tags.
    Of(Vec<String>),
}

impl MustBeFirst {
    pub(crate) fn precedes(&self, tag: &str) -> bool {
        match self {
            Self::OfAll(all) => *all,
            Self::Of(tags) => tags.iter().any(|it| it == tag),
        }
    }
}

impl Default for MustBeFirst {
    fn default() -> Self {
        Self::OfAll(true)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Repeats {
    #[default]
    Never,
    Always,
    EachTurn,
}
