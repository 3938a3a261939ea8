//! Pairs: strings that stand in an event of one tag, and later in one of another.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use super::ends::Ends;
use super::leaves::{Place, Places};
use super::outcomes::contains;
use crate::limits::{INFER_IDS_MAX, INFER_PLACES_MAX};

/// Shortest and longest string that is taken for an id, in bytes.
const ID: std::ops::RangeInclusive<usize> = 3..=200;

/// Part of keys whose values are no ids: what people read, and programs know by heart.
const NAMES: [&str; 5] = ["name", "label", "text", "title", "model"];

/// Part of keys of ids that are not of calls, but where they say so.
const OTHERS: [&str; 6] = ["message", "response", "session", "turn", "thread", "trace"];

/// Part of tags and keys that speak of calls.
const CALLS: [&str; 2] = ["call", "tool"];

/// Most tags that tell of one call at the same path: more tell the life of something else.
const TAGS_OF_ONE: usize = 4;

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
    /// Places where some strings are no ids, but texts.
    texts: BTreeSet<usize>,
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
        if is_text(text) {
            self.texts.insert(place);
        }
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
            let is_refused = |it| self.texts.contains(&it) || is_refused(it, places, of);
            let refused = [start, completion].into_iter().any(is_refused);
            let pair = Pair { start, completion, both, starts, completions };
            let fits = once && !refused && !pair.is_weak(places, of);
            (fits && !self.is_life(start, places)).then_some(pair)
        };
        let mut pairs: Vec<Pair> = self.pairs.iter().filter_map(pair).collect();
        keep_called(&mut pairs, places);
        let goes_on = |it: &Pair| {
            let same = pairs.iter().filter(|other| other.paths(places) == it.paths(places));
            let mut same = same.map(|other| (other.start, other.completion));
            same.any(|(start, completion)| start == it.completion || completion == it.start)
        };
        let rank = |it: &Pair| {
            let (start, completion) = (places.place(it.start), places.place(it.completion));
            let differ = start.path != completion.path;
            let depth = start.depth() + completion.depth();
            let calls = 4 - it.calls(places);
            (u64::MAX - it.both, calls, differ, goes_on(it), depth, it.start, it.completion)
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

    /// Whether events of many tags have the ids of a place, all at the same path.
    fn is_life(&self, of: usize, places: &Places) -> bool {
        let place = places.place(of);
        let pairs = self.pairs.keys().filter(|(a, b)| *a == of || *b == of);
        let others = pairs.map(|(a, b)| places.place(if *a == of { *b } else { *a }));
        let same = others.filter(|it| it.path == place.path && it.each == place.each);
        same.map(|it| &it.tag).collect::<BTreeSet<_>>().len() >= TAGS_OF_ONE
    }

    /// Whether ids of one place stand at the other too.
    fn is_one_call(&self, a: usize, b: usize) -> bool {
        a == b || self.pairs.contains_key(&(a, b)) || self.pairs.contains_key(&(b, a))
    }
}

impl Pair {
    fn places<'p>(&self, places: &'p Places) -> [&'p Place; 2] {
        [self.start, self.completion].map(|it| places.place(it))
    }

    /// Where its ids stand, in whatever event.
    fn paths<'p>(&self, places: &'p Places) -> [(Option<&'p str>, &'p str); 2] {
        self.places(places).map(|it| (it.each.as_deref(), it.path.as_str()))
    }

    /// How many of its tags and keys speak of calls.
    fn calls(&self, places: &Places) -> usize {
        let says = |it: &str| usize::from(contains(it, &CALLS));
        let of = |it: &Place| {
            let kind = it.kind.as_deref().unwrap_or_default();
            says(&[&*it.tag, kind].join(" ")) + says(key(it))
        };
        self.places(places).into_iter().map(of).sum()
    }

    /// Whether it rests on one id, with no word that speaks for it: what is the same all the time
    /// comes again, too.
    fn is_weak(&self, places: &Places, of: &Ends) -> bool {
        let is_of_one = |it: &&Place| key(it).ends_with("id") || key(it).ends_with("Id");
        let [start, completion] = self.places(places);
        let one = [start, completion].iter().all(is_of_one)
            && !of.is_constant(&start.path)
            && !of.is_constant(&completion.path);
        self.both < 2 && self.calls(places) == 0 && !one
    }
}

/// Where some pairs speak of calls, others are taken only if their ids stand at the same paths.
fn keep_called(pairs: &mut Vec<Pair>, places: &Places) {
    let called: Vec<_> =
        pairs.iter().filter(|it| it.calls(places) > 0).map(|it| it.paths(places)).collect();
    pairs.retain(|it| called.is_empty() || called.contains(&it.paths(places)));
}

/// The last token of a place's path.
fn key(place: &Place) -> &str {
    place.path.rsplit('/').next().unwrap_or_default()
}

/// Whether the ids at a place are not of calls: those of all kinds of events are of events, those
/// of only some events of a tag are of something else, and what begins or ends a recording is half
/// of no call.
fn is_refused(number: usize, places: &Places, of: &Ends) -> bool {
    let (place, seen) = places.of(number);
    let tags = of.tags().count();
    let is_of_all = tags > 2 && places.tags_with(&place.path) * 5 > tags * 4;
    let is_rare = seen.strings < of.events_of(&place.tag);
    let is_name = contains(key(place), &NAMES);
    let is_other = contains(key(place), &OTHERS) && !contains(key(place), &CALLS);
    is_name || is_other || of.is_edge(&place.tag) || place.each.is_none() && (is_of_all || is_rare)
}

/// Whether it may be an id: short, with a digit, in one word, and no path of a file.
fn is_id(text: &str) -> bool {
    let digit = text.contains(|it: char| it.is_ascii_digit());
    ID.contains(&text.len()) && digit && !is_text(text) && !text.contains(['/', '\\'])
}

/// Whether it is a text: long, or of several words. Ids of two lines are ids: there are some.
fn is_text(text: &str) -> bool {
    text.len() > *ID.end() || text.contains(|it: char| it.is_whitespace() && it != '\n')
}
