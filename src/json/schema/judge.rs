//! A schema and its precedents: what was found valid, and all that this rested on.
//!
//! A validator is deterministic, and asks a tape for nothing but kinds, keys, counts, whether a
//! number is written as an integer, and values; each look at a value is noted (see [`Doc`]). A
//! value that has the pattern of one that was found valid answers every question as that one did,
//! one after the other, so it is valid as well, and the same was looked at. This is the argument
//! of the memory of shapes, for values that are no text to be compared byte by byte: there the
//! rest of the work is saved, too, but for short lines without calls only.

use super::Schema;
use crate::fast::budget::Credit;
use crate::limits::{PRECEDENT_BYTES_MAX, PRECEDENTS_MAX};
use crate::json::tape::{Doc, Pattern};

/// Holds values on tapes against one schema.
#[derive(Debug)]
pub struct Judge<'s> {
    schema: &'s Schema,
    precedents: Vec<Pattern>,
    /// The one that fitted or was added last; it is tried first.
    latest: usize,
    /// The next one to be replaced.
    oldest: usize,
    credit: Credit,
}

impl<'s> Judge<'s> {
    /// Judges by this schema.
    pub fn new(schema: &'s Schema) -> Self {
        let credit = Credit::default();
        Self { schema, precedents: Vec::new(), latest: 0, oldest: 0, credit }
    }

    /// Whether this is the schema.
    pub fn is_of(&self, schema: &Schema) -> bool {
        std::ptr::eq(self.schema, schema)
    }

    /// Whether a value satisfies the schema, as [`Schema::is_valid_on_tape`].
    pub fn is_valid(&mut self, doc: &Doc<'_>) -> bool {
        let (newer, older) = self.precedents.split_at(self.latest.min(self.precedents.len()));
        let mut tried = older.iter().chain(newer);
        if let Some(index) = tried.position(|precedent| precedent.fits(doc)) {
            self.latest = (self.latest + index) % self.precedents.len();
            self.credit.restore();
            doc.add_looks(self.precedents[self.latest].looks());
            return true;
        }
        let (valid, looks) = doc.looks_of(|| self.schema.is_valid_on_tape(doc));
        if self.credit.is_spent() {
            // None was of use: they are not worth the time of being tried.
            self.precedents.clear();
        }
        if valid
            && self.credit.spend()
            && let Some(precedent) = Pattern::new(doc, looks, PRECEDENT_BYTES_MAX)
        {
            self.remember(precedent);
        }
        valid
    }

    fn remember(&mut self, precedent: Pattern) {
        if self.precedents.len() < PRECEDENTS_MAX {
            self.latest = self.precedents.len();
            self.precedents.push(precedent);
        } else {
            self.latest = self.oldest;
            self.precedents[self.oldest] = precedent;
        }
        self.oldest = (self.latest + 1) % PRECEDENTS_MAX;
    }
}
