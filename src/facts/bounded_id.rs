//! An opaque string that is only compared, in bounded memory.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::limits::CALL_ID_BYTES_MAX;

/// A session's id, or the name of a text's group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BoundedId {
    Text(Box<str>),
    /// The length and the hash of a long one.
    Long(usize, u64),
}

impl BoundedId {
    pub(crate) fn new(id: &str) -> Self {
        if id.len() <= CALL_ID_BYTES_MAX {
            Self::Text(id.into())
        } else {
            Self::Long(id.len(), hash(id))
        }
    }

    pub(crate) fn is(&self, id: &str) -> bool {
        match self {
            Self::Text(own) => **own == *id,
            Self::Long(length, own) => *length == id.len() && *own == hash(id),
        }
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
