//! The shapes of lines, and how to read the facts of a line that has one.

use std::borrow::Cow;
use std::ops::Range;

use crate::facts::{FactTemplate, Facts, Marks, Plan, TextTemplate, Values, milliseconds};
use crate::json::{
    Cursor, DIGITS_MAX, Doc, ENTRIES_NOTED, JsonRef, Kind, decimal, digits, string_end, unescaped,
};
use crate::limits::{SHAPE_BYTES_MAX, SHAPES_MAX, SLOTS_MAX};
use crate::stream::{Block, Ending, Line, ParsedEvent};

/// Tries without a use of what they learned, before tries become rare.
const LEARNED_MAX: u32 = 64;

/// How rare: one in so many.
const LEARNED_EVERY: u32 = 256;

#[derive(Debug)]
pub(crate) struct Shapes {
    known: Vec<Shape>,
    /// The one that was used or learned last; it is tried first.
    latest: usize,
    /// The next one to be replaced.
    oldest: usize,
    budget: Budget,
    /// Of the latest line that was compared.
    slots: [Slot; SLOTS_MAX],
}

/// A line with slots, and how to read its facts.
#[derive(Debug)]
struct Shape {
    text: Vec<u8>,
    slots: Vec<SlotRule>,
    /// Where the text behind the last slot begins.
    tail: usize,
    facts: FactTemplate<'static, Source>,
    /// The pointers to the members that the profile does not know. They depend on keys only.
    unknown_members: Vec<String>,
}

#[derive(Debug, Clone)]
struct SlotRule {
    /// The text before it, from the slot before.
    literal: Range<usize>,
    kind: SlotKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotKind {
    String,
    Digits,
}

/// Where a value is in a line.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    start: usize,
    end: usize,
    /// Of a string: it has no escapes.
    is_plain: bool,
}

/// Where a value of a line comes from.
#[derive(Debug)]
enum Source {
    Slot(usize),
    /// It is the same in every line of the shape: a string, or the digits of a number.
    Literal(String),
}

/// The values of a line in the slots of its shape.
struct SlotValues<'a> {
    text: &'a str,
    slots: &'a [Slot; SLOTS_MAX],
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
    unknown_members: &'s [String],
    values: SlotValues<'s>,
}

impl<'s> Recalled<'s> {
    #[inline]
    pub(crate) fn marks(&self) -> Marks {
        self.template.marks
    }

    #[inline]
    pub(crate) fn unknown_members(&self) -> &'s [String] {
        self.unknown_members
    }

    #[inline]
    pub(crate) fn facts(&self, line: &Line<'_>) -> Facts<'s> {
        self.template.facts(line.number, line.offset, &self.values)
    }
}

impl Default for Shapes {
    fn default() -> Self {
        let slots = [Slot::default(); SLOTS_MAX];
        Self { known: Vec::new(), latest: 0, oldest: 0, budget: Budget::default(), slots }
    }
}

impl Shapes {
    /// Takes the next line, if it has a shape that was learned.
    #[inline]
    pub(crate) fn recall<'s, 'a: 's>(
        &'s mut self,
        block: &mut Block<'a>,
    ) -> Option<(Line<'a>, Recalled<'s>)> {
        let (text, bytes) = block.rest()?;
        let count = self.known.len();
        let mut index = self.latest;
        let mut tried = 0;
        let (length, ending) = loop {
            let shape = self.known.get(index)?;
            if let Some(end) = shape.compare(text, bytes, &mut self.slots) {
                break end;
            }
            index = if index + 1 < count { index + 1 } else { 0 };
            tried += 1;
            if tried == count {
                return None;
            }
        };
        let line = block.take(length, ending)?;
        self.latest = index;
        self.budget.refill();
        let values = SlotValues { text, slots: &self.slots };
        let Shape { facts: template, unknown_members, .. } = &self.known[index];
        Some((line, Recalled { template, unknown_members, values }))
    }

    /// Whether it may pay to learn the shape of an event, so that it is worth being validated.
    pub(crate) fn has_budget(&self, event: &ParsedEvent<'_>, plan: &Plan<'_>) -> bool {
        event.json.doc().is_some_and(|doc| fits(doc, plan)) && self.budget.is_left()
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
        // A line with a byte order mark has other offsets; a carriage return at the end may belong
        // to the terminator.
        let fits = !doc.text().ends_with('\r') && line.bytes.len() == doc.text().len();
        if !fits || !self.budget.spend() {
            return;
        }
        let mut values = Vec::new();
        scalars(doc.root(), &mut values);
        values.retain(|value| is_slot(*value, doc.reads()));
        if values.is_empty() || values.len() > SLOTS_MAX {
            return;
        }
        if let Some(facts) = template(plan, &values) {
            self.remember(Shape::new(doc, &values, facts, unknown_members));
        }
    }

    fn remember(&mut self, shape: Shape) {
        if self.known.len() < SHAPES_MAX {
            self.latest = self.known.len();
            self.known.push(shape);
        } else {
            self.latest = self.oldest;
            self.known[self.oldest] = shape;
        }
        self.oldest = (self.latest + 1) % SHAPES_MAX;
    }
}

/// A budget for learning: each try costs, each use refills it. Learning does not pay in a stream
/// where nothing repeats.
#[derive(Debug)]
struct Budget {
    left: u32,
    passed: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: LEARNED_MAX, passed: 0 }
    }
}

impl Budget {
    /// Something that was learned was of use.
    #[inline]
    fn refill(&mut self) {
        self.left = LEARNED_MAX;
    }

    /// Whether [`Budget::spend`] says yes next.
    fn is_left(&self) -> bool {
        self.left > 0
    }

    /// Whether to learn once more; when the budget is used up, only now and then.
    fn spend(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        self.passed = (self.passed + 1) % LEARNED_EVERY;
        self.passed == 0
    }
}

/// Whether an event is short enough, and other lines can have the same plan.
fn fits(doc: &Doc<'_>, plan: &Plan<'_>) -> bool {
    plan.is_repeatable()
        && doc.entries().len() <= ENTRIES_NOTED
        && doc.text().len() <= SHAPE_BYTES_MAX
}

/// The plan of a line as that of its shape: each value is in a slot, or literal.
fn template(plan: &Plan<'_>, slots: &[Cursor<'_>]) -> Option<FactTemplate<'static, Source>> {
    let plan = &plan.template;
    let source = |node: &JsonRef<'_>| {
        let cursor = node.cursor()?;
        let slot = slots.iter().position(|slot| slot.index() == cursor.index());
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
        Some(TextTemplate { kind: text.kind, group, chunks })
    };
    Some(FactTemplate {
        tag: plan.tag.clone(),
        tag_status: plan.tag_status,
        marks: plan.marks,
        session: plan.session.as_deref().map(|session| Cow::Owned(session.to_owned())),
        time: plan.time.as_ref().and_then(source),
        order: [optional(&plan.order[0])?, optional(&plan.order[1])?],
        texts: plan.texts.iter().map(text).collect::<Option<_>>()?,
    })
}

/// The values that are not containers, in the order of the text.
fn scalars<'a>(cursor: Cursor<'a>, into: &mut Vec<Cursor<'a>>) {
    match cursor.kind() {
        Kind::Object => cursor.members().for_each(|(_, value)| scalars(value, into)),
        Kind::Array => cursor.items().for_each(|item| scalars(item, into)),
        Kind::Null | Kind::False | Kind::True | Kind::Number | Kind::String => into.push(cursor),
    }
}

/// Whether this value can become a slot: no schema or profile rule read it, and its kind can be
/// checked again.
fn is_slot(value: Cursor<'_>, reads: u128) -> bool {
    let was_read = reads >> value.index() & 1 != 0;
    let digits = value.written();
    !was_read
        && match value.kind() {
            Kind::String => true,
            Kind::Number => {
                digits.len() <= DIGITS_MAX && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Kind::Null | Kind::False | Kind::True | Kind::Array | Kind::Object => false,
        }
}

impl Shape {
    fn new(
        doc: &Doc<'_>,
        slots: &[Cursor<'_>],
        facts: FactTemplate<'static, Source>,
        unknown_members: &[String],
    ) -> Self {
        let text = doc.text();
        let mut tail = 0;
        let slots = slots.iter().map(|slot| {
            let start = slot.written().as_ptr().addr() - text.as_ptr().addr();
            let literal = tail..start;
            tail = start + slot.written().len();
            let is_string = slot.kind() == Kind::String;
            let kind = if is_string { SlotKind::String } else { SlotKind::Digits };
            SlotRule { literal, kind }
        });
        let slots = slots.collect();
        let (text, unknown_members) = (text.as_bytes().to_vec(), unknown_members.to_vec());
        Self { text, slots, tail, facts, unknown_members }
    }

    /// How long the line is that `bytes` begin with, and how it ends, if it has this shape; its
    /// values are in `slots` then. It must end within `text`; `bytes` go on behind that.
    #[inline]
    fn compare(
        &self,
        text: &str,
        bytes: &[u8],
        slots: &mut [Slot; SLOTS_MAX],
    ) -> Option<(usize, Ending)> {
        let mut at = 0;
        for (of, slot) in self.slots.iter().zip(slots) {
            let literal = &self.text[of.literal.clone()];
            let start = at + literal.len();
            if !is_literal(bytes.get(at..start)?, literal) {
                return None;
            }
            let (end, is_plain) = match of.kind {
                SlotKind::String => string_end(bytes, start).map(|end| (end.at, end.plain))?,
                SlotKind::Digits => (digits_end(bytes, start)?, true),
            };
            *slot = Slot { start, end, is_plain };
            at = end;
        }
        let tail = &self.text[self.tail..];
        let length = at + tail.len();
        // No line feed so far: neither a literal nor a value has one.
        let rest = text.as_bytes().get(at..)?.strip_prefix(tail)?;
        match rest {
            [b'\n', ..] => Some((length, Ending::Lf)),
            [b'\r', b'\n', ..] => Some((length, Ending::CrLf)),
            _ => None,
        }
    }
}

/// Whether two texts of one length are equal: as `==`, without the call, which is most of it for
/// literals of a few words.
#[inline]
fn is_literal(text: &[u8], literal: &[u8]) -> bool {
    let (Some(text_end), Some(end)) = (text.last_chunk::<16>(), literal.last_chunk::<16>()) else {
        return text == literal;
    };
    let pairs = text.as_chunks::<16>().0.iter().zip(literal.as_chunks::<16>().0);
    pairs.map(|(a, b)| (u128::from_ne_bytes(*a), u128::from_ne_bytes(*b))).all(|(a, b)| a == b)
        && text_end == end
}

/// The place behind the digits from `start` on, if they are a number that fits a slot.
#[inline]
fn digits_end(bytes: &[u8], start: usize) -> Option<usize> {
    let count = digits(bytes, start);
    let fits = count == 1 || (2..=DIGITS_MAX).contains(&count) && bytes[start] != b'0';
    fits.then_some(start + count)
}
