//! An opaque id in bounded memory.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::limits::CALL_ID_BYTES_MAX;
use crate::rules::escape::clipped;

/// The id of a call or of a session, or the name of a text's group: any strings, line breaks
/// included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct BoundedId {
    /// The parts with a space between them, or the start of that.
    text: Box<str>,
    /// What `text` does not show of a long id, or of one with several parts.
    rest: u64,
}

impl BoundedId {
    pub(crate) fn new(parts: &[Cow<'_, str>]) -> Self {
        let text = match parts {
            [part] => Cow::Borrowed(&**part),
            parts => Cow::Owned(parts.join(" ")),
        };
        let is_whole = text.len() <= CALL_ID_BYTES_MAX;
        let rest = if is_whole && parts.len() == 1 {
            0
        } else {
            let mut hasher = DefaultHasher::new();
            parts.hash(&mut hasher);
            hasher.finish()
        };
        Self { text: clipped(&text, CALL_ID_BYTES_MAX).into(), rest }
    }

    /// Whether it is the id with this one part.
    #[inline]
    pub(crate) fn is(&self, id: &str) -> bool {
        if id.len() <= CALL_ID_BYTES_MAX {
            self.rest == 0 && *self.text == *id
        } else {
            *self == Self::from(id)
        }
    }

    /// The id as reports show it; the start of a very long one.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<&str> for BoundedId {
    fn from(id: &str) -> Self {
        Self::new(&[Cow::Borrowed(id)])
    }
}
