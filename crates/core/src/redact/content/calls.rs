//! Which filler the arguments of a tool call get.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use super::fill::Filler;
use crate::facts::{BoundedId, Call};
use crate::json::JsonRef;
use crate::limits::CALLS_OPEN_MAX;
use crate::profile::CallRules;

/// Remembers the arguments of calls by hash, so that equal ones get equal filler, and different
/// ones of equal length in a row do not.
#[derive(Debug, Default)]
pub(super) struct CallFillers {
    state: RandomState,
    latest: Option<KnownCall>,
    /// By the hash of their ids.
    known: HashMap<u64, KnownCall>,
}

#[derive(Debug, Clone)]
struct KnownCall {
    arguments: u64,
    /// Of the arguments as they are written.
    length: usize,
    filler: Filler,
    must_match: Vec<Option<u64>>,
}

impl CallFillers {
    /// A new turn begins: ids may be used again.
    pub(super) fn new_turn(&mut self) {
        self.known.clear();
    }

    /// The values of the start of a call, with their filler.
    pub(super) fn started<'e>(
        &mut self,
        rules: &CallRules,
        call: &Call<'e>,
    ) -> Vec<(JsonRef<'e>, Filler)> {
        let asked = rules.arguments(call.scope);
        let arguments = asked.map_or(0, |it| it.value_hash(&self.state));
        let length = asked.and_then(JsonRef::source).map_or(0, str::len);
        let key = self.key(&call.id);
        let other = |known: &KnownCall| {
            let is_alike = known.length == length && known.arguments != arguments;
            if is_alike { known.filler.other() } else { Filler::X }
        };
        let filler = match (&self.latest, self.known.get(&key)) {
            (Some(latest), _) if latest.arguments == arguments => latest.filler,
            (_, Some(known)) if known.arguments == arguments => known.filler,
            (_, Some(known)) | (Some(known), None) => other(known),
            (None, None) => Filler::X,
        };
        let must_match = self.must_match(call);
        let known = KnownCall { arguments, length, filler, must_match };
        if !self.known.contains_key(&key) {
            self.latest = Some(known.clone());
        }
        if self.known.len() >= CALLS_OPEN_MAX {
            self.known.clear();
        }
        self.known.insert(key, known);
        values(rules, call).map(|value| (value, filler)).collect()
    }

    /// The same for a completion.
    pub(super) fn completed<'e>(
        &mut self,
        rules: &CallRules,
        call: &Call<'e>,
    ) -> Vec<(JsonRef<'e>, Filler)> {
        let Some(known) = self.known.get(&self.key(&call.id)) else {
            return self.started(rules, call);
        };
        let halves = known.must_match.iter().zip(self.must_match(call));
        let differs = |(a, b): (&Option<u64>, Option<u64>)| a.is_some() && b.is_some() && *a != b;
        let differing: Vec<bool> = halves.map(differs).collect();
        let filler = known.filler;
        let unequal = call.must_match.iter().zip(differing).filter(|(_, differs)| *differs);
        let unequal = unequal.filter_map(|(value, _)| value.map(|value| (value, Filler::Z)));
        values(rules, call).map(|value| (value, filler)).chain(unequal).collect()
    }

    fn key(&self, id: &BoundedId) -> u64 {
        self.state.hash_one(id)
    }

    fn must_match(&self, call: &Call<'_>) -> Vec<Option<u64>> {
        let hash = |value: &Option<JsonRef<'_>>| value.map(|it| it.value_hash(&self.state));
        call.must_match.iter().map(hash).collect()
    }
}

impl Filler {
    /// Another one for the next of two that must differ.
    fn other(self) -> Self {
        if self == Self::X { Self::Y } else { Self::X }
    }
}

/// The arguments, and what both halves must have in common.
fn values<'c, 'e>(
    rules: &CallRules,
    call: &'c Call<'e>,
) -> impl Iterator<Item = JsonRef<'e>> + use<'c, 'e> {
    call.must_match.iter().copied().flatten().chain(rules.arguments(call.scope))
}
