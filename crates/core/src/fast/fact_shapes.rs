//! How to read the facts of a line that has a known shape.

use std::borrow::Cow;

use super::shapes::{Shapes, Slot, SlotPlace, Slots, is_short};
use crate::facts::{FactTemplate, Facts, Marks, Plan, TextTemplate, Thought, Values, milliseconds};
use crate::json::{Doc, JsonRef, Kind, decimal, unescaped};
use crate::stream::{Block, Line, ParsedEvent};

/// The shapes of events, and how to read the facts of each.
#[derive(Debug, Default)]
pub(crate) struct FactShapes(Shapes<KnownEvent>);

#[derive(Debug)]
struct KnownEvent {
    facts: FactTemplate<'static, Source>,
    /// The pointers to the members that the profile does not know. They depend on keys only.
    unknown_members: Vec<String>,
}

/// Where a value of a line comes from.
#[derive(Debug)]
enum Source {
    Slot(usize),
    /// It is the same in every line of the shape: a string, or the digits of a number.
    Literal(String),
}

struct SlotValues<'a> {
    text: &'a str,
    slots: &'a Slots,
}

impl<'a> Values<'a, Source> for SlotValues<'a> {
    #[inline]
    fn text(&self, source: &'a Source) -> Cow<'a, str> {
        match source {
            Source::Literal(text) => Cow::Borrowed(text),
            Source::Slot(slot) => {
                let Slot { start, end, is_plain } = self.slots[*slot];
                let raw = &self.text[start..end];
                if is_plain { Cow::Borrowed(raw) } else { Cow::Owned(unescaped(raw)) }
            }
        }
    }

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "so few digits are exact")]
    fn time(&self, source: &'a Source) -> Option<f64> {
        match source {
            Source::Literal(time) => time.parse().ok().or_else(|| milliseconds(time)),
            Source::Slot(slot) => {
                let Slot { start, end, .. } = self.slots[*slot];
                let bytes = self.text.as_bytes();
                // Of a string: the quote is before the slot.
                if start.checked_sub(1).is_some_and(|before| bytes[before] == b'"') {
                    return milliseconds(&self.text(source));
                }
                Some(decimal(bytes, start, end) as f64)
            }
        }
    }
}

/// A line that has a shape, and its values.
pub(crate) struct Recalled<'s> {
    template: &'s FactTemplate<'static, Source>,
    pub(crate) unknown_members: &'s [String],
    values: SlotValues<'s>,
}

impl<'s> Recalled<'s> {
    #[inline]
    pub(crate) fn marks(&self) -> Marks {
        self.template.marks
    }

    #[inline]
    pub(crate) fn facts(&self, line: &Line<'_>) -> Facts<'s> {
        self.template.facts(line.number, line.offset, &self.values)
    }
}

impl FactShapes {
    /// Takes the next line, if it has a shape that was learned.
    #[inline]
    pub(crate) fn recall<'s, 'a: 's>(
        &'s mut self,
        block: &mut Block<'a>,
    ) -> Option<(Line<'a>, Recalled<'s>)> {
        let (text, bytes) = block.rest()?;
        let (length, ending) = self.0.find(text, bytes)?;
        let line = block.take(length, ending)?;
        let (KnownEvent { facts: template, unknown_members }, slots) = self.0.latest();
        Some((line, Recalled { template, unknown_members, values: SlotValues { text, slots } }))
    }

    /// Whether it may pay to learn the shape of an event, so that it is worth being validated.
    pub(crate) fn has_budget(&self, event: &ParsedEvent<'_>, plan: &Plan<'_>) -> bool {
        event.json.doc().is_some_and(|doc| fits(doc, plan)) && self.0.has_budget()
    }

    /// Learns the shape of a line that is a valid event, if lines of this shape can have the same
    /// plan. Everything that decides anything by the event must have read it before.
    pub(crate) fn learn(
        &mut self,
        line: &Line<'_>,
        event: &ParsedEvent<'_>,
        plan: &Plan<'_>,
        unknown_members: &[String],
    ) {
        let Some(doc) = event.json.doc().filter(|doc| fits(doc, plan)) else { return };
        let Some(slots) = self.0.places(line.bytes, doc) else { return };
        if let Some(facts) = template(plan, &slots) {
            let unknown_members = unknown_members.to_vec();
            self.0.learn(line.bytes, &slots, KnownEvent { facts, unknown_members });
        }
    }
}

/// Whether an event is short enough, and other lines can have the same plan.
fn fits(doc: &Doc<'_>, plan: &Plan<'_>) -> bool {
    plan.is_repeatable() && is_short(doc)
}

/// The plan of a line as that of its shape: each value is in a slot, or literal.
fn template(plan: &Plan<'_>, slots: &[SlotPlace]) -> Option<FactTemplate<'static, Source>> {
    let plan = &plan.template;
    let source = |node: &JsonRef<'_>| {
        let cursor = node.cursor()?;
        let slot = slots.iter().position(|slot| slot.entry == cursor.index());
        Some(match slot {
            Some(slot) => Source::Slot(slot),
            None if cursor.kind() == Kind::String => Source::Literal(cursor.unescaped().into()),
            None => Source::Literal(cursor.written().to_owned()),
        })
    };
    // A number that names a group is compared as it is read, not as it is written.
    let part = |node: &JsonRef<'_>| match (source(node)?, node.scalar_text()) {
        (Source::Literal(_), Some(text)) => Some(Source::Literal(text.into_owned())),
        (source, _) => Some(source),
    };
    let optional = |node: &Option<JsonRef<'_>>| match node {
        Some(node) => part(node).map(Some),
        None => Some(None),
    };
    let text = |text: &TextTemplate<JsonRef<'_>>| {
        let parts = text.group.as_ref();
        let parts = parts.map(|parts| parts.iter().map(optional).collect::<Option<_>>());
        let group = match parts {
            Some(parts) => Some(parts?),
            None => None,
        };
        let chunks = text.chunks.iter().map(source).collect::<Option<_>>()?;
        Some(TextTemplate { kind: text.kind, group, paragraphs: text.paragraphs, chunks })
    };
    Some(FactTemplate {
        tag: plan.tag.clone(),
        tag_status: plan.tag_status,
        marks: plan.marks,
        session: plan.session.as_deref().map(|session| Cow::Owned(session.to_owned())),
        time: plan.time.as_ref().and_then(source),
        order: optional(&plan.order)?,
        texts: plan.texts.iter().map(text).collect::<Option<_>>()?,
        thought: match &plan.thought {
            Thought::Chunk(chunk) => Thought::Chunk(source(chunk)?),
            Thought::Nothing => Thought::Nothing,
            Thought::Unread => Thought::Unread,
        },
    })
}
