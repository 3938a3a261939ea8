//! A value on a tape, and which values have been read.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use super::digits::{DIGITS_MAX, decimal};
use super::unescape::unescaped;
use super::{Entry, Kind, behind, trace};

/// One text and its record.
///
/// It notes which of its first 128 values were read, but not the reads of kinds, keys, and the
/// number of parts of a container. A value that was not read cannot have changed a decision.
#[derive(Debug)]
pub(crate) struct Doc<'a> {
    text: &'a str,
    entries: &'a [Entry],
    reads: Cell<u128>,
    /// Whether each of the other entries was read, if that is asked for.
    late_reads: RefCell<Option<Vec<bool>>>,
}

pub(crate) const ENTRIES_NOTED: usize = 128;

impl<'a> Doc<'a> {
    pub(super) fn new(text: &'a str, entries: &'a [Entry]) -> Self {
        Self { text, entries, reads: Cell::new(0), late_reads: RefCell::new(None) }
    }

    pub(crate) fn root(&self) -> Cursor<'_> {
        Cursor { doc: self, at: 0 }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        self.entries
    }

    /// A bit for each of the first [`ENTRIES_NOTED`] entries whose value was read.
    pub(crate) fn reads(&self) -> u128 {
        self.reads.get()
    }

    pub(crate) fn note_reads(&self, reads: u128) {
        self.reads.set(self.reads.get() | reads);
    }

    fn note_all_read(&self) {
        self.reads.set(u128::MAX);
        if let Some(late) = &mut *self.late_reads.borrow_mut() {
            late.fill(true);
        }
    }

    /// Notes the reads of all values from now on.
    pub(crate) fn note_late_reads(&self) {
        let late = self.entries.len().saturating_sub(ENTRIES_NOTED);
        *self.late_reads.borrow_mut() = Some(vec![false; late]);
    }

    /// Whether the value of an entry was read. Asks for [`Doc::note_late_reads`] before.
    pub(crate) fn was_read(&self, entry: usize) -> bool {
        match entry.checked_sub(ENTRIES_NOTED) {
            None => self.reads.get() >> entry & 1 != 0,
            Some(late) => self.late_reads.borrow().as_ref().is_none_or(|it| it[late]),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    doc: &'a Doc<'a>,
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn entry(self) -> Entry {
        self.doc.entries[self.at]
    }

    #[inline]
    fn to(self, at: usize) -> Self {
        Self { at, ..self }
    }

    pub(crate) fn index(self) -> usize {
        self.at
    }

    /// The first byte in the text, without the quote of a string.
    pub(crate) fn start(self) -> usize {
        self.entry().start as usize
    }

    #[inline]
    pub(crate) fn note_read(self) {
        if self.at < ENTRIES_NOTED {
            self.doc.note_reads(1 << self.at);
        } else if let Some(late) = &mut *self.doc.late_reads.borrow_mut() {
            late[self.at - ENTRIES_NOTED] = true;
        }
    }

    #[inline]
    pub(crate) fn kind(self) -> Kind {
        self.entry().kind
    }

    /// Whether the number has no fraction and no exponent.
    #[inline]
    pub(crate) fn is_plain_number(self) -> bool {
        self.entry().plain
    }

    #[inline]
    pub(crate) fn count(self) -> usize {
        self.doc.entries[self.entry().end as usize - 1].start as usize
    }

    /// The whole value as it is written.
    pub(crate) fn source(self) -> &'a str {
        self.note_read();
        let Entry { start, end, .. } = self.entry();
        let (start, end) = (start as usize, end as usize);
        match self.kind() {
            Kind::String => &self.doc.text[start - 1..=end],
            Kind::Array | Kind::Object => {
                self.doc.note_all_read();
                &self.doc.text[start..self.doc.entries[end - 1].end as usize]
            }
            Kind::Null | Kind::False | Kind::True | Kind::Number => &self.doc.text[start..end],
        }
    }

    /// The digits of a number, or the inside of a string as it is written; not noted as a read.
    #[inline]
    pub(crate) fn written(self) -> &'a str {
        let entry = self.entry();
        &self.doc.text[entry.start as usize..entry.end as usize]
    }

    /// The number, if it is at most [`DIGITS_MAX`] digits and nothing else; not noted as a read.
    #[inline]
    pub(crate) fn small_number(self) -> Option<u64> {
        let Entry { start, end, plain, .. } = self.entry();
        let (start, end) = (start as usize, end as usize);
        let text = self.doc.text.as_bytes();
        let is_small = plain && end - start <= DIGITS_MAX && text[start] != b'-';
        is_small.then(|| decimal(text, start, end))
    }

    /// The text of a string, escapes decoded; not noted as a read.
    #[inline]
    pub(crate) fn unescaped(self) -> Cow<'a, str> {
        let entry = self.entry();
        if entry.plain {
            Cow::Borrowed(self.written())
        } else {
            Cow::Owned(unescaped(self.written()))
        }
    }

    #[inline]
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        if self.kind() != Kind::Object {
            return None;
        }
        let entries = &self.doc.entries[..self.entry().end as usize - 1];
        let trace = trace(key.as_bytes());
        let mut at = self.at + 1;
        while let Some(name) = entries.get(at) {
            if (name.trace == trace || !name.plain) && self.to(at).is(key) {
                return Some(self.to(at + 1));
            }
            at = behind(entries, at + 1);
        }
        None
    }

    /// Whether the string has this text; not noted as a read.
    #[inline]
    pub(crate) fn is(self, text: &str) -> bool {
        let entry = self.entry();
        if entry.plain {
            let written = &self.doc.text.as_bytes()[entry.start as usize..entry.end as usize];
            return written == text.as_bytes();
        }
        // Escapes make a text longer, but not more than six times.
        let length = (entry.end - entry.start) as usize;
        length > text.len() && length <= 6 * text.len() && self.unescaped() == text
    }

    /// The members of an object; none of any other value.
    #[inline]
    pub(crate) fn members(self) -> Members<'a> {
        let is_object = self.kind() == Kind::Object;
        Members { next: self.to(self.at + 1), end: self.end_if(is_object) }
    }

    /// The items of an array; none of any other value.
    #[inline]
    pub(crate) fn items(self) -> Items<'a> {
        let is_array = self.kind() == Kind::Array;
        Items { next: self.to(self.at + 1), end: self.end_if(is_array) }
    }

    #[inline]
    fn end_if(self, is_container: bool) -> usize {
        if is_container { self.entry().end as usize - 1 } else { 0 }
    }
}

/// Keys, escapes decoded, and values, in the order of the text.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    next: Cursor<'a>,
    end: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Cursor<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let key = self.next;
        (key.at < self.end).then(|| {
            let value = key.to(key.at + 1);
            self.next = key.to(behind(key.doc.entries, value.at));
            (key.unescaped(), value)
        })
    }
}

#[derive(Debug)]
pub(crate) struct Items<'a> {
    next: Cursor<'a>,
    end: usize,
}

impl<'a> Iterator for Items<'a> {
    type Item = Cursor<'a>;

    #[inline]
    fn next(&mut self) -> Option<Cursor<'a>> {
        let item = self.next;
        (item.at < self.end).then(|| {
            self.next = item.to(behind(item.doc.entries, item.at));
            item
        })
    }
}
