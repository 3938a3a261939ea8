//! What an event means, in vendor-neutral terms: [`Facts`].
//!
//! An event is read in two steps. [`FactReader::plan`] makes all decisions and says where the
//! values of the facts are; [`Plan::facts`] then reads them. The shape cache rests on this: the
//! values that only the second step reads may differ between two lines of one shape.

mod bounded_id;
mod raw_str;
mod reader;
mod tag_rules;
mod template;

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

use crate::json::JsonRef;
use crate::limits::CALL_ID_BYTES_MAX;
use crate::profile::path::Scope;
use crate::profile::{CallOutcome, ErrorSeverity, RunOutcome, WithoutStart};
use crate::rules::escape::{clipped, shown};

pub(crate) use bounded_id::BoundedId;
pub(crate) use raw_str::RawStr;
pub(crate) use reader::FactReader;
pub(crate) use template::{FactTemplate, Plan, TextTemplate, Values};

/// What one event means. Small, because one is made for each line; what few events have is in a
/// box.
#[derive(Debug)]
pub(crate) struct Facts<'e> {
    /// The number of its line, from 1.
    pub(crate) line: u64,
    /// The offset of its first byte in the stream, from 0.
    pub(crate) offset: u64,
    /// Its tag, the parts joined by `/`; empty if it has none.
    pub(crate) tag: &'e str,
    pub(crate) tag_status: TagStatus,
    pub(crate) marks: Marks,
    pub(crate) session: Option<Cow<'e, str>>,
    /// Milliseconds.
    pub(crate) time: Option<f64>,
    pub(crate) text: Option<TextFact<'e>>,
    /// Further texts of the same event.
    pub(crate) more_texts: Vec<TextFact<'e>>,
    pub(crate) rare: Option<Box<RareFacts<'e>>>,
}

/// What only some events say. Stages read it in this order: calls, text, end.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact on its own")]
pub(crate) struct RareFacts<'e> {
    /// The directory the agent works in.
    pub(crate) directory: Option<Cow<'e, str>>,
    /// The session may start again.
    pub(crate) may_restart_session: bool,
    pub(crate) started: Vec<Call<'e>>,
    pub(crate) completed: Vec<(Call<'e>, CallOutcome)>,
    /// Calls that were refused, whatever their completions say.
    pub(crate) refused: Vec<(CallId, CallOutcome)>,
    /// The group of the texts that follow.
    pub(crate) next_group: Option<String>,
    /// The agent gives up the open text.
    pub(crate) abandons_text: bool,
    /// The next whole text may repeat the last segment.
    pub(crate) may_repeat_text: bool,
    /// The final text may be only what follows.
    pub(crate) may_begin_final_text: bool,
    /// The text of the answer.
    pub(crate) final_text: Option<RawStr<'e>>,
    pub(crate) error: Option<ErrorSeverity>,
    /// How the run goes, so far.
    pub(crate) progress: Option<RunOutcome>,
    pub(crate) end: Option<RunEnd<'e>>,
}

/// What the profile knows about a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagStatus {
    /// The agent's documentation promises it, or it reports the run's outcome.
    Documented,
    /// It is known from real streams only.
    Observed,
    Unknown,
}

/// Facts without a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact on its own")]
pub(crate) struct Marks {
    /// A rule of the profile applies, and what it points to is missing.
    pub(crate) is_incomplete: bool,
    pub(crate) starts_session: bool,
    /// The open text segment ends here.
    pub(crate) ends_segment: bool,
    /// After the end of a turn it begins a new one.
    pub(crate) starts_turn: bool,
    /// It may come after the end of the run.
    pub(crate) may_follow_end: bool,
}

/// A part of the assistant's text.
#[derive(Debug)]
pub(crate) struct TextFact<'e> {
    pub(crate) kind: TextKind,
    /// The message it belongs to, where the agent's texts name one.
    pub(crate) group: Option<Cow<'e, str>>,
    pub(crate) text: Cow<'e, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Text to append to the open segment.
    Delta,
    /// The text of a whole segment.
    Whole,
}

/// One half of a tool call.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact on its own")]
pub(crate) struct Call<'e> {
    /// What correlates the halves.
    pub(crate) id: CallId,
    /// The tool's name, if the event names one.
    pub(crate) tool: Option<Cow<'e, str>>,
    pub(crate) tool_key: ToolKey,
    /// Whether the profile knows the tool.
    pub(crate) is_tool_known: bool,
    /// Whether the profile knows the kind of result; a start has none.
    pub(crate) is_result_known: bool,
    /// Whether this half may be sent again.
    pub(crate) may_repeat: bool,
    /// What a completion is if there was no start.
    pub(crate) without_start: WithoutStart,
    /// Whether a completion says two things at once.
    pub(crate) is_contradictory: bool,
    /// The half itself: the event, or an element of an array in it.
    pub(crate) scope: Scope<'e>,
    /// What both halves must have in common, in the order of the profile's list.
    pub(crate) must_match: Vec<Option<JsonRef<'e>>>,
}

/// Whether a key names the tool of a half of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolKey {
    /// It has no object in which a key could.
    NoPlace,
    /// The object is there, without such a key.
    Missing,
    Found,
}

/// What the stream says at the end of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunEnd<'e> {
    /// Whether it is a terminal event; if not, it reports the outcome of a run whose end is the
    /// end of the stream.
    pub(crate) is_terminal: bool,
    /// Whether it is the end only if nothing follows.
    pub(crate) is_provisional: bool,
    /// Without one the latest progress decides.
    pub(crate) outcome: Option<RunOutcome>,
    pub(crate) totals: RunTotals,
    /// The event as it is written.
    pub(crate) source: &'e str,
}

/// What the agent counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunTotals {
    /// The run's duration in milliseconds.
    pub(crate) duration_ms: Option<u64>,
    pub(crate) usage: Usage,
}

/// Token counts, where the agent reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens sent to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens it wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
}

impl<'e> Facts<'e> {
    /// The event as messages name it.
    pub(crate) fn name(&self) -> String {
        if self.tag.is_empty() { "without a tag".to_owned() } else { shown(self.tag) }
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &TextFact<'e>> {
        self.text.iter().chain(&self.more_texts)
    }

    pub(crate) fn started(&self) -> &[Call<'e>] {
        self.rare.as_ref().map_or(&[], |rare| &rare.started)
    }

    pub(crate) fn completed(&self) -> &[(Call<'e>, CallOutcome)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.completed)
    }

    pub(crate) fn refused(&self) -> &[(CallId, CallOutcome)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.refused)
    }

    pub(crate) fn end(&self) -> Option<&RunEnd<'e>> {
        self.rare.as_ref()?.end.as_ref()
    }

    /// The terminal event, if it is one.
    pub(crate) fn terminal(&self) -> Option<&RunEnd<'e>> {
        self.end().filter(|end| end.is_terminal)
    }
}

/// What correlates the two halves of a tool call. Opaque: any strings, line breaks included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CallId {
    /// The parts with a space between them, or the start of that.
    text: Box<str>,
    /// What `text` does not show of a long id, or of one with several parts.
    rest: u64,
}

impl CallId {
    /// The id that these parts make together.
    pub(crate) fn new(parts: &[Cow<'_, str>]) -> Self {
        let text = match parts {
            [part] => Cow::Borrowed(&**part),
            parts => Cow::Owned(parts.join(" ")),
        };
        let is_whole = text.len() <= CALL_ID_BYTES_MAX;
        let rest = if is_whole && parts.len() == 1 {
            0
        } else {
            let mut hasher = DefaultHasher::new();
            parts.hash(&mut hasher);
            hasher.finish()
        };
        Self { text: clipped(&text, CALL_ID_BYTES_MAX).into(), rest }
    }

    /// The id as reports show it; the start of a very long one.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stay_small() {
        assert!(size_of::<Facts<'_>>() <= 192, "{}", size_of::<Facts<'_>>());
    }
}
