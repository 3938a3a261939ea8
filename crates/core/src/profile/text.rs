//! Where the assistant's text is, and how its chunks fit together.

use serde::Deserialize;

use super::{EventRule, Objects, TrueByDefault};
use crate::profile::path::{Conditions, Path};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TextRules {
    /// For each event, the first rule that matches.
    pub rules: Vec<TextRule>,
    /// Without it, deltas may stay open.
    pub deltas: Option<TextDeltas>,
    #[serde(rename = "final")]
    pub final_text: FinalText,
    /// Events that end a segment, in addition to tool calls and the terminal event.
    pub ends_at: Vec<SegmentEndRule>,
    /// Events with which the agent gives up the open segment.
    pub abandoned_at: Vec<EventRule>,
    /// Events after which a whole text may repeat the last segment.
    pub may_repeat_after: Vec<EventRule>,
    /// Events after which the final text may be only what follows them.
    pub final_may_begin_at: Vec<EventRule>,
    /// Whether a tool call ends an open segment.
    pub ends_at_calls: TrueByDefault,
    /// While a call of one of these tools is open, texts are those of a sub-agent.
    pub not_during: Vec<String>,
}

impl TextRules {
    /// Whether the group of deltas is named once, before them.
    pub(crate) fn names_groups_of_deltas(&self) -> bool {
        self.ends_at.iter().any(|rule| !rule.group.is_empty())
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SegmentEndRule {
    pub when: Conditions,
    /// The parts of the key of the group that follows, if the event names one.
    pub group: Vec<Path>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TextRule {
    pub mode: TextMode,
    pub when: Conditions,
    /// The objects with the text; the paths below begin there.
    #[serde(flatten)]
    pub of: Objects,
    pub value: Path,
    /// The parts of the key of its group; without them it is of the current group. A new group ends
    /// the open segment.
    #[serde(default)]
    pub group: Vec<Path>,
    /// Whether there is an empty line between the texts of one event.
    #[serde(default)]
    pub paragraphs: bool,
    /// With the mode `final`: replaces that of the profile.
    #[serde(rename = "final")]
    pub final_text: Option<FinalText>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextMode {
    /// Appended to the open segment.
    Delta,
    /// The whole segment, which it closes.
    Whole,
    /// The answer: see [`FinalText`].
    Final,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinalText {
    /// The concatenation of all segments of the turn.
    #[default]
    All,
    Last,
    Either,
    /// Not compared with anything.
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextDeltas {
    /// A whole segment closes them, always.
    Closed,
}
