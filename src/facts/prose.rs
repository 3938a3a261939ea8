//! A text of an event whose escapes are undone when it is asked for: the answer of a run may be
//! megabytes, and mostly it is only compared with what came before.

use std::borrow::Cow;

use crate::event::Node;
use crate::tape::{pieces, unescaped};

/// A text, or how it is written.
#[derive(Debug, Clone)]
pub enum Prose<'e> {
    /// The text.
    Text(Cow<'e, str>),
    /// A string of the event with escapes, without its quotes.
    Written(&'e str),
}

impl<'e> From<Cow<'e, str>> for Prose<'e> {
    fn from(text: Cow<'e, str>) -> Self {
        Self::Text(text)
    }
}

impl<'e> Prose<'e> {
    /// The text of a string.
    pub fn of(node: Node<'e>) -> Option<Self> {
        match node.written() {
            Some(written) => Some(Self::Written(written)),
            None => node.as_str().map(Self::Text),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Written(written) => written.is_empty(),
        }
    }

    /// The whole text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Written(written) => Cow::Owned(unescaped(written)),
        }
    }

    /// The text piece by piece, of which no copy is made.
    pub fn pieces(&self, mut take: impl FnMut(&str)) {
        match self {
            Self::Text(text) => take(text),
            Self::Written(written) => pieces(written, take),
        }
    }
}
