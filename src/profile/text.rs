//! Where the assistant's text is, and how its chunks fit together.

use serde::Deserialize;

use super::{EventRule, Objects, always};
use crate::profile::path::{Conditions, Path};

/// Where the assistant's text is, and how its chunks fit together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextRules {
    /// Where the text is; for each event the first rule that holds.
    #[serde(default)]
    pub rules: Vec<TextRule>,
    /// What becomes of deltas; nothing is promised if it is not said.
    pub deltas: Option<TextDeltas>,
    /// What the final text is.
    #[serde(default, rename = "final")]
    pub final_text: FinalText,
    /// Events that end a segment, in addition to tool calls and the terminal event.
    #[serde(default)]
    pub ends_at: Vec<EventRule>,
    /// Whether a tool call ends an open segment.
    #[serde(default = "always")]
    pub ends_at_calls: bool,
}

impl Default for TextRules {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            deltas: None,
            final_text: FinalText::All,
            ends_at: Vec::new(),
            ends_at_calls: true,
        }
    }
}

/// Where a chunk of the assistant's text is.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TextRule {
    /// What the chunk is to the whole.
    pub mode: TextMode,
    /// These hold for the event.
    pub when: Conditions,
    /// What carries the text.
    #[serde(flatten)]
    pub of: Objects,
    /// The text, from there.
    pub value: Path,
    /// The parts of the key of the group it belongs to, from there; without them there is one
    /// group. Another group ends the open segment.
    #[serde(default)]
    pub group: Vec<Path>,
}

/// What a chunk of text is to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextMode {
    /// It is appended to the open segment.
    Delta,
    /// It is the whole segment, and closes it.
    Whole,
    /// It is the answer: see [`FinalText`].
    Final,
}

/// What the final text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinalText {
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
pub(crate) enum TextDeltas {
    /// A whole segment closes them, always.
    Closed,
}
