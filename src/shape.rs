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
//! Slots for numbers take what was seen: digits only, at most [`DIGITS_MAX`], so that every way to
//! ask for the *kind* of a number (integer or not) has the same answer. Templates belong to one
//! contract, and lines without terminator are not recalled: their end is not known to be theirs.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use crate::line::{Ending, Line};
use crate::tape::{Cursor, Doc, Kind, StringEnd, string_end, unescaped};

/// Shapes that are remembered.
const TEMPLATES_MAX: usize = 8;
/// Slots of a template.
const SLOTS_MAX: usize = 8;
/// Longest line that is learned, in bytes.
const LINE_BYTES_MAX: usize = 2_048;
/// Entries of the tape whose looks are noted.
const ENTRIES_MAX: usize = 64;
/// Digits of a number in a slot: such a number is exact as a double.
const DIGITS_MAX: usize = 15;
/// Lines that are learned without any being recalled, before learning becomes rare.
const CREDIT: u32 = 64;
/// How rare: one line in so many.
const RARELY: u32 = 256;

/// Remembers shapes of lines, and for each how to read it.
#[derive(Debug)]
pub struct Shapes<R> {
    templates: Vec<Template<R>>,
    /// The one that was recalled or learned last; it is tried first.
    latest: usize,
    /// The next one to be replaced.
    oldest: usize,
    credit: u32,
    passed: u32,
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
    /// A string, and whether anybody asks for it.
    String {
        used: bool,
    },
    Digits,
}

/// The values of a line in the slots of its shape.
#[derive(Debug)]
pub struct Values<'a>([Value<'a>; SLOTS_MAX]);

#[derive(Debug, Clone, Copy)]
enum Value<'a> {
    /// Nobody will ask for it.
    Unused,
    /// A string as it is written, and whether it has no escapes.
    Text(&'a str, bool),
    /// The number that digits make.
    Number(u64),
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
    /// The values that become slots, by their place on the tape, and whether they are asked for.
    slots: &'t [(usize, Cell<bool>)],
}

impl Sources<'_> {
    /// Where this value comes from.
    pub fn of(&self, cursor: Cursor<'_>) -> Source {
        match self.slots.iter().position(|slot| slot.0 == cursor.index()) {
            Some(slot) => {
                self.slots[slot].1.set(true);
                Source::Slot(slot)
            }
            None if cursor.kind() == Kind::String => Source::Literal(cursor.unescaped().into()),
            None => Source::Literal(cursor.written().to_owned()),
        }
    }
}

impl<'a> Values<'a> {
    /// A string, escapes undone.
    pub fn text(&self, source: &'a Source) -> Cow<'a, str> {
        match source {
            Source::Literal(text) => Cow::Borrowed(text),
            Source::Slot(slot) => match self.0[*slot] {
                Value::Text(text, true) => Cow::Borrowed(text),
                Value::Text(text, false) => Cow::Owned(unescaped(text)),
                Value::Number(_) | Value::Unused => Cow::Borrowed(""),
            },
        }
    }

    /// A number.
    #[expect(clippy::cast_precision_loss, reason = "so many digits are exact")]
    pub fn number(&self, source: &Source) -> Option<f64> {
        match source {
            Source::Literal(digits) => digits.parse().ok(),
            Source::Slot(slot) => match self.0[*slot] {
                Value::Number(number) => Some(number as f64),
                Value::Text(..) | Value::Unused => None,
            },
        }
    }
}

impl<R> Default for Shapes<R> {
    fn default() -> Self {
        Self { templates: Vec::new(), latest: 0, oldest: 0, credit: CREDIT, passed: 0 }
    }
}

impl<R> Shapes<R> {
    /// How to read the line, and its values, if it has a shape that is remembered.
    #[inline]
    pub fn recall<'a>(&'a mut self, line: &Line<'a>) -> Option<(&'a R, Values<'a>)> {
        if line.ending == Ending::EndOfStream {
            return None;
        }
        let count = self.templates.len();
        for step in 0..count {
            let index = (self.latest + step) % count;
            if let Some(values) = self.templates[index].values(line) {
                self.latest = index;
                self.credit = CREDIT;
                return Some((&self.templates[index].recipe, values));
            }
        }
        None
    }

    /// Learns the shape of a line that is a valid event. `doc` has been looked at by all who
    /// decide anything by it; `recipe` says how to read lines of the shape, if that is possible.
    pub fn learn(
        &mut self,
        line: &Line<'_>,
        doc: &Doc<'_>,
        recipe: impl FnOnce(&Sources<'_>) -> Option<R>,
    ) {
        let known = doc.entries().len() <= ENTRIES_MAX && doc.text().len() <= LINE_BYTES_MAX;
        // A line that begins with a byte order mark has offsets of its own.
        if !known || line.bytes.len() != doc.text().len() || !self.is_worthwhile() {
            return;
        }
        let mut values = Vec::new();
        scalars(doc.root(), &mut values);
        values.retain(|value| is_slot(*value, doc.looks()));
        let slots: Vec<_> = values.iter().map(|it| (it.index(), Cell::new(false))).collect();
        if slots.is_empty() || slots.len() > SLOTS_MAX {
            return;
        }
        if let Some(recipe) = recipe(&Sources { slots: &slots }) {
            let used = slots.iter().map(|(_, used)| used.get());
            let slots = values.into_iter().zip(used).collect::<Vec<_>>();
            self.remember(Template::new(doc, &slots, recipe));
        }
    }

    /// Whether learning pays: it does not in a stream whose shapes never come again.
    fn is_worthwhile(&mut self) -> bool {
        if self.credit > 0 {
            self.credit -= 1;
            return true;
        }
        self.passed = (self.passed + 1) % RARELY;
        self.passed == 0
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
fn is_slot(value: Cursor<'_>, looks: u64) -> bool {
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
    fn new(doc: &Doc<'_>, slots: &[(Cursor<'_>, bool)], recipe: R) -> Self {
        let text = doc.text();
        let mut tail = 0;
        let slots = slots
            .iter()
            .map(|&(slot, used)| {
                let start = slot.written().as_ptr().addr() - text.as_ptr().addr();
                let literal = tail..start;
                tail = start + slot.written().len();
                let is_string = slot.kind() == Kind::String;
                let kind = if is_string { SlotKind::String { used } } else { SlotKind::Digits };
                SlotOf { literal, kind }
            })
            .collect();
        Self { text: text.as_bytes().to_vec(), slots, tail, recipe }
    }

    /// The values of a line in the slots, if it has this shape.
    #[inline]
    fn values<'a>(&self, line: &Line<'a>) -> Option<Values<'a>> {
        let bytes = line.padded();
        let mut values = [Value::Unused; SLOTS_MAX];
        let mut at = 0;
        for (slot, value) in self.slots.iter().zip(&mut values) {
            let literal = &self.text[slot.literal.clone()];
            let start = at + literal.len();
            if bytes.get(at..start)? != literal {
                return None;
            }
            (*value, at) = match slot.kind {
                SlotKind::String { used } => string(bytes, start, used)?,
                SlotKind::Digits => digits(bytes, start)?,
            };
        }
        (line.bytes.get(at..)? == &self.text[self.tail..]).then_some(Values(values))
    }
}

/// Goes over the string whose first byte is `bytes[start]`, to its closing quote.
#[inline]
fn string(bytes: &[u8], start: usize, used: bool) -> Option<(Value<'_>, usize)> {
    let StringEnd { at, plain, ascii } = string_end(bytes, start)?;
    if ascii && !used {
        return Some((Value::Unused, at));
    }
    Some((Value::Text(str::from_utf8(&bytes[start..at]).ok()?, plain), at))
}

/// Goes over the digits from `start` on.
#[inline]
fn digits(bytes: &[u8], start: usize) -> Option<(Value<'_>, usize)> {
    let mut number = 0;
    let mut at = start;
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        number = number * 10 + u64::from(digit - b'0');
        at += 1;
        if at > start + DIGITS_MAX {
            return None;
        }
    }
    let leads_with_zero = at > start + 1 && bytes[start] == b'0';
    (at > start && !leads_with_zero).then_some((Value::Number(number), at))
}
