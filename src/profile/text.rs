//! Where the assistant's text stands, and how its pieces fit together.

use serde::Deserialize;

use super::Objects;
use crate::profile::path::{Conditions, Path};

/// Where a piece of the assistant's text stands.
#[derive(Debug, Clone, Deserialize)]
pub struct TextRule {
    /// What the piece is to the whole.
    pub mode: TextMode,
    /// These hold for the event.
    pub when: Conditions,
    /// What carries the text.
    #[serde(flatten)]
    pub of: Objects,
    /// The text, from there.
    pub value: Path,
    /// The parts of the key of the group it belongs to, from there; without them there is one
    /// group.
    #[serde(default)]
    pub group: Vec<Path>,
}

/// What a piece of text is to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMode {
    /// It is appended to the open segment of its group.
    Delta,
    /// It is the whole segment, and closes it.
    Whole,
    /// It is the answer: see [`FinalIs`].
    Final,
}

/// Whether the segments of several groups are open at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextGroups {
    /// A new key closes the open segment.
    #[default]
    Sequential,
    /// Each key has a segment of its own.
    Parallel,
}

/// What the final text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalIs {
    /// The concatenation of all segments of the turn.
    #[default]
    All,
    /// The last segment.
    Last,
    /// One or the other.
    Either,
    /// Any text: it is compared with nothing.
    Free,
}

/// What becomes of deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextDeltas {
    /// A whole segment closes them, always.
    Closed,
}
