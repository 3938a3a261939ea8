//! A text of an event whose escapes are undone when it is asked for: the answer of a run may be
//! megabytes, and mostly it is only compared with what came before.

use std::borrow::Cow;

use crate::json::JsonRef;
use crate::json::{chunks, unescaped};

/// A text, or how it is written.
#[derive(Debug, Clone)]
pub(crate) struct RawStr<'e>(Kept<'e>);

#[derive(Debug, Clone)]
enum Kept<'e> {
    Text(Cow<'e, str>),
    /// A string that a tape has read, with escapes, without its quotes.
    Written(&'e str),
}

impl<'e> From<Cow<'e, str>> for RawStr<'e> {
    fn from(text: Cow<'e, str>) -> Self {
        Self(Kept::Text(text))
    }
}

impl<'e> RawStr<'e> {
    /// The text of a string.
    pub(crate) fn new(node: JsonRef<'e>) -> Option<Self> {
        let written = node.written().map(Kept::Written);
        written.or_else(|| node.as_str().map(Kept::Text)).map(Self)
    }

    /// A text that is written like this.
    #[cfg(test)]
    pub(crate) fn written(written: &'e str) -> Self {
        Self(Kept::Written(written))
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.0 {
            Kept::Text(text) => text.is_empty(),
            Kept::Written(written) => written.is_empty(),
        }
    }

    /// The whole text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Kept::Text(text) => Cow::Borrowed(text),
            Kept::Written(written) => Cow::Owned(unescaped(written)),
        }
    }

    /// The text piece by piece, of which no copy is made.
    pub(crate) fn chunks(&self, mut take: impl FnMut(&str)) {
        match &self.0 {
            Kept::Text(text) => take(text),
            Kept::Written(written) => chunks(written, take),
        }
    }
}
