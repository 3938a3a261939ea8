//! Finds what names an event: strings that all events have, with few different values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ndjson_check_core::{
    escape::shown,
    internals::{JsonPath, JsonRef},
};

use super::leaves::{FewValues, is_path, leaves};
use super::{Visitor, counted, depth, last_token};
use crate::limits::{DRAFT_PATH_BYTES_MAX, DRAFT_PATHS_MAX};

/// Different tags that a choice of tag may give.
const TAGS_MAX: usize = 64;

/// Deepest part of a tag, in tokens of its pointer.
const DEPTH: usize = 3;

/// The parts of an event's tag, up to the first that is missing.
pub(super) fn parts(tag: &[JsonPath], root: JsonRef<'_>) -> Vec<String> {
    tag.iter().map_while(|path| part(path, root)).collect()
}

/// All parts of an event's tag that are present.
pub(super) fn all_parts(tag: &[JsonPath], root: JsonRef<'_>) -> Vec<String> {
    tag.iter().filter_map(|path| part(path, root)).collect()
}

fn part(path: &JsonPath, root: JsonRef<'_>) -> Option<String> {
    path.value(root)?.as_str().map(Cow::into_owned)
}

/// One round: counts the strings of the events that share the parts found so far.
pub(super) struct TagSearch<'t> {
    tag: &'t [JsonPath],
    recording: u64,
    groups: BTreeMap<Vec<String>, TagGroup>,
    /// Paths of all groups together.
    paths: usize,
}

#[derive(Default)]
struct TagGroup {
    events: u64,
    paths: BTreeMap<String, TagCandidate>,
}

#[derive(Default)]
struct TagCandidate {
    seen: u64,
    values: FewValues,
    /// The last value, and its recording.
    latest: (u64, String),
    /// Whether one recording has several values.
    varies: bool,
}

impl Visitor for TagSearch<'_> {
    fn event(&mut self, root: JsonRef<'_>) {
        let parts = parts(self.tag, root);
        let is_long = parts.iter().map(String::len).sum::<usize>() > DRAFT_PATH_BYTES_MAX;
        let is_full = self.groups.len() >= TAGS_MAX;
        if parts.len() < self.tag.len() || is_long || is_full {
            // The tag ends where a part is missing.
            self.groups.entry(Vec::new()).or_default().events += 1;
            return;
        }
        let group = self.groups.entry(parts).or_default();
        group.events += 1;
        for leaf in leaves(root, None) {
            let Some(text) = leaf.node.as_str().filter(|_| leaf.each.is_none()) else { continue };
            let is_new = !group.paths.contains_key(&leaf.path);
            let has_room = !is_new || self.paths < DRAFT_PATHS_MAX;
            if !has_room || depth(&leaf.path) > DEPTH || !is_path(&leaf.path) {
                continue;
            }
            self.paths += usize::from(is_new);
            group.paths.entry(leaf.path).or_default().add(self.recording, &text);
        }
    }

    fn end_of_recording(&mut self, _: bool) {
        self.recording += 1;
    }
}

impl TagCandidate {
    fn add(&mut self, recording: u64, text: &str) {
        self.values.add(text);
        if self.values.get().is_some() {
            self.varies |= self.seen > 0 && self.latest.0 == recording && self.latest.1 != text;
            self.latest = (recording, text.to_owned());
        }
        self.seen += 1;
    }

    /// How many different values there are; 0 if they are not a few names.
    fn values(&self) -> usize {
        self.values.get().map_or(0, std::collections::BTreeSet::len)
    }
}

/// What a path can add to the tag.
#[derive(Default)]
struct TagGain {
    /// Tags whose events all have the path.
    tags: u64,
    /// Those in which it has several values, and their events.
    split_tags: u64,
    split_events: u64,
}

impl<'t> TagSearch<'t> {
    pub(super) fn new(tag: &'t [JsonPath]) -> Self {
        Self { tag, recording: 0, groups: BTreeMap::new(), paths: 0 }
    }

    pub(super) fn events(&self) -> u64 {
        self.groups.values().map(|group| group.events).sum()
    }

    /// The next part of the tag and the evidence for it, if there is one.
    pub(super) fn choice(&self) -> Option<(JsonPath, String)> {
        let (path, evidence) = if self.tag.is_empty() { self.first()? } else { self.further()? };
        Some((JsonPath::try_from(path.as_str()).ok()?, evidence))
    }

    /// What most events have, with several values.
    fn first(&self) -> Option<(String, String)> {
        let group = self.groups.get(&Vec::new())?;
        let candidates = group.paths.iter().filter(|(_, candidate)| {
            candidate.varies && candidate.values() > 1 && candidate.seen * 2 > group.events
        });
        let (path, candidate) = candidates.max_by_key(|(path, candidate)| {
            (candidate.seen, candidate.values(), usize::MAX - depth(path))
        })?;
        let evidence = format!(
            "tag: {} is a short name in {} of {} events, with {} different values",
            shown(path),
            candidate.seen,
            group.events,
            candidate.values()
        );
        Some((path.clone(), evidence))
    }

    /// What divides the events of one tag further: a path that several tags have, or one with the
    /// key of the first part.
    fn further(&self) -> Option<(String, String)> {
        let first = self.tag.first()?.to_string();
        let is_wide = |gain: &TagGain| self.tag.len() == 1 && gain.tags > 1;
        let candidates = self.gains().into_iter().filter(|(path, gain)| {
            gain.split_tags > 0 && (is_wide(gain) || last_token(path) == last_token(&first))
        });
        let (path, gain) = candidates.max_by_key(|(_, gain)| (gain.tags, gain.split_events))?;
        let evidence = format!(
            "tag: {} is in all events of {}, with different values in {} of them",
            shown(path),
            counted(gain.tags, "tag"),
            gain.split_tags
        );
        Some((path.to_owned(), evidence))
    }

    fn gains(&self) -> BTreeMap<&str, TagGain> {
        let used: Vec<String> = self.tag.iter().map(JsonPath::to_string).collect();
        let mut gains: BTreeMap<&str, TagGain> = BTreeMap::new();
        for (_, group) in self.groups.iter().filter(|(tag, _)| tag.len() == self.tag.len()) {
            for (path, candidate) in &group.paths {
                let values = candidate.values();
                if candidate.seen < group.events || values == 0 || used.contains(path) {
                    continue;
                }
                let gain = gains.entry(path).or_default();
                gain.tags += 1;
                if values > 1 {
                    gain.split_tags += 1;
                    gain.split_events += group.events;
                }
            }
        }
        gains
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use serde_json::{Value, json};

    use super::super::Visitor as _;
    use super::{JsonPath, TagSearch};
    use crate::limits::DRAFT_PATHS_MAX;
    use ndjson_check_core::internals::JsonRef;

    fn choice(tag: &[JsonPath], events: &[Value]) -> Option<String> {
        let mut search = TagSearch::new(tag);
        for event in events {
            search.event(JsonRef::tree(event));
        }
        search.end_of_recording(false);
        search.choice().map(|(path, _)| path.to_string())
    }

    #[test]
    fn a_tag_is_a_name_that_varies_and_its_next_part_divides_it() {
        let events = [
            json!({"type": "a", "step": "x", "id": "1", "run": "r"}),
            json!({"type": "a", "step": "y", "id": "2", "run": "r"}),
            json!({"type": "b", "step": "x", "id": "3", "run": "r"}),
        ];
        assert_eq!(choice(&[], &events).as_deref(), Some("/type"));
        let tag = JsonPath::try_from("/type").unwrap();
        assert_eq!(choice(&[tag], &events).as_deref(), Some("/step"));
        assert_eq!(choice(&[], &events[..1]), None);
    }

    #[test]
    fn the_paths_of_all_groups_together_are_bounded() {
        let tag = [JsonPath::try_from("/type").unwrap()];
        let mut search = TagSearch::new(&tag);
        for number in 0..20 {
            let members = (0..500).map(|member| (format!("m{member}"), json!("x")));
            let tag = ("type".to_owned(), json!(number.to_string()));
            let event: Value = members.chain([tag]).collect();
            search.event(JsonRef::tree(&event));
        }
        assert_eq!(
            search.groups.values().map(|group| group.paths.len()).sum::<usize>(),
            DRAFT_PATHS_MAX
        );
    }
}
