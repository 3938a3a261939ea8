//! The entries of a transcript that there is room for: nothing that failed is left out while
//! something good stays.

use std::collections::{BTreeMap, BTreeSet};

use ndjson_check_core::NoticeKind;

use super::recording::{EntryKind, PageCall, PageEntry};
use super::timeline::class;

/// The transcript of an HTML page, in bytes of the page: the first entries and the last ones,
/// half of it each.
const PAGE_TRANSCRIPT_BYTES_MAX: usize = 5 * 1024 * 1024;

const HALF: usize = PAGE_TRANSCRIPT_BYTES_MAX / 2;

/// The first entries of a stream and the last ones; between them, those that need a look.
#[derive(Debug, Default)]
pub(super) struct PageEntries {
    /// By their numbers, with what each costs.
    kept: BTreeMap<u64, (PageEntry, usize)>,
    /// Those that do not need a look.
    good: BTreeSet<u64>,
    next: u64,
    /// Where the second half begins, once the first one is full.
    middle: Option<u64>,
    first_cost: usize,
    last_cost: usize,
    omitted: Omitted,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Omitted {
    pub(super) calls: u64,
    /// Errors that the agent reported.
    pub(super) errors: u64,
    pub(super) others: u64,
}

impl PageEntries {
    /// Returns its number.
    pub(super) fn push(&mut self, entry: PageEntry) -> u64 {
        let (number, cost) = (self.next, entry.cost());
        self.next += 1;
        if self.middle.is_none() && self.first_cost + cost > HALF {
            self.middle = Some(number);
        }
        self.put(number, entry, cost);
        number
    }

    fn put(&mut self, number: u64, entry: PageEntry, cost: usize) {
        *self.cost_at(number) += cost;
        if needs_look(&entry.kind) {
            self.good.remove(&number);
        } else {
            self.good.insert(number);
        }
        self.kept.insert(number, (entry, cost));
        while self.first_cost + self.last_cost > PAGE_TRANSCRIPT_BYTES_MAX {
            let Some(worst) = self.least_wanted() else { break };
            if let Some(entry) = self.take(worst) {
                self.omitted.add(&entry.kind);
            }
            self.good.remove(&worst);
        }
    }

    /// Good entries have left the first half: what comes next takes their place.
    fn fill_first_half(&mut self) {
        let Some(middle) = self.middle else { return };
        for (number, (_, cost)) in self.kept.range(middle..self.next - 1) {
            if self.first_cost + cost > HALF {
                break;
            }
            self.first_cost += cost;
            self.last_cost -= cost;
            self.middle = Some(number + 1);
        }
    }

    fn take(&mut self, number: u64) -> Option<PageEntry> {
        let (entry, cost) = self.kept.remove(&number)?;
        *self.cost_at(number) -= cost;
        Some(entry)
    }

    /// What the entries of its half cost.
    fn cost_at(&mut self, number: u64) -> &mut usize {
        let is_first = self.middle.is_none_or(|middle| number < middle);
        if is_first { &mut self.first_cost } else { &mut self.last_cost }
    }

    /// The entry in the middle of the half that is too large: a good one, if there is one. The last
    /// one of all stays.
    fn least_wanted(&mut self) -> Option<u64> {
        if self.good.range(..self.next - 1).next().is_none() {
            self.fill_first_half();
        }
        let last = self.next - 1;
        let middle = self.middle.unwrap_or(last).min(last);
        let of_first = |numbers: &mut dyn DoubleEndedIterator<Item = u64>| numbers.next_back();
        let good_first = of_first(&mut self.good.range(..middle).copied());
        let good_last = self.good.range(middle..last).copied().next();
        let bad_first = of_first(&mut self.kept.range(..middle).map(|it| *it.0));
        let bad_last = self.kept.range(middle..last).map(|it| *it.0).next();
        if self.first_cost > HALF {
            good_first.or(good_last).or(bad_first).or(bad_last)
        } else {
            good_last.or(good_first).or(bad_last).or(bad_first)
        }
    }

    pub(super) fn get(&self, number: u64) -> Option<&PageEntry> {
        self.kept.get(&number).map(|(entry, _)| entry)
    }

    pub(super) fn change(&mut self, number: u64, change: impl FnOnce(&mut PageEntry)) {
        let Some(mut entry) = self.take(number) else { return };
        change(&mut entry);
        let cost = entry.cost();
        self.put(number, entry, cost);
    }

    /// The number of the entry of a call, by the number of the call and its id.
    pub(super) fn of_call(&self, call: u64, id: &str) -> Option<u64> {
        let is_call = |entry: &PageEntry| match &entry.kind {
            EntryKind::Call(it) => it.number == call && it.id == id,
            _ => false,
        };
        self.numbered().find(|(entry, _)| is_call(entry)).map(|(_, number)| number)
    }

    pub(super) fn has_call(&self, number: u64) -> bool {
        self.calls().any(|call| call.number == number)
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (&PageEntry, u64)> {
        self.kept.iter().map(|(number, (entry, _))| (entry, *number))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &PageEntry> {
        self.kept.values().map(|(entry, _)| entry)
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &PageCall> {
        self.all().filter_map(|entry| match &entry.kind {
            EntryKind::Call(call) => Some(&**call),
            _ => None,
        })
    }

    pub(super) fn calls_mut(&mut self) -> impl Iterator<Item = &mut PageCall> {
        self.kept.values_mut().filter_map(|(entry, _)| match &mut entry.kind {
            EntryKind::Call(call) => Some(&mut **call),
            _ => None,
        })
    }

    pub(super) fn omitted(&self) -> Omitted {
        self.omitted
    }
}

/// Whether a reader looks for it. A call needs a look while it is open: it may never complete.
fn needs_look(kind: &EntryKind) -> bool {
    match kind {
        EntryKind::Call(call) => class(call.outcome) != "good",
        EntryKind::Notice(kind, _) => *kind == NoticeKind::Error,
        _ => false,
    }
}

impl Omitted {
    fn add(&mut self, kind: &EntryKind) {
        let count = match (kind, needs_look(kind)) {
            (EntryKind::Call(_), _) => &mut self.calls,
            (EntryKind::Notice(..), true) => &mut self.errors,
            _ => &mut self.others,
        };
        *count += 1;
    }

    pub(super) fn entries(self) -> u64 {
        self.calls + self.errors + self.others
    }
}
