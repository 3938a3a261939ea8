//! Which facts an event has, before their values are read.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::time::time_ms;
use super::{AnswerText, Call, FactUpdate, Facts, Marks, RareFacts, TagStatus, TextFact, TextKind};
use crate::json::JsonRef;
use crate::profile::CallOutcome;

/// Facts whose values have not been read. `V` says where a value is: a [`JsonRef`] in an event, or
/// a place in the lines of one shape.
#[derive(Debug)]
pub(crate) struct FactTemplate<'e, V> {
    pub(crate) tag: Arc<str>,
    pub(crate) tag_status: TagStatus,
    pub(crate) marks: Marks,
    /// Has been read: within a session it is the same in every line.
    pub(crate) session: Option<Cow<'e, str>>,
    pub(crate) time: Option<V>,
    pub(crate) order: Option<V>,
    pub(crate) texts: SmallVec<[TextTemplate<V>; 1]>,
    pub(crate) thought: Thought<V>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thought<V> {
    /// The event has other details as well.
    Unread,
    Nothing,
    Chunk(V),
}

impl<V> Thought<V> {
    pub(crate) fn map<'v, W>(&'v self, chunk: impl FnOnce(&'v V) -> W) -> Thought<W> {
        match self {
            Self::Unread => Thought::Unread,
            Self::Nothing => Thought::Nothing,
            Self::Chunk(value) => Thought::Chunk(chunk(value)),
        }
    }
}

/// A text: strings that are concatenated.
#[derive(Debug)]
pub(crate) struct TextTemplate<V> {
    pub(crate) kind: TextKind,
    /// The values that name the group, if texts have groups.
    pub(crate) group: Option<SmallVec<[Option<V>; 1]>>,
    /// Whether an empty line is between them.
    pub(crate) paragraphs: bool,
    pub(crate) chunks: SmallVec<[V; 1]>,
}

pub(crate) trait Values<'f, V> {
    /// A string, or a number or boolean as text.
    fn text(&self, value: &'f V) -> Cow<'f, str>;
    /// A time in milliseconds.
    fn time(&self, value: &'f V) -> Option<f64>;
}

impl<V> FactTemplate<'_, V> {
    #[inline]
    pub(crate) fn facts<'f>(
        &'f self,
        line: u64,
        offset: u64,
        values: &impl Values<'f, V>,
    ) -> Facts<'f> {
        let text = |text: &'f TextTemplate<V>| TextFact {
            kind: text.kind,
            group: text.group.as_ref().map(|parts| group_key(parts, |part| values.text(part))),
            text: match &text.chunks[..] {
                [chunk] => values.text(chunk),
                chunks => {
                    let joint = if text.paragraphs { "\n\n" } else { "" };
                    joined(chunks.iter().map(|chunk| values.text(chunk)), joint)
                }
            },
        };
        let (first, more) = match &self.texts[..] {
            [] => (None, &[][..]),
            [first, more @ ..] => (Some(first), more),
        };
        Facts {
            line,
            offset,
            tag: &self.tag,
            tag_status: self.tag_status,
            marks: self.marks,
            session: self.session.as_deref(),
            time: self.time.as_ref().and_then(|time| values.time(time)),
            order: self.order.as_ref().map(|it| values.text(it)),
            text: first.map(text),
            more_texts: more.iter().map(text).collect(),
            thought: self.thought.map(|chunk| values.text(chunk)),
            rare: None,
            event: None,
            is_of_sub_agent: false,
        }
    }
}

/// Which facts an event has, and where in it their values are.
///
/// All decisions have been made, so all that they depend on has been read. The values of the
/// template have not: whatever they are, the plan is the same.
#[derive(Debug)]
pub(crate) struct Plan<'e> {
    pub(super) event: JsonRef<'e>,
    pub(crate) template: FactTemplate<'e, JsonRef<'e>>,
    /// Has been read, with all that it depends on.
    pub(super) rare: Option<Box<RareFacts<'e>>>,
    /// The final text, if it is one string or several.
    pub(super) final_text: Option<SmallVec<[JsonRef<'e>; 1]>>,
}

impl<'e> Plan<'e> {
    /// Whether the profile has events of this kind.
    pub(crate) fn is_known(&self) -> bool {
        self.template.tag_status != TagStatus::Unknown
    }

    /// Whether other lines can have the same plan with other values: it starts, completes and ends
    /// nothing, and nothing is missing.
    pub(crate) fn is_repeatable(&self) -> bool {
        !self.template.marks.is_incomplete && self.rare.is_none() && self.final_text.is_none()
    }

    /// All that was decided, without the values of the facts.
    pub(crate) fn decisions(&self) -> String {
        let FactTemplate { tag, tag_status, marks, session, texts, .. } = &self.template;
        let texts: Vec<_> = texts.iter().map(|text| (text.kind, text.chunks.len())).collect();
        let final_text = self.final_text.as_ref().map(SmallVec::len);
        let rare = self.rare.as_deref().map(RareFacts::decisions);
        format!("{tag} {tag_status:?} {marks:?} {session:?} {texts:?} {final_text:?} {rare:?}")
    }

    /// Whether it reports an error whose text does not say why the run failed: texts of providers
    /// may say it.
    pub(crate) fn has_unexplained_error(&self) -> bool {
        let facts = self.rare.iter().flat_map(|rare| &rare.run_facts);
        facts.into_iter().any(|update| matches!(update, FactUpdate::Unexplained(_)))
    }

    /// The strings that are the assistant's text.
    pub(crate) fn text_values(&self) -> impl Iterator<Item = JsonRef<'e>> {
        let chunks = self.template.texts.iter().flat_map(|text| &text.chunks);
        chunks.chain(self.final_text.iter().flatten()).copied()
    }

    /// The halves of calls: those that start, then those that complete.
    pub(crate) fn calls(&self) -> (&[Call<'e>], &[(Call<'e>, CallOutcome)]) {
        self.rare.as_ref().map_or((&[], &[]), |rare| (&rare.started, &rare.completed))
    }

    /// Whether the event ends the run, or a turn of it.
    pub(crate) fn ends_run(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.end.is_some())
    }

    pub(crate) fn facts(&mut self, line: u64, offset: u64) -> Facts<'_> {
        let mut rare = self.rare.take();
        if let Some(chunks) = self.final_text.take() {
            rare.get_or_insert_default().final_text = Some(AnswerText(chunks.into_vec()));
        }
        Facts { rare, event: Some(self.event), ..self.template.facts(line, offset, &InEvent) }
    }
}

struct InEvent;

impl<'f, 'e: 'f> Values<'f, JsonRef<'e>> for InEvent {
    fn text(&self, value: &'f JsonRef<'e>) -> Cow<'f, str> {
        value.scalar_text().unwrap_or_default()
    }

    fn time(&self, value: &'f JsonRef<'e>) -> Option<f64> {
        time_ms(*value)
    }
}

/// The chunks with the joint between them, also next to an empty chunk.
pub(super) fn joined<'e>(
    mut chunks: impl Iterator<Item = Cow<'e, str>>,
    joint: &str,
) -> Cow<'e, str> {
    let mut text = chunks.next().unwrap_or_default();
    for chunk in chunks {
        if text.is_empty() && joint.is_empty() {
            text = chunk;
        } else {
            text.to_mut().extend([joint, &chunk]);
        }
    }
    text
}

/// The key of a group: its parts, one on each line.
pub(super) fn group_key<'p, 'e, V>(
    parts: &'p [Option<V>],
    text: impl Fn(&'p V) -> Cow<'e, str>,
) -> Cow<'e, str> {
    let parts = parts.iter().map(|part| part.as_ref().map(&text).unwrap_or_default());
    parts.reduce(|key, part| Cow::Owned(format!("{key}\n{part}"))).unwrap_or_default()
}
