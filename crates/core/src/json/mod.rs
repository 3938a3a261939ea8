//! JSON: two parsers, one way to ask for values, JSON Pointer, and JSON Schema.
//!
//! Which parser read a text is hidden behind [`JsonRef`]; only what makes reading faster
//! looks there.

mod compact;
mod json_ref;
mod locate;
pub mod pointer;
mod schema;
mod surrogates;
mod tape;
mod tree;
mod words;

use serde_json::Value;

pub(crate) use compact::{Compactor, compact};
pub use json_ref::JsonRef;
pub(crate) use locate::{member, members, places};
pub(crate) use schema::{DescribedMembers, Keyword, List, Scalar, Schema, SchemaTable, Violation};
pub(crate) use surrogates::{LoneHalves, REPLACEMENT, Repaired, repaired};
pub(crate) use tape::{
    Cursor, DIGITS_MAX, Doc, ENTRIES_NOTED, Kind, Tape, decimal, digits, escape, string_end,
    unescaped,
};
pub(crate) use tree::{TREE_BYTES_MAX, duplicate_keys, parse as parse_tree};
pub(crate) use words::PackedTexts;

/// One JSON text, read by either parser.
#[derive(Debug)]
pub(crate) enum ParsedJson<'a> {
    Tree(Value),
    Tape(Doc<'a>),
}

impl<'a> ParsedJson<'a> {
    pub(crate) fn root(&self) -> JsonRef<'_> {
        match self {
            Self::Tree(value) => JsonRef::tree(value),
            Self::Tape(doc) => JsonRef::tape(doc.root()),
        }
    }

    /// The tape, for the shape cache.
    pub(crate) fn doc(&self) -> Option<&Doc<'a>> {
        match self {
            Self::Tree(_) => None,
            Self::Tape(doc) => Some(doc),
        }
    }
}
