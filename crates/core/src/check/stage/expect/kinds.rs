//! When the calls of a kind started and ended, for expectations about the order of calls.

use std::collections::BTreeMap;

use super::seen_call::SeenCall;
use super::truth::Truth;
use crate::limits::EXPECTED_PATHS_MAX;
use crate::profile::CallKind;

/// The calls of the kinds that expectations name, as far as they have been counted. Calls are
/// counted in the order in which they end.
#[derive(Debug, Default)]
pub(super) struct KindHistories(Vec<KindHistory>);

#[derive(Debug)]
struct KindHistory {
    kind: CallKind,
    /// The latest end.
    last_end: Seen,
    /// The number of the one that started first.
    first: Seen,
    /// The paths of those that succeeded, with their first end.
    paths: BTreeMap<String, u64>,
    /// The first end of one that succeeded with a path that is not known.
    hidden_end: Option<u64>,
}

/// A figure of the calls of a kind, and of those that may be of this kind.
#[derive(Debug, Default)]
struct Seen {
    sure: Option<u64>,
    unsure: Option<u64>,
}

impl Seen {
    fn of(&mut self, is_of_kind: Truth) -> Option<&mut Option<u64>> {
        match is_of_kind {
            Truth::Yes => Some(&mut self.sure),
            Truth::Unknown => Some(&mut self.unsure),
            Truth::No => None,
        }
    }

    /// Whether all of them are so.
    fn all(&self, is_so: impl Fn(u64) -> bool) -> Truth {
        match (self.sure.is_none_or(&is_so), self.unsure.is_none_or(&is_so)) {
            (false, _) => Truth::No,
            (true, false) => Truth::Unknown,
            (true, true) => Truth::Yes,
        }
    }
}

impl KindHistories {
    /// Of these kinds.
    pub(super) fn new(kinds: impl Iterator<Item = CallKind>) -> Self {
        let mut histories: Vec<KindHistory> = Vec::new();
        for kind in kinds {
            if histories.iter().all(|known| known.kind != kind) {
                histories.push(KindHistory::new(kind));
            }
        }
        Self(histories)
    }

    fn of(&self, kind: CallKind) -> Option<&KindHistory> {
        self.0.iter().find(|history| history.kind == kind)
    }

    /// Counts a call.
    pub(super) fn count(&mut self, call: &SeenCall) {
        self.0.iter_mut().for_each(|history| history.count(call));
    }

    /// Whether a call starts after the last call of this kind has ended, of those counted so far.
    pub(super) fn is_after(&self, kind: CallKind, call: &SeenCall) -> Truth {
        self.of(kind).map_or(Truth::Unknown, |it| it.last_end.all(|end| end < call.started))
    }

    /// Whether a call starts before the first call of this kind does. `waiting` have not been
    /// counted.
    pub(super) fn is_before<'e>(
        &self,
        kind: CallKind,
        call: &SeenCall,
        waiting: impl Iterator<Item = &'e SeenCall>,
    ) -> Truth {
        let Some(history) = self.of(kind) else { return Truth::Unknown };
        let earlier = waiting.filter(|it| it.number < call.number && !it.was_refused());
        let is_one = earlier.map(|it| it.is_of(kind)).max().unwrap_or(Truth::No);
        history.first.all(|number| number > call.number).min(is_one.negated())
    }

    /// Whether a successful call of this kind with the same path ended before a call started.
    pub(super) fn has_same_path(&self, kind: CallKind, call: &SeenCall) -> Truth {
        let Some(history) = self.of(kind) else { return Truth::Unknown };
        let is_before = |end: u64| end < call.started;
        let has = |path: &String| match history.paths.get(path) {
            Some(end) if is_before(*end) => Truth::Yes,
            _ if history.hidden_end.is_some_and(is_before) => Truth::Unknown,
            _ => Truth::No,
        };
        call.paths.iter().map(has).min().unwrap_or(Truth::Unknown)
    }
}

impl KindHistory {
    fn new(kind: CallKind) -> Self {
        let (last_end, first) = (Seen::default(), Seen::default());
        Self { kind, last_end, first, paths: BTreeMap::new(), hidden_end: None }
    }

    fn count(&mut self, call: &SeenCall) {
        let is_of_kind = call.is_of(self.kind);
        if call.was_refused() {
            return;
        }
        if let Some(end) = self.last_end.of(is_of_kind) {
            *end = (*end).max(Some(call.ended));
        }
        if let Some(first) = self.first.of(is_of_kind) {
            *first = Some(first.map_or(call.number, |first| first.min(call.number)));
        }
        let succeeded = is_of_kind.min(call.succeeded());
        let has_room = self.paths.len() + call.paths.len() <= EXPECTED_PATHS_MAX;
        match succeeded {
            Truth::No => {}
            Truth::Yes if has_room && !call.paths.is_empty() => {
                for path in &call.paths {
                    self.paths.entry(path.clone()).or_insert(call.ended);
                }
            }
            Truth::Yes | Truth::Unknown => {
                self.hidden_end.get_or_insert(call.ended);
            }
        }
    }
}
