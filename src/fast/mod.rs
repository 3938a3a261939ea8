//! The memory of shapes: lines that repeat an earlier one but for values nobody looks at.
//!
//! # Why it cannot change what is found
//!
//! A line is learned when it is an event that satisfies every schema, and when its plan names
//! where the values of its facts stand. By then the tape has noted every value that the validator
//! or a rule of the profile *looked at* (see [`Doc`]); kinds, keys, and how many parts a container
//! has are looked at without a note. The template is the line with slots in place of the strings
//! and the plain numbers that nobody looked at; all other bytes are literal.
//!
//! A later line that equals the template outside the slots, and has in each slot a well-formed
//! value of the same kind, is the same JSON text but for these values: same kinds, keys, counts,
//! depth, no duplicate key, no broken UTF-8. Validator and profile are deterministic and would see
//! the same in every place they look at, so they would look at the same places and find the same:
//! the line is valid, and its facts are read from the same places. Whatever depends on a value
//! through its length or content (`const`, `pattern`, `minLength`, `minimum`, `uniqueItems`, a
//! condition of a profile) is a look, and its value is literal. So this holds for any schema and
//! any profile; one that looks at everything leaves no slot, and nothing is learned.
//!
//! Only events inside the run are learned, and none is recalled in the place of a stream's first:
//! that one may be held against another schema.
//!
//! Slots for numbers take what was seen: digits only, at most fifteen, so that every way to
//! ask for the *kind* of a number (integer or not) has the same answer. Templates belong to one
//! contract, and lines without terminator are not recalled: their end is not known to be theirs.

pub mod budget;

use std::borrow::Cow;
use std::ops::Range;

use crate::fast::budget::Credit;
use crate::limits::{SHAPE_BYTES_MAX, SLOTS_MAX, TEMPLATES_MAX};
use crate::stream::line::{Ending, Line, Lines};
use crate::json::tape::{
    Cursor, DIGITS_MAX, Doc, ENTRIES_NOTED, Kind, decimal, digits, string_end, unescaped,
};

/// Remembers shapes of lines, and for each how to read it.
#[derive(Debug)]
pub struct Shapes<R> {
    templates: Vec<Template<R>>,
    /// The one that was recalled or learned last; it is tried first.
    latest: usize,
    /// The next one to be replaced.
    oldest: usize,
    credit: Credit,
    /// Of the latest line that was compared.
    slots: [Slot; SLOTS_MAX],
}

#[derive(Debug)]
struct Template<R> {
    text: Vec<u8>,
    slots: Vec<SlotOf>,
    /// What follows the last slot.
    tail: usize,
    recipe: R,
}

/// A slot of a template.
#[derive(Debug, Clone)]
struct SlotOf {
    /// What stands before it, from the slot before.
    literal: Range<usize>,
    kind: SlotKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotKind {
    String,
    Digits,
}

/// A line that has a shape, and its values in the slots.
#[derive(Debug)]
pub struct Recalled<'a, R> {
    /// How to read it.
    pub recipe: &'a R,
    /// Its values.
    pub values: Values<'a>,
}

/// The values of a line in the slots of its shape.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    text: &'a str,
    slots: &'a [Slot; SLOTS_MAX],
}

/// Where a value stands in a line.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    start: usize,
    end: usize,
    /// Of a string: it has no escapes.
    plain: bool,
}

/// Where a value of a line comes from.
#[derive(Debug)]
pub enum Source {
    /// This slot.
    Slot(usize),
    /// It is the same in every line of the shape: a string, or the digits of a number.
    Literal(String),
}

/// Where the values of a learned line will come from.
#[derive(Debug)]
pub struct Sources<'t> {
    /// The values that become slots, by their place on the tape.
    slots: &'t [usize],
}

impl Sources<'_> {
    /// Where this value comes from.
    pub fn of(&self, cursor: Cursor<'_>) -> Source {
        match self.slots.iter().position(|&slot| slot == cursor.index()) {
            Some(slot) => Source::Slot(slot),
            None if cursor.kind() == Kind::String => Source::Literal(cursor.unescaped().into()),
            None => Source::Literal(cursor.written().to_owned()),
        }
    }
}

impl<'a> Values<'a> {
    /// A string, escapes undone.
    #[inline]
    pub fn text(&self, source: &'a Source) -> Cow<'a, str> {
        match source {
            Source::Literal(text) => Cow::Borrowed(text),
            Source::Slot(slot) => {
                let written = self.written(*slot);
                let plain = self.slots[*slot].plain;
                if plain { Cow::Borrowed(written) } else { Cow::Owned(unescaped(written)) }
            }
        }
    }

    fn written(&self, slot: usize) -> &'a str {
        &self.text[self.slots[slot].start..self.slots[slot].end]
    }

    /// A number.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "so many digits are exact")]
    pub fn number(&self, source: &Source) -> f64 {
        match source {
            Source::Literal(number) => number.parse().unwrap_or_default(),
            Source::Slot(slot) => {
                let Slot { start, end, .. } = self.slots[*slot];
                decimal(self.text.as_bytes(), start, end) as f64
            }
        }
    }
}

impl<R> Default for Shapes<R> {
    fn default() -> Self {
        let slots = [Slot::default(); SLOTS_MAX];
        Self { templates: Vec::new(), latest: 0, oldest: 0, credit: Credit::default(), slots }
    }
}

impl<R> Shapes<R> {
    /// Takes the next line, if it has a shape that is remembered; tells how to read it.
    #[inline]
    pub fn recall<'s, 'a: 's>(
        &'s mut self,
        lines: &mut Lines<'a>,
    ) -> Option<(Line<'a>, Recalled<'s, R>)> {
        let (text, bytes) = lines.rest()?;
        let count = self.templates.len();
        let mut index = self.latest;
        let mut tried = 0;
        let (length, ending) = loop {
            let template = self.templates.get(index)?;
            if let Some(end) = template.compare(text, bytes, &mut self.slots) {
                break end;
            }
            index = if index + 1 < count { index + 1 } else { 0 };
            tried += 1;
            if tried == count {
                return None;
            }
        };
        self.latest = index;
        self.credit.restore();
        let values = Values { text, slots: &self.slots };
        let line = lines.take(length, ending)?;
        Some((line, Recalled { recipe: &self.templates[index].recipe, values }))
    }

    /// Learns the shape of a line that is a valid event. `doc` has been looked at by all who
    /// decide anything by it; `recipe` says how to read lines of the shape, if that is possible.
    pub fn learn(
        &mut self,
        line: &Line<'_>,
        doc: &Doc<'_>,
        recipe: impl FnOnce(&Sources<'_>) -> Option<R>,
    ) {
        let known = doc.entries().len() <= ENTRIES_NOTED && doc.text().len() <= SHAPE_BYTES_MAX;
        // A line that begins with a byte order mark has offsets of its own; where one that ends
        // with a carriage return ends is told by what follows it.
        let known = known && !doc.text().ends_with('\r');
        if !known || line.bytes.len() != doc.text().len() || !self.credit.spend() {
            return;
        }
        let mut values = Vec::new();
        scalars(doc.root(), &mut values);
        values.retain(|value| is_slot(*value, doc.looks()));
        let slots: Vec<usize> = values.iter().map(|it| it.index()).collect();
        if slots.is_empty() || slots.len() > SLOTS_MAX {
            return;
        }
        if let Some(recipe) = recipe(&Sources { slots: &slots }) {
            self.remember(Template::new(doc, &values, recipe));
        }
    }

    fn remember(&mut self, template: Template<R>) {
        if self.templates.len() < TEMPLATES_MAX {
            self.latest = self.templates.len();
            self.templates.push(template);
        } else {
            self.latest = self.oldest;
            self.templates[self.oldest] = template;
        }
        self.oldest = (self.latest + 1) % TEMPLATES_MAX;
    }
}

/// The values that are no containers, in the order of the text.
fn scalars<'a>(cursor: Cursor<'a>, into: &mut Vec<Cursor<'a>>) {
    match cursor.kind() {
        Kind::Object => cursor.members().for_each(|(_, value)| scalars(value, into)),
        Kind::Array => cursor.items().for_each(|item| scalars(item, into)),
        Kind::Null | Kind::False | Kind::True | Kind::Number | Kind::String => into.push(cursor),
    }
}

/// Whether a value may change from line to line: nobody looked at it, and its like can be told.
fn is_slot(value: Cursor<'_>, looks: u128) -> bool {
    let seen = looks >> value.index() & 1 != 0;
    let digits = value.written();
    !seen
        && match value.kind() {
            Kind::String => true,
            Kind::Number => {
                digits.len() <= DIGITS_MAX && digits.bytes().all(|it| it.is_ascii_digit())
            }
            Kind::Null | Kind::False | Kind::True | Kind::Array | Kind::Object => false,
        }
}

impl<R> Template<R> {
    fn new(doc: &Doc<'_>, slots: &[Cursor<'_>], recipe: R) -> Self {
        let text = doc.text();
        let mut tail = 0;
        let slots = slots
            .iter()
            .map(|slot| {
                let start = slot.written().as_ptr().addr() - text.as_ptr().addr();
                let literal = tail..start;
                tail = start + slot.written().len();
                let is_string = slot.kind() == Kind::String;
                let kind = if is_string { SlotKind::String } else { SlotKind::Digits };
                SlotOf { literal, kind }
            })
            .collect();
        Self { text: text.as_bytes().to_vec(), slots, tail, recipe }
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
            let (end, plain) = match of.kind {
                SlotKind::String => string_end(bytes, start).map(|it| (it.at, it.plain))?,
                SlotKind::Digits => (digits_end(bytes, start)?, true),
            };
            *slot = Slot { start, end, plain };
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
