//! The key of a text group, in bounded memory.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::limits::CALL_ID_BYTES_MAX;

/// What tells a text group from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Text(Box<str>),
    /// The length and the fingerprint of a very long one.
    Long(usize, u64),
}

impl Key {
    pub(super) fn new(key: &str) -> Self {
        if key.len() <= CALL_ID_BYTES_MAX {
            Self::Text(key.into())
        } else {
            Self::Long(key.len(), fingerprint(key))
        }
    }

    pub(super) fn is(&self, key: &str) -> bool {
        match self {
            Self::Text(own) => **own == *key,
            Self::Long(length, own) => *length == key.len() && *own == fingerprint(key),
        }
    }
}

fn fingerprint(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
