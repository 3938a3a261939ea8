//! How a session begins, and what identifies it.

use serde::Deserialize;

use super::{EventRule, always};
use crate::profile::path::Path;

/// How a session begins and what identifies it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionRules {
    /// The event that begins it; none if the producer writes no such event.
    #[serde(default)]
    pub start: Vec<EventRule>,
    /// Where an event names its session; the first that is there.
    #[serde(default)]
    pub id: Vec<Path>,
    /// Where the start names the directory the agent works in.
    pub directory: Option<Path>,
    /// Whether there must be a start, where there are rules for one.
    #[serde(default = "always")]
    pub required: bool,
    /// Which events the start must precede.
    #[serde(default)]
    pub must_be_first: MustBeFirst,
    /// Whether the start may come again.
    #[serde(default)]
    pub repeats: Repeats,
    /// Whether the id stays the same.
    #[serde(default = "always")]
    pub id_is_constant: bool,
    /// Where an event's time in milliseconds is; it never goes back.
    pub time: Option<Path>,
}

/// Which events the start must precede.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum MustBeFirst {
    /// All, or none.
    OfAll(bool),
    /// Those with one of these tags.
    Of(Vec<String>),
}

impl MustBeFirst {
    /// Whether the start must precede an event with this tag.
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

/// Whether a start may come again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Repeats {
    /// No.
    #[default]
    Never,
    /// At any time.
    Always,
    /// Once in every turn.
    EachTurn,
}

impl Default for SessionRules {
    fn default() -> Self {
        Self {
            start: Vec::new(),
            id: Vec::new(),
            directory: None,
            required: true,
            must_be_first: MustBeFirst::default(),
            repeats: Repeats::Never,
            id_is_constant: true,
            time: None,
        }
    }
}
