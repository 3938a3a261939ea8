//! JSON: two parsers, one way to ask for values, JSON Pointer, and JSON Schema.
//!
//! Which parser read a text is known here only: everybody else asks [`JsonRef`].

mod block_hasher;
mod json_ref;
mod locate;
pub(crate) mod pointer;
mod schema;
mod tape;
mod tree;

use serde_json::Value;

pub(crate) use json_ref::JsonRef;
#[cfg(feature = "cli")]
pub(crate) use locate::member;
pub(crate) use locate::{members, places};
pub(crate) use schema::{Schema, Violation};
pub(crate) use tape::{
    Cursor, DIGITS_MAX, Doc, ENTRIES_NOTED, Kind, Tape, chunks, decimal, digits, string_end,
    unescaped,
};
pub(crate) use tree::parse as parse_tree;

/// One JSON text that has been read, by either parser.
#[derive(Debug)]
pub(crate) struct Json<'a>(Repr<'a>);

#[derive(Debug)]
enum Repr<'a> {
    Tree(Value),
    Tape(Doc<'a>),
}

impl<'a> Json<'a> {
    pub(crate) fn tree(value: Value) -> Self {
        Self(Repr::Tree(value))
    }

    pub(crate) fn tape(doc: Doc<'a>) -> Self {
        Self(Repr::Tape(doc))
    }

    pub(crate) fn root(&self) -> JsonRef<'_> {
        match &self.0 {
            Repr::Tree(value) => JsonRef::tree(value),
            Repr::Tape(doc) => JsonRef::tape(doc.root()),
        }
    }

    /// The tape, for the shape cache.
    pub(crate) fn doc(&self) -> Option<&Doc<'a>> {
        match &self.0 {
            Repr::Tree(_) => None,
            Repr::Tape(doc) => Some(doc),
        }
    }
}
