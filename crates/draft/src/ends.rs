//! The events that recordings end with, and what distinguishes them from others of their tag.

use std::collections::BTreeSet;
use std::rc::Rc;

use ndjson_check_core::escape::shown;
use serde_json::{Map, Value, json};

use super::failure_markers::{is_marker, names_failure};
use super::leaves::{Leaf, is_name, is_path};
use super::recording_stats::{RecordingStats, TagCounts};
use super::{depth, last_token};
use crate::limits::DRAFT_VALUES_MAX;

/// Parts of the keys of values that may distinguish the last event.
const MARKER_KEYS: [&str; 9] =
    ["reason", "status", "state", "type", "kind", "final", "last", "done", "retry"];

/// How words for an end of a run begin.
const END_NAMES: [&str; 15] = [
    "answer", "clos", "complet", "done", "end", "exit", "final", "finish", "halt", "over", "quit",
    "result", "stop", "succe", "term",
];

/// Deepest of them, in tokens of its path.
const DEPTH: usize = 3;

/// A value that may distinguish the last event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MarkerValue {
    Flag(bool),
    Text(String),
    /// Anything else, which is not compared.
    Other,
}

impl MarkerValue {
    /// The value at a leaf, if its key is that of a marker.
    pub(super) fn of(leaf: &Leaf<'_>) -> Option<Self> {
        let key = last_token(&leaf.path).to_ascii_lowercase();
        let is_marker = MARKER_KEYS.iter().any(|part| key.contains(part));
        if !is_marker || depth(&leaf.path) > DEPTH || !is_path(&leaf.path) {
            return None;
        }
        if let Some(flag) = leaf.node.as_bool() {
            return Some(Self::Flag(flag));
        }
        let name = leaf.node.as_str().filter(|text| is_name(text));
        Some(name.map_or(Self::Other, |text| Self::Text(text.into_owned())))
    }

    pub(super) fn shown(&self) -> String {
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

/// The markers at one path: in events that are the last, and in others.
#[derive(Debug, Default)]
pub(super) struct EndMarkers {
    last: MarkerCounts,
    others: MarkerCounts,
}

#[derive(Debug, Default)]
struct MarkerCounts {
    count: u64,
    values: BTreeSet<MarkerValue>,
}

impl EndMarkers {
    pub(super) fn add(&mut self, value: MarkerValue, is_last: bool) {
        let counts = if is_last { &mut self.last } else { &mut self.others };
        counts.count += 1;
        if counts.values.len() < DRAFT_VALUES_MAX {
            counts.values.insert(value);
        }
    }

    /// The condition that holds for all last events of the tag and no other, if there is one.
    fn condition(&self, path: &str, tag: &TagCounts) -> Option<Value> {
        let (last, others) = (&self.last, &self.others);
        let is_incomparable = last.values.contains(&MarkerValue::Other)
            || others.values.contains(&MarkerValue::Other);
        // The failure of an earlier turn does not show that this event is the last.
        let is_failure =
            |value: &MarkerValue| matches!(value, MarkerValue::Text(text) if names_failure(text));
        if is_marker(path) || is_incomparable || others.values.iter().any(is_failure) {
            return None;
        }
        if last.count == 0 && others.count == tag.events - tag.last {
            return Some(json!({ "exists": false }));
        }
        if last.count != tag.last || !last.values.is_disjoint(&others.values) {
            return None;
        }
        let mut values: Vec<Value> = last.values.iter().map(MarkerValue::json).collect();
        if values.len() == 1 { values.pop() } else { Some(json!(values)) }
    }

    /// The values of last events, if there are several.
    pub(super) fn different(&self) -> Option<&BTreeSet<MarkerValue>> {
        let values = &self.last.values;
        (values.len() > 1 && !values.contains(&MarkerValue::Other)).then_some(values)
    }
}

pub(super) struct EndCandidate<'e> {
    pub(super) tag: &'e Rc<str>,
    pub(super) counts: &'e TagCounts,
    pub(super) kind: EndKind,
}

pub(super) enum EndKind {
    /// It occurs nowhere else.
    Only,
    /// It ends a turn, and another turn may begin after it.
    Turn,
    /// It is the end if nothing follows, and if this condition holds, which holds for no other
    /// event of its tag; the condition may be empty.
    Provisional(Map<String, Value>),
}

/// The words of a tag in lower case: `run`, `completed` of `run.completed` and `runCompleted`.
fn words(tag: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in tag.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Whether a word of the tag begins like one for the end of a run: `run.completed`, `turnEnd`.
fn names_end(tag: &str) -> bool {
    let words = words(tag);
    let is_of_call = words.iter().any(|it| ["tool", "tools", "call", "calls"].contains(&&**it));
    !is_of_call && words.iter().any(|word| END_NAMES.iter().any(|end| word.starts_with(end)))
}

impl EndCandidate<'_> {
    pub(super) fn is_provisional(&self) -> bool {
        matches!(self.kind, EndKind::Provisional(_))
    }

    fn has_no_condition(&self) -> bool {
        matches!(&self.kind, EndKind::Provisional(when) if when.is_empty())
    }

    /// How often its tag is not at the end.
    pub(super) fn elsewhere(&self) -> u64 {
        self.counts.events - self.counts.last
    }
}

impl RecordingStats {
    /// The tags that recordings end with. One that also occurs elsewhere, without a condition for
    /// the last, counts only if most recordings end with it. Where another one is surely an end, a
    /// tag that does not name an end may be the last that a killed run wrote.
    pub(super) fn terminals(&self) -> Vec<EndCandidate<'_>> {
        // A recording of the start alone was cut.
        let is_cut = |tag: &TagCounts| tag.alone == tag.last && tag.first > tag.alone;
        let last = self.tags().filter(|(_, counts)| counts.last > 0 && !is_cut(counts));
        let ends = last.map(|(tag, counts)| {
            let kind = self.end_kind(tag, counts);
            EndCandidate { tag, counts, kind }
        });
        let is_of_most = |end: &EndCandidate<'_>| end.counts.last * 2 > self.recordings;
        let mut ends: Vec<_> =
            ends.filter(|end| !end.has_no_condition() || is_of_most(end)).collect();
        let is_sure = |end: &EndCandidate<'_>| is_of_most(end) || names_end(end.tag);
        let sure = ends.iter().filter(|end| is_sure(end));
        let sure: Vec<_> = sure.map(|end| (end.tag.clone(), end.counts.last)).collect();
        if let Some(most) = sure.iter().map(|(_, last)| *last).max() {
            // Some agents write more behind the end.
            let is_behind_end = |end: &EndCandidate<'_>| {
                sure.iter().any(|(tag, _)| end.counts.last_with.get(tag) == Some(&end.counts.last))
            };
            let is_failure = |end: &EndCandidate<'_>| end.tag.split('/').any(names_failure);
            ends.retain(|end| {
                end.counts.last > most || is_sure(end) || is_failure(end) || is_behind_end(end)
            });
        }
        ends
    }

    fn end_kind(&self, tag: &Rc<str>, counts: &TagCounts) -> EndKind {
        let elsewhere = counts.events - counts.last;
        if elsewhere == 0 {
            return EndKind::Only;
        }
        let conditions = counts
            .markers
            .iter()
            .filter_map(|(path, markers)| Some((path, markers.condition(path, counts)?)));
        let best = conditions.min_by_key(|(path, condition)| (condition.is_object(), depth(path)));
        if best.is_none() && counts.before_start == elsewhere && self.precedes_turns(tag) {
            return EndKind::Turn;
        }
        let best = best.map(|(path, condition)| (path.clone(), condition));
        EndKind::Provisional(best.into_iter().collect())
    }

    /// Whether the start occurs again after the ends of turns, of which this is one, and only
    /// there.
    fn precedes_turns(&self, tag: &Rc<str>) -> bool {
        let ends = self.tags().filter(|(_, counts)| counts.last > 0);
        let restarts = ends.map(|(_, counts)| counts.before_start).sum::<u64>();
        self.start()
            .is_some_and(|(start, counts)| start != tag && counts.events - counts.first == restarts)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::{EndMarkers, MarkerValue, TagCounts, names_end};

    fn markers(last: &[&str], others: &[&str]) -> EndMarkers {
        let mut markers = EndMarkers::default();
        for (values, is_last) in [(last, true), (others, false)] {
            for value in values {
                markers.add(MarkerValue::Text((*value).to_owned()), is_last);
            }
        }
        markers
    }

    #[test]
    fn a_condition_separates_last_events_from_others() {
        let tag = TagCounts { events: 4, last: 2, ..TagCounts::default() };
        let condition =
            |last: &[&str], others: &[&str]| markers(last, others).condition("/reason", &tag);
        assert_eq!(condition(&["over", "over"], &["work", "work"]), Some(json!("over")));
        assert_eq!(condition(&["a", "b"], &["work"]), Some(json!(["a", "b"])));
        assert_eq!(condition(&[], &["work", "work"]), Some(json!({ "exists": false })));
        assert_eq!(condition(&["over", "work"], &["work"]), None);
        assert_eq!(condition(&["over"], &["work"]), None);
        assert_eq!(condition(&["over", "over"], &["error"]), None);
        assert_eq!(markers(&["a", "a"], &["b"]).condition("/is_error", &tag), None);
        let mut incomparable = markers(&["a", "a"], &["b"]);
        incomparable.add(MarkerValue::Other, false);
        assert_eq!(incomparable.condition("/reason", &tag), None);
    }

    #[test]
    fn words_name_ends() {
        for tag in ["run.completed", "turnEnd", "result", "result/max_turns", "recall.done"] {
            assert!(names_end(tag), "{tag}");
        }
        for tag in ["waiting_for_model", "append", "heartbeat", "tool_result/web_fetch", ""] {
            assert!(!names_end(tag), "{tag}");
        }
    }

    #[test]
    fn different_values_of_last_events_are_reported() {
        assert_eq!(markers(&["a", "b"], &[]).different().map(BTreeSet::len), Some(2));
        assert!(markers(&["a", "a"], &["b"]).different().is_none());
    }
}
