//! Texts: strings which, one after the other, make another string.

use std::collections::{BTreeMap, BTreeSet};

use super::leaves::Places;
use crate::limits::{INFER_PLACES_MAX, INFER_TEXT_BYTES_MAX};

/// Shortest string that is looked for among others, in bytes: shorter ones are equal by chance.
const TEXT: usize = 8;

/// Different sets of members that are remembered of the events at one place.
const SETS: usize = 32;

/// The keys of an event.
pub(super) type Keys = BTreeSet<String>;

/// The strings of this recording, and which of them make others.
#[derive(Debug, Default)]
pub(super) struct Texts {
    line: u64,
    bytes: usize,
    sources: BTreeMap<usize, Source>,
    pub(super) made: BTreeMap<(usize, usize), Made>,
    pub(super) kinds: BTreeMap<usize, Pieces>,
}

/// The strings at one place, in this recording.
#[derive(Debug, Default)]
struct Source {
    text: String,
    /// Where the pieces begin that no other string has repeated yet; and the last piece, or all
    /// that were repeated last.
    open: usize,
    last: usize,
    line: u64,
    /// The keys of the events whose pieces are open.
    keys: Vec<Keys>,
}

/// How often the strings at one place made those at another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Made {
    /// All of the recording so far; the last one; all since the last time.
    pub(super) all: u64,
    pub(super) last: u64,
    pub(super) open: u64,
    /// One or the other of the first two.
    pub(super) either: u64,
}

/// The pieces at one place, in all recordings.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) count: u64,
    /// Whether one has several words.
    pub(super) prose: bool,
    /// Pieces that follow another in the next event.
    pub(super) adjacent: u64,
    /// Pieces that repeat those before them.
    pub(super) repeats: u64,
    /// The keys of events whose pieces were repeated, and of those that repeated them.
    repeated: BTreeSet<Keys>,
    repeating: BTreeSet<Keys>,
}

impl Texts {
    /// The next event: the strings at each place in it, and its keys.
    pub(super) fn event(
        &mut self,
        strings: &BTreeMap<usize, String>,
        keys: &Keys,
        places: &Places,
    ) {
        self.line += 1;
        for (place, text) in strings {
            if text.len() >= TEXT {
                self.look_for(*place, text, places);
            }
            self.keep(*place, text, keys);
        }
    }

    pub(super) fn end(&mut self) {
        self.sources.clear();
        self.bytes = 0;
    }

    fn look_for(&mut self, place: usize, text: &str, places: &Places) {
        let room = self.made.len() < INFER_PLACES_MAX;
        for (number, source) in &mut self.sources {
            let pair = (*number, place);
            let apart = places.place(*number).tag != places.place(place).tag;
            if !apart || !source.text.ends_with(text) || !(room || self.made.contains_key(&pair)) {
                continue;
            }
            let all = source.text.len() == text.len();
            let last = source.text[source.last..].len() == text.len();
            let open = source.text[source.open..].len() == text.len();
            if all || last || open {
                let made = self.made.entry(pair).or_default();
                made.all += u64::from(all);
                made.last += u64::from(last);
                made.either += u64::from(all || last);
                made.open += u64::from(open);
            }
            if open {
                source.close();
            }
        }
    }

    fn keep(&mut self, place: usize, text: &str, keys: &Keys) {
        if self.bytes + text.len() > INFER_TEXT_BYTES_MAX {
            return;
        }
        let source = self.sources.entry(place).or_default();
        let pieces = self.kinds.entry(place).or_default();
        pieces.count += 1;
        pieces.prose |= text.trim().contains(' ');
        pieces.adjacent += u64::from(source.line > 0 && source.line + 1 == self.line);
        source.line = self.line;
        if text.len() >= TEXT && source.text[source.open..] == *text {
            pieces.repeats += 1;
            pieces.repeated.extend(source.keys.drain(..).take(SETS));
            if pieces.repeating.len() < SETS {
                pieces.repeating.insert(keys.clone());
            }
            source.close();
            return;
        }
        self.bytes += text.len();
        source.last = source.text.len();
        source.text.push_str(text);
        if source.keys.len() < SETS && !source.keys.contains(keys) {
            source.keys.push(keys.clone());
        }
    }
}

impl Source {
    fn close(&mut self) {
        self.last = self.open;
        self.open = self.text.len();
        self.keys.clear();
    }
}

impl Pieces {
    /// Which keys the event of a piece has, or has not, that of a repeat of pieces differs from in
    /// one or another; none if they cannot be told apart.
    pub(super) fn told_by(&self) -> Option<Vec<(&str, bool)>> {
        let (pieces, repeats) = (&self.repeated, &self.repeating);
        let all = pieces.iter().chain(repeats).flatten().collect::<BTreeSet<_>>();
        let mut conditions = Vec::new();
        for key in all {
            let having = pieces.iter().filter(|it| it.contains(key)).count();
            let exists = having == pieces.len();
            let is_sure = exists || having == 0;
            if is_sure && repeats.iter().any(|it| it.contains(key) != exists) {
                conditions.push((key.as_str(), exists));
            }
        }
        let told = |it: &Keys| conditions.iter().any(|(key, has)| it.contains(*key) != *has);
        (!pieces.is_empty() && !repeats.is_empty() && repeats.iter().all(told))
            .then_some(conditions)
    }
}
