//! The shapes of lines, with what is known about the lines of each.

use std::ops::Range;

use crate::json::{Cursor, DIGITS_MAX, Doc, ENTRIES_NOTED, Kind, digits, string_end};
use crate::limits::{SHAPE_BYTES_MAX, SHAPES_MAX, SLOTS_MAX};
use crate::stream::Ending;

/// Tries without a use of what they learned, before tries become rare.
const LEARNED_MAX: u32 = 64;

/// How rare: one in so many.
const LEARNED_EVERY: u32 = 256;

/// Shapes of lines; `K` is what is known about the lines of one shape.
#[derive(Debug)]
pub(crate) struct Shapes<K> {
    known: Vec<Shape<K>>,
    /// The one that was used or learned last; it is tried first.
    latest: usize,
    /// The next one to be replaced.
    oldest: usize,
    budget: Budget,
    /// Of the latest line that was compared.
    slots: Slots,
}

/// A line with slots.
#[derive(Debug)]
struct Shape<K> {
    text: Vec<u8>,
    slots: Vec<SlotRule>,
    /// Where the text behind the last slot begins.
    tail: usize,
    known: K,
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

/// Where a value is in a line: the digits of a number, or what is between the quotes of a string.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Of a string: it has no escapes.
    pub(crate) is_plain: bool,
}

/// The values of a line that are in slots, in their order.
pub(crate) type Slots = [Slot; SLOTS_MAX];

/// A value that may differ in other lines of the same shape.
#[derive(Debug, Clone)]
pub(crate) struct SlotPlace {
    pub(crate) entry: usize,
    /// The digits of a number, or what is between the quotes of a string.
    pub(crate) range: Range<usize>,
    kind: SlotKind,
}

impl<K> Default for Shapes<K> {
    fn default() -> Self {
        let slots = [Slot::default(); SLOTS_MAX];
        Self { known: Vec::new(), latest: 0, oldest: 0, budget: Budget::default(), slots }
    }
}

impl<K> Shapes<K> {
    /// The length and the ending of the line that `text` begins with, if its shape was learned; it
    /// is the latest shape then. `bytes` are those of the text, and may go on behind it.
    #[inline]
    pub(crate) fn find(&mut self, text: &str, bytes: &[u8]) -> Option<(usize, Ending)> {
        let count = self.known.len();
        let mut index = self.latest;
        let mut tried = 0;
        loop {
            let shape = self.known.get(index)?;
            if let Some(end) = shape.compare(text, bytes, &mut self.slots) {
                self.latest = index;
                self.budget.left = LEARNED_MAX;
                return Some(end);
            }
            index = if index + 1 < count { index + 1 } else { 0 };
            tried += 1;
            if tried == count {
                return None;
            }
        }
    }

    /// What is known about the shape that was found, and the values of its line.
    #[inline]
    pub(crate) fn latest(&self) -> (&K, &Slots) {
        (&self.known[self.latest].known, &self.slots)
    }

    /// Whether it may pay to learn one more shape.
    pub(crate) fn has_budget(&self) -> bool {
        self.budget.left > 0
    }

    /// The values of a line that may differ in others of its shape, if the line is short enough and
    /// there is a budget for it. All that decides anything by the line must have read it before.
    pub(crate) fn places(&mut self, line: &[u8], doc: &Doc<'_>) -> Option<Vec<SlotPlace>> {
        // A line with a byte order mark has other offsets; a carriage return at the end may belong
        // to the terminator.
        let fits = !doc.text().ends_with('\r') && line.len() == doc.text().len();
        if !fits || !is_short(doc) || !self.budget.spend() {
            return None;
        }
        let mut values = Vec::new();
        scalars(doc.root(), &mut values);
        let places = values.into_iter().filter_map(|value| SlotPlace::of(value, doc));
        let places: Vec<_> = places.collect();
        (1..=SLOTS_MAX).contains(&places.len()).then_some(places)
    }

    pub(crate) fn learn(&mut self, text: &[u8], slots: &[SlotPlace], known: K) {
        let shape = Shape::new(text, slots, known);
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

pub(crate) fn is_short(doc: &Doc<'_>) -> bool {
    doc.entries().len() <= ENTRIES_NOTED && doc.text().len() <= SHAPE_BYTES_MAX
}

/// The values that are not containers, in the order of the text.
fn scalars<'a>(cursor: Cursor<'a>, into: &mut Vec<Cursor<'a>>) {
    match cursor.kind() {
        Kind::Object => cursor.members().for_each(|(_, value)| scalars(value, into)),
        Kind::Array => cursor.items().for_each(|item| scalars(item, into)),
        Kind::Null | Kind::False | Kind::True | Kind::Number | Kind::String => into.push(cursor),
    }
}

impl SlotPlace {
    /// The place of a value, if it can become a slot: no schema or profile rule read it, and its
    /// kind can be checked again.
    fn of(value: Cursor<'_>, doc: &Doc<'_>) -> Option<Self> {
        let written = value.written();
        let kind = match value.kind() {
            Kind::String => SlotKind::String,
            Kind::Number => SlotKind::Digits,
            Kind::Null | Kind::False | Kind::True | Kind::Array | Kind::Object => return None,
        };
        let is_checkable = kind == SlotKind::String
            || written.len() <= DIGITS_MAX && written.bytes().all(|byte| byte.is_ascii_digit());
        let was_read = doc.reads() >> value.index() & 1 != 0;
        let start = written.as_ptr().addr() - doc.text().as_ptr().addr();
        let range = start..start + written.len();
        (is_checkable && !was_read).then_some(Self { entry: value.index(), range, kind })
    }
}

impl<K> Shape<K> {
    fn new(text: &[u8], places: &[SlotPlace], known: K) -> Self {
        let mut tail = 0;
        let slots = places.iter().map(|place| {
            let literal = tail..place.range.start;
            tail = place.range.end;
            SlotRule { literal, kind: place.kind }
        });
        let slots = slots.collect();
        Self { text: text.to_vec(), slots, tail, known }
    }

    /// How long the line is that `bytes` begin with, and how it ends, if it has this shape; its
    /// values are in `slots` then. It must end within `text`; `bytes` go on behind that.
    #[inline]
    fn compare(&self, text: &str, bytes: &[u8], slots: &mut Slots) -> Option<(usize, Ending)> {
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
