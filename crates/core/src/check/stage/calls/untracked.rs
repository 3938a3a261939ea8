//! Open calls that there was no room to follow.

use std::collections::HashSet;

use foldhash::fast::RandomState as HashedKeys;

use crate::limits::CALLS_HASHED_MAX;

/// The open calls that there was no room to follow: only whether a completion belongs to one of
/// them is known.
#[derive(Debug, Default)]
pub(super) struct UntrackedCalls {
    /// The hashes of their ids. The author of a stream does not know the key of the hash.
    open: HashSet<u64, HashedKeys>,
    /// Calls of which not even that is known. They count as open to the end.
    lost: u64,
}

impl UntrackedCalls {
    pub(super) fn start(&mut self, key: u64) {
        if self.open.len() < CALLS_HASHED_MAX {
            self.open.insert(key);
        } else {
            self.lost += 1;
        }
    }

    pub(super) fn is_open(&self, key: u64) -> bool {
        self.open.contains(&key)
    }

    /// Whether the completion belongs to one of them, which is closed then.
    pub(super) fn complete(&mut self, key: u64) -> bool {
        self.open.remove(&key)
    }

    pub(super) fn count(&self) -> u64 {
        self.open.len() as u64 + self.lost
    }
}
