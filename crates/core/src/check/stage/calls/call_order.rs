//! Calls without an id of their own: of those with one name, the first that starts ends first.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::RandomState as HashedKeys;

use super::CallTable;
use crate::facts::Call;
use crate::limits::CALLS_ENDED_MAX;

/// Numbers the calls that have one id in common.
#[derive(Debug, Default)]
pub(super) struct CallOrder {
    /// By the hash of that id: how many calls have started, and how many have ended.
    counts: HashMap<u64, (u64, u64), HashedKeys>,
}

impl CallOrder {
    fn counts(&mut self, key: u64) -> Option<&mut (u64, u64)> {
        let has_room = self.counts.len() < CALLS_ENDED_MAX || self.counts.contains_key(&key);
        has_room.then(|| self.counts.entry(key).or_default())
    }

    /// The number of the call that starts. None if there is no room to count.
    fn start(&mut self, key: u64) -> Option<u64> {
        let (started, _) = self.counts(key)?;
        *started += 1;
        Some(*started)
    }

    /// The number of the call that ends. One that never started has a number that no other has.
    fn complete(&mut self, key: u64) -> Option<u64> {
        let (started, ended) = self.counts(key)?;
        *ended += 1;
        *started = (*started).max(*ended);
        Some(*ended)
    }
}

impl CallTable<'_> {
    pub(super) fn key_of_start(&mut self, call: &Call<'_>) -> u64 {
        self.key(call, CallOrder::start)
    }

    pub(super) fn key_of_completion(&mut self, call: &Call<'_>) -> u64 {
        self.key(call, CallOrder::complete)
    }

    fn key(&mut self, call: &Call<'_>, number: fn(&mut CallOrder, u64) -> Option<u64>) -> u64 {
        let key = self.hash(&call.id);
        let number = if call.rules.in_order { number(&mut self.order, key) } else { None };
        number.map_or(key, |number| self.state.hash_one((key, number)))
    }
}
