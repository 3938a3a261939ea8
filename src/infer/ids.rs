//! Pairs: strings that stand in an event of one tag, and later in one of another.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use super::ends::Ends;
use super::leaves::Places;
use crate::limits::{CALL_ID_BYTES_MAX, INFER_IDS_MAX, INFER_PLACES_MAX};

/// Places of one value that are remembered.
const PLACES_OF_ONE: usize = 8;

/// What may be ids, and where they come again.
#[derive(Debug, Default)]
pub(super) struct Ids {
    state: RandomState,
    /// The values of this recording, by fingerprint, and where they were.
    values: HashMap<u64, Vec<usize>>,
    /// Of each place the different values, and how often one came again there.
    places: BTreeMap<usize, (u64, u64)>,
    pairs: BTreeMap<(usize, usize), u64>,
}

/// Ids of one place that come again at another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) start: usize,
    pub(super) completion: usize,
    /// How many do, and how many there are at each place.
    pub(super) both: u64,
    pub(super) starts: u64,
    pub(super) completions: u64,
}

impl Ids {
    pub(super) fn see(&mut self, place: usize, text: &str, places: &Places) {
        if !is_id(text) || self.values.len() >= INFER_IDS_MAX {
            return;
        }
        let known = self.values.entry(self.state.hash_one(text)).or_default();
        let (values, repeats) = self.places.entry(place).or_default();
        if known.contains(&place) {
            *repeats += 1;
            return;
        }
        *values += 1;
        for earlier in known.iter().copied() {
            let apart = places.place(earlier).tag != places.place(place).tag;
            let room = self.pairs.len() < INFER_PLACES_MAX;
            if apart && (room || self.pairs.contains_key(&(earlier, place))) {
                *self.pairs.entry((earlier, place)).or_default() += 1;
            }
        }
        if known.len() < PLACES_OF_ONE {
            known.push(place);
        }
    }

    pub(super) fn end(&mut self) {
        self.values.clear();
    }

    /// The pairs that may be calls, the best first, each object and each id in one of them.
    ///
    /// Both places have each value once, most completions have a start, and half of the starts a
    /// completion.
    pub(super) fn pairs(&self, places: &Places, of: &Ends) -> Vec<Pair> {
        let pair = |(&(start, completion), &both): (&(usize, usize), &u64)| {
            let ((starts, a), (completions, b)) =
                (*self.places.get(&start)?, *self.places.get(&completion)?);
            let once = a + b == 0 && both * 2 >= starts && both * 5 >= completions * 4;
            let refused = [start, completion].into_iter().any(|it| is_refused(it, places, of));
            (once && !refused).then_some(Pair { start, completion, both, starts, completions })
        };
        let pairs: Vec<Pair> = self.pairs.iter().filter_map(pair).collect();
        let goes_on = |it: &Pair| {
            let on = pairs.iter().any(|other| other.start == it.completion);
            on || pairs.iter().any(|other| other.completion == it.start)
        };
        let rank = |it: &Pair| {
            let (start, completion) = (places.place(it.start), places.place(it.completion));
            let differ = start.path != completion.path;
            let depth = start.depth() + completion.depth();
            (u64::MAX - it.both, differ, goes_on(it), depth, it.start, it.completion)
        };
        let mut ranked: Vec<_> = pairs.iter().map(|it| (rank(it), *it)).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut chosen: Vec<Pair> = Vec::new();
        for (_, pair) in ranked {
            let taken = |it: &Pair| {
                let (a, b) = ([it.start, it.completion], [pair.start, pair.completion]);
                let mut ends = a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
                ends.any(|(a, b)| {
                    self.is_one_call(a, b) || places.place(a).is_beside(places.place(b))
                })
            };
            if !chosen.iter().any(taken) {
                chosen.push(pair);
            }
        }
        chosen
    }

    /// Whether ids of one place stand at the other too.
    fn is_one_call(&self, a: usize, b: usize) -> bool {
        a == b || self.pairs.contains_key(&(a, b)) || self.pairs.contains_key(&(b, a))
    }
}

/// Whether the ids at a place are not of calls: those of all kinds of events are of events, those
/// of only some events of a tag are of something else, and what begins or ends a recording is half
/// of no call.
fn is_refused(number: usize, places: &Places, of: &Ends) -> bool {
    let (place, seen) = places.of(number);
    let tags = of.tags().count();
    let is_of_all = tags > 2 && places.tags_with(&place.path) * 5 > tags * 4;
    let is_rare = seen.strings < of.events_of(&place.tag);
    of.is_edge(&place.tag) || place.each.is_none() && (is_of_all || is_rare)
}

/// Whether it may be an id: short, with a digit, without spaces, and no path of a file.
fn is_id(text: &str) -> bool {
    (3..=CALL_ID_BYTES_MAX).contains(&text.len())
        && text.contains(|it: char| it.is_ascii_digit())
        && !text.contains([' ', '\t', '/', '\\'])
}
