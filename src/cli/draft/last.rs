//! The events that recordings end with, and what tells these from others of their tag.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::ends::{Ends, Tag};
use super::leaves::{Leaf, is_path, is_word};
use super::outcomes::{is_bad, is_sign};
use crate::limits::INFER_VALUES_MAX;
use crate::rules::escape::shown;

/// Part of the keys of words and flags that tell of an event whether it is the end.
const TELLING: [&str; 9] =
    ["reason", "status", "state", "type", "kind", "final", "last", "done", "retry"];

/// Deepest of them, in tokens of its path.
const DEPTH: usize = 3;

/// A word or a flag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word {
    Flag(bool),
    Text(String),
    /// Anything else: nothing to compare.
    Other,
}

impl Word {
    /// What is kept of a value, if its key is a telling one.
    pub(super) fn of(leaf: &Leaf<'_>) -> Option<Self> {
        let key = leaf.path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let telling = TELLING.iter().any(|it| key.contains(it));
        if !telling || leaf.path.matches('/').count() > DEPTH || !is_path(&leaf.path) {
            return None;
        }
        let text = leaf.node.as_str().filter(|it| is_word(it));
        let text = text.map(|it| Self::Text(it.into_owned()));
        Some(leaf.node.as_bool().map(Self::Flag).or(text).unwrap_or(Self::Other))
    }

    /// As a sentence shows it.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Text(text) => shown(text),
            Self::Flag(_) | Self::Other => self.json().to_string(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Flag(flag) => json!(flag),
            Self::Text(text) => json!(text),
            Self::Other => Value::Null,
        }
    }
}

/// The words at one place: in events that are the last, and in others.
#[derive(Debug, Default)]
pub(super) struct Words {
    last: Seen,
    others: Seen,
}

#[derive(Debug, Default)]
struct Seen {
    count: u64,
    values: BTreeSet<Word>,
}

impl Words {
    pub(super) fn add(&mut self, word: Word, is_last: bool) {
        let seen = if is_last { &mut self.last } else { &mut self.others };
        seen.count += 1;
        if seen.values.len() < INFER_VALUES_MAX {
            seen.values.insert(word);
        }
    }

    /// The condition that holds for the last events and for no other, if there is one.
    fn apart(&self, path: &str, tag: &Tag) -> Option<Value> {
        let (last, others) = (&self.last, &self.others);
        let all = || last.values.iter().chain(&others.values);
        let is_other = |it: &Word| *it == Word::Other;
        // That an earlier turn has failed does not tell that this one is the last.
        let is_failure = |it: &Word| matches!(it, Word::Text(text) if is_bad(text));
        if is_sign(path) || all().any(is_other) || others.values.iter().any(is_failure) {
            return None;
        }
        if last.count == 0 && others.count == tag.events - tag.last {
            return Some(json!({ "exists": false }));
        }
        let apart = last.count == tag.last && last.values.is_disjoint(&others.values);
        let values: Vec<Value> = last.values.iter().map(Word::json).collect();
        apart.then(|| if values.len() == 1 { values[0].clone() } else { json!(values) })
    }

    /// The values of last events, if these differ.
    pub(super) fn different(&self) -> Option<&BTreeSet<Word>> {
        Some(&self.last.values).filter(|it| it.len() > 1 && !it.contains(&Word::Other))
    }
}

/// An event that recordings end with.
pub(super) struct End<'e> {
    pub(super) tag: &'e Rc<str>,
    pub(super) seen: &'e Tag,
    pub(super) how: How,
}

/// How it is the end.
pub(super) enum How {
    /// It stands nowhere else.
    Only,
    /// It ends a turn, and another may begin after it.
    Turn,
    /// If nothing follows, and if this holds, which does for no other of its tag.
    Suspect(Map<String, Value>),
}

impl End<'_> {
    pub(super) fn is_suspect(&self) -> bool {
        matches!(self.how, How::Suspect(_))
    }

    /// Whether nothing but a number of recordings speaks for it.
    fn is_vague(&self) -> bool {
        matches!(&self.how, How::Suspect(when) if when.is_empty())
    }

    /// How often it stands elsewhere.
    pub(super) fn elsewhere(&self) -> u64 {
        self.seen.events - self.seen.last
    }
}

impl Ends {
    /// What recordings end with; nothing if they end with different events that stand elsewhere,
    /// too. Of those that do, only what most recordings end with is taken.
    pub(super) fn terminals(&self) -> Vec<End<'_>> {
        // A recording of the start alone was cut.
        let cut = |it: &Tag| it.alone == it.last && it.first > it.alone;
        let tags = self.tags().filter(|(_, it)| it.last > 0 && !cut(it));
        let mut ends: Vec<End<'_>> =
            tags.map(|(tag, seen)| End { tag, seen, how: self.how(tag, seen) }).collect();
        ends.retain(|it| !it.is_vague() || it.seen.last * 2 > self.recordings);
        ends
    }

    fn how(&self, tag: &Rc<str>, seen: &Tag) -> How {
        let elsewhere = seen.events - seen.last;
        if elsewhere == 0 {
            return How::Only;
        }
        let apart = seen.words.iter().filter_map(|(path, it)| Some((path, it.apart(path, seen)?)));
        let best = apart.min_by_key(|(path, it)| (it.is_object(), path.matches('/').count()));
        if best.is_none() && seen.again == elsewhere && self.starts_turns(tag) {
            return How::Turn;
        }
        How::Suspect(best.into_iter().map(|(path, it)| (path.clone(), it)).collect())
    }

    /// Whether the start comes again after the ends of turns, of which this is one, and only there.
    fn starts_turns(&self, tag: &Rc<str>) -> bool {
        let again = self.tags().filter(|(_, it)| it.last > 0).map(|(_, it)| it.again).sum::<u64>();
        self.start().is_some_and(|(start, it)| start != tag && it.events - it.first == again)
    }
}
