//! How recordings begin and end, what is the same in all events of one, and what grows.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use super::ends::{EndCandidate, EndKind, EndMarkers, MarkerValue};
use super::leaves::Leaf;
use crate::limits::{DRAFT_PATHS_MAX, DRAFT_VALUES_MAX};

/// The range of numbers that are taken for a time in milliseconds: from 2001 to 2286.
const TIMES: std::ops::Range<f64> = 1e12..1e13;

const SESSION_BYTES_MIN: usize = 4;

#[derive(Debug, Default)]
pub(super) struct RecordingStats {
    pub(super) recordings: u64,
    tags: BTreeMap<Rc<str>, TagCounts>,
    /// The tags of the first and the latest event of this recording.
    first: Option<Rc<str>>,
    last: Option<Rc<str>>,
    /// The markers of the latest event: whether it is the last is not known yet.
    pending: Vec<(String, MarkerValue)>,
    events_here: u64,
    /// The tags of this recording.
    seen: BTreeSet<Rc<str>>,
    /// Different paths of markers, for all tags together.
    marker_paths: usize,
    constants: BTreeMap<String, ConstantField>,
    times: BTreeMap<String, TimeField>,
    state: RandomState,
}

#[derive(Debug, Default)]
pub(super) struct TagCounts {
    pub(super) events: u64,
    /// Recordings that begin with it, and that end with it.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Recordings that have no other event.
    pub(super) alone: u64,
    /// By another tag, how many of the recordings that end with this one have it.
    pub(super) last_with: BTreeMap<Rc<str>, u64>,
    /// How often the tag that began the recording follows it.
    pub(super) before_start: u64,
    pub(super) markers: BTreeMap<String, EndMarkers>,
}

/// A string that may be the same in all events of a recording.
#[derive(Debug, Default)]
struct ConstantField {
    seen: u64,
    tags: BTreeSet<Rc<str>>,
    /// The hash of its value in this recording.
    now: Option<u64>,
    changes: bool,
    /// The hashes of its values in all recordings.
    values: HashSet<u64>,
    has_digits: bool,
}

#[derive(Debug, Default)]
struct TimeField {
    seen: u64,
    now: Option<f64>,
    grows: bool,
    is_wrong: bool,
}

impl RecordingStats {
    pub(super) fn event(&mut self, tag: &Rc<str>) {
        if let Some(last) = self.last.take() {
            let is_start = self.first.as_ref() == Some(tag);
            self.tags.entry(last.clone()).or_default().before_start += u64::from(is_start);
            self.add_pending(&last, false);
        }
        self.tags.entry(tag.clone()).or_default().events += 1;
        self.events_here += 1;
        self.seen.insert(tag.clone());
        self.first.get_or_insert(tag.clone());
        self.last = Some(tag.clone());
    }

    fn add_pending(&mut self, tag: &Rc<str>, is_last: bool) {
        let markers = &mut self.tags.entry(tag.clone()).or_default().markers;
        for (path, value) in self.pending.drain(..) {
            let is_new = !markers.contains_key(&path);
            if !is_new || self.marker_paths < DRAFT_PATHS_MAX {
                self.marker_paths += usize::from(is_new);
                markers.entry(path).or_default().add(value, is_last);
            }
        }
    }

    pub(super) fn leaf(&mut self, tag: &Rc<str>, leaf: &Leaf<'_>) {
        if leaf.each.is_some() {
            return;
        }
        self.pending.extend(MarkerValue::of(leaf).map(|value| (leaf.path.clone(), value)));
        if let Some(text) = leaf.node.as_str() {
            if has_room(&self.constants, &leaf.path) {
                let field = self.constants.entry(leaf.path.clone()).or_default();
                field.add(tag, &text, self.state.hash_one(&*text));
            }
        } else if let Some(number) = leaf.node.as_f64()
            && has_room(&self.times, &leaf.path)
        {
            self.times.entry(leaf.path.clone()).or_default().add(number);
        }
    }

    /// The last event of a recording that `is_cut` is not its end.
    pub(super) fn end_of_recording(&mut self, is_cut: bool) {
        let (Some(first), Some(last)) = (self.first.take(), self.last.take()) else { return };
        self.recordings += 1;
        self.add_pending(&last, !is_cut);
        self.tags.entry(first).or_default().first += 1;
        if !is_cut {
            let counts = self.tags.entry(last).or_default();
            counts.last += 1;
            counts.alone += u64::from(self.events_here == 1);
            for tag in &self.seen {
                *counts.last_with.entry(tag.clone()).or_default() += 1;
            }
        }
        self.seen.clear();
        self.events_here = 0;
        self.constants.values_mut().for_each(|field| field.now = None);
        self.times.values_mut().for_each(|field| field.now = None);
    }

    pub(super) fn events(&self) -> u64 {
        self.tags.values().map(|counts| counts.events).sum()
    }

    pub(super) fn tags(&self) -> impl Iterator<Item = (&Rc<str>, &TagCounts)> {
        self.tags.iter()
    }

    pub(super) fn events_of(&self, tag: &Rc<str>) -> u64 {
        self.tags.get(tag).map_or(0, |counts| counts.events)
    }

    /// Whether all events of a tag begin a recording or a turn, or end one.
    pub(super) fn is_edge(&self, tag: &Rc<str>) -> bool {
        let begins = self.tags.get(tag).is_some_and(|counts| counts.first == counts.events);
        let ends = |end: &EndCandidate<'_>| end.tag == tag && !end.is_provisional();
        let begins_turn =
            || self.has_turns() && self.start().is_some_and(|(start, _)| start == tag);
        begins || self.terminals().iter().any(ends) || begins_turn()
    }

    pub(super) fn has_turns(&self) -> bool {
        self.terminals().iter().any(|end| matches!(end.kind, EndKind::Turn))
    }

    /// The tag that all recordings begin with.
    pub(super) fn start(&self) -> Option<(&Rc<str>, &TagCounts)> {
        self.tags().find(|(_, counts)| counts.first == self.recordings)
    }

    /// The path of the session's id, if there may be one, the number of events with it, and the
    /// number of its values.
    pub(super) fn session(&self) -> Option<(&str, u64, usize)> {
        let is_named = |path: &str| path.to_ascii_lowercase().contains("session");
        let candidates = self.constants.iter().filter(|(path, field)| {
            let is_common =
                field.tags.len() * 2 > self.tags.len() && field.seen * 2 > self.events();
            !field.changes && (is_named(path) || is_common && field.has_digits)
        });
        let (path, field) = candidates.max_by_key(|(path, field)| {
            (field.tags.len(), field.values.len(), is_named(path), usize::MAX - path.len())
        })?;
        Some((path, field.seen, field.values.len()))
    }

    /// Whether events of several tags have the same string there.
    pub(super) fn is_constant(&self, path: &str) -> bool {
        self.constants.get(path).is_some_and(|field| !field.changes && field.tags.len() > 1)
    }

    /// The path of a time in milliseconds, and the number of events with it.
    pub(super) fn time(&self) -> Option<(&str, u64)> {
        let candidates = self.times.iter().filter(|(_, field)| field.grows && !field.is_wrong);
        let (path, field) =
            candidates.max_by_key(|(path, field)| (field.seen, usize::MAX - path.len()))?;
        Some((path, field.seen))
    }
}

fn has_room<T>(fields: &BTreeMap<String, T>, path: &str) -> bool {
    fields.len() < DRAFT_PATHS_MAX || fields.contains_key(path)
}

impl ConstantField {
    fn add(&mut self, tag: &Rc<str>, text: &str, hash: u64) {
        self.seen += 1;
        self.changes |= text.len() < SESSION_BYTES_MIN || self.now.is_some_and(|now| now != hash);
        if self.changes {
            return;
        }
        self.tags.insert(tag.clone());
        if self.now.is_none() {
            self.now = Some(hash);
            self.has_digits |= text.contains(|character: char| character.is_ascii_digit());
            if self.values.len() < DRAFT_VALUES_MAX {
                self.values.insert(hash);
            }
        }
    }
}

impl TimeField {
    fn add(&mut self, number: f64) {
        self.seen += 1;
        self.is_wrong |= !TIMES.contains(&number) || self.now.is_some_and(|now| number < now);
        self.grows |= self.now.is_some_and(|now| number > now);
        self.now = Some(number);
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::{Value, json};

    use super::super::leaves::leaves;
    use super::RecordingStats;
    use ndjson_check_core::internals::JsonRef;

    #[test]
    fn recordings_have_a_start_a_session_and_a_time() {
        let mut stats = RecordingStats::default();
        for session in ["run-1", "run-2"] {
            for (at, tag) in [(1_u64, "begin"), (2, "say"), (2, "end")] {
                let tag: Rc<str> = tag.into();
                let at = 1_800_000_000_000 + at;
                let event: Value = json!({"run": session, "at": at, "note": "same"});
                stats.event(&tag);
                for leaf in leaves(JsonRef::tree(&event), None) {
                    stats.leaf(&tag, &leaf);
                }
            }
            stats.end_of_recording(false);
        }
        assert_eq!(stats.start().map(|(tag, _)| &**tag), Some("begin"));
        assert_eq!(stats.session(), Some(("/run", 6, 2)));
        assert_eq!(stats.time(), Some(("/at", 6)));
        assert!(stats.is_constant("/note") && !stats.is_constant("/at"));
        assert!(stats.is_edge(&"end".into()) && !stats.is_edge(&"say".into()));
    }
}
