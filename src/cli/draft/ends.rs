//! What is the same in all events of a recording, what grows, and how recordings begin and end.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use super::last::{End, How, Word, Words};
use super::leaves::Leaf;
use crate::limits::{INFER_PLACES_MAX, INFER_VALUES_MAX};

/// The earliest and the latest time in milliseconds that is taken for one: 2001 and 2286.
const TIMES: std::ops::Range<f64> = 1e12..1e13;

/// First and last events, sessions and times.
#[derive(Debug, Default)]
pub(super) struct Ends {
    pub(super) recordings: u64,
    tags: BTreeMap<Rc<str>, Tag>,
    first: Option<Rc<str>>,
    last: Option<Rc<str>>,
    /// What the last event says that may tell whether it is the end.
    words: Vec<(String, Word)>,
    /// Events of this recording, and different places of such words.
    here: u64,
    telling: usize,
    constants: BTreeMap<String, Constant>,
    times: BTreeMap<String, Time>,
    state: RandomState,
}

#[derive(Debug, Default)]
pub(super) struct Tag {
    pub(super) events: u64,
    /// Recordings that begin with it, and that end with it.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Recordings that have nothing else.
    pub(super) alone: u64,
    /// How often the event that began the recording follows it.
    pub(super) again: u64,
    pub(super) words: BTreeMap<String, Words>,
}

#[derive(Debug, Default)]
struct Constant {
    seen: u64,
    tags: BTreeSet<Rc<str>>,
    now: Option<String>,
    changes: bool,
    /// Its values in different recordings, by fingerprint.
    values: HashSet<u64>,
    digits: bool,
}

#[derive(Debug, Default)]
struct Time {
    seen: u64,
    now: Option<f64>,
    grows: bool,
    wrong: bool,
}

impl Ends {
    pub(super) fn event(&mut self, tag: &Rc<str>) {
        if let Some(last) = self.last.take() {
            let again = self.first.as_ref() == Some(tag);
            self.tags.entry(last.clone()).or_default().again += u64::from(again);
            self.say(&last, false);
        }
        self.tags.entry(tag.clone()).or_default().events += 1;
        self.here += 1;
        self.first.get_or_insert(tag.clone());
        self.last = Some(tag.clone());
    }

    /// Keeps what an event has said, once it is known whether it is the last.
    fn say(&mut self, tag: &Rc<str>, is_last: bool) {
        let words = &mut self.tags.entry(tag.clone()).or_default().words;
        for (path, word) in self.words.drain(..) {
            if words.contains_key(&path) || self.telling < INFER_PLACES_MAX {
                self.telling += usize::from(!words.contains_key(&path));
                words.entry(path).or_default().add(word, is_last);
            }
        }
    }

    pub(super) fn leaf(&mut self, tag: &Rc<str>, leaf: &Leaf<'_>) {
        if leaf.each.is_some() {
            return;
        }
        self.words.extend(Word::of(leaf).map(|it| (leaf.path.clone(), it)));
        if let Some(text) = leaf.node.as_str() {
            if self.constants.len() >= INFER_PLACES_MAX && !self.constants.contains_key(&leaf.path)
            {
                return;
            }
            let state = &self.state;
            let it = self.constants.entry(leaf.path.clone()).or_default();
            it.seen += 1;
            it.changes |= text.len() < 4 || it.now.as_ref().is_some_and(|now| *now != text);
            if it.changes {
                return;
            }
            it.tags.insert(tag.clone());
            if it.now.is_none() {
                it.digits |= text.contains(|it: char| it.is_ascii_digit());
                if it.values.len() < INFER_VALUES_MAX {
                    it.values.insert(state.hash_one(&*text));
                }
                it.now = Some(text.into_owned());
            }
        } else if let Some(number) = leaf.node.as_f64() {
            if self.times.len() >= INFER_PLACES_MAX && !self.times.contains_key(&leaf.path) {
                return;
            }
            let it = self.times.entry(leaf.path.clone()).or_default();
            it.seen += 1;
            it.wrong |= !TIMES.contains(&number) || it.now.is_some_and(|now| number < now);
            it.grows |= it.now.is_some_and(|now| number > now);
            it.now = Some(number);
        }
    }

    pub(super) fn end(&mut self) {
        let (Some(first), Some(last)) = (self.first.take(), self.last.take()) else { return };
        self.recordings += 1;
        self.say(&last, true);
        self.tags.entry(first).or_default().first += 1;
        let tag = self.tags.entry(last).or_default();
        tag.last += 1;
        tag.alone += u64::from(self.here == 1);
        self.here = 0;
        self.constants.values_mut().for_each(|it| it.now = None);
        self.times.values_mut().for_each(|it| it.now = None);
    }

    pub(super) fn events(&self) -> u64 {
        self.tags.values().map(|tag| tag.events).sum()
    }

    /// All tags, with what was counted of each.
    pub(super) fn tags(&self) -> impl Iterator<Item = (&Rc<str>, &Tag)> {
        self.tags.iter()
    }

    /// The events of a tag.
    pub(super) fn events_of(&self, tag: &Rc<str>) -> u64 {
        self.tags.get(tag).map_or(0, |it| it.events)
    }

    /// Whether all events of a tag begin a recording or a turn, or end one.
    pub(super) fn is_edge(&self, tag: &Rc<str>) -> bool {
        let is_turn = || self.has_turns() && self.start().is_some_and(|(start, _)| start == tag);
        let ends = |it: &End<'_>| it.tag == tag && !it.is_suspect();
        let begins = self.tags.get(tag).is_some_and(|it| it.first == it.events);
        begins || self.terminals().iter().any(ends) || is_turn()
    }

    /// Whether recordings have several turns.
    pub(super) fn has_turns(&self) -> bool {
        self.terminals().iter().any(|it| matches!(it.how, How::Turn))
    }

    /// The tag that all recordings begin with.
    pub(super) fn start(&self) -> Option<(&Rc<str>, &Tag)> {
        self.tags().find(|(_, it)| it.first == self.recordings)
    }

    /// The path that names the session, if something may: its path, events, and recordings that
    /// have another than the others.
    pub(super) fn session(&self) -> Option<(&str, u64, usize)> {
        let tags = self.tags.len();
        let named = |path: &str| path.to_ascii_lowercase().contains("session");
        let fits = |path: &str, it: &Constant| {
            let wide = it.tags.len() * 2 > tags && it.seen * 2 > self.events();
            !it.changes && (named(path) || wide && it.digits)
        };
        let candidates = self.constants.iter().filter(|(path, it)| fits(path, it));
        let (path, it) = candidates.max_by_key(|(p, it)| {
            (it.tags.len(), it.values.len(), named(p), usize::MAX - p.len())
        })?;
        Some((path, it.seen, it.values.len()))
    }

    /// Whether the same string stands there in events of several tags.
    pub(super) fn is_constant(&self, path: &str) -> bool {
        self.constants.get(path).is_some_and(|it| !it.changes && it.tags.len() > 1)
    }

    /// The path of a time in milliseconds, and in how many events it stands.
    pub(super) fn time(&self) -> Option<(&str, u64)> {
        let candidates = self.times.iter().filter(|(_, it)| it.grows && !it.wrong);
        let (path, it) = candidates.max_by_key(|(p, it)| (it.seen, usize::MAX - p.len()))?;
        Some((path, it.seen))
    }
}
