//! Finds tool calls: ids in an event of one tag that occur again in an event of another.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use super::failure_markers::contains;
use super::last_token;
use super::leaves::{LeafPath, LeafTable};
use super::recording_stats::RecordingStats;
use crate::limits::DRAFT_PATHS_MAX;

/// Different strings of one recording that a draft remembers as ids.
const DRAFT_IDS_MAX: usize = 50_000;

/// Shortest and longest string that is taken for an id, in bytes.
const ID_BYTES: std::ops::RangeInclusive<usize> = 3..=200;

/// Parts of keys whose values are not ids, although they may look like one.
const NAME_KEYS: [&str; 5] = ["name", "label", "text", "title", "model"];

/// Parts of keys of ids that are not ids of calls, unless the key mentions a call too.
const OTHER_KEYS: [&str; 6] = ["message", "response", "session", "turn", "thread", "trace"];

/// Parts of tags and keys that mention calls.
const CALL_NAMES: [&str; 2] = ["call", "tool"];

/// From this many other tags with an id at the same path on, it identifies something that lives
/// longer than a call.
const LIFECYCLE_TAGS_MIN: usize = 4;

const PATHS_PER_VALUE_MAX: usize = 8;

/// Strings that may be ids, and where they occur again.
#[derive(Debug, Default)]
pub(super) struct IdIndex {
    state: RandomState,
    /// The paths of each value in this recording, by the hash of the value.
    values: HashMap<u64, Vec<usize>>,
    ids: BTreeMap<usize, IdCounts>,
    /// Paths at which some strings are text.
    texts: BTreeSet<usize>,
    /// How many values are at both paths, first at the first.
    shared: BTreeMap<(usize, usize), u64>,
}

/// The ids at one path: the different values in each recording, and how often one is repeated.
#[derive(Debug, Default, Clone, Copy)]
struct IdCounts {
    different: u64,
    repeats: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CallPair {
    pub(super) start: usize,
    pub(super) completion: usize,
    /// Ids at both paths, at the path of the start, and at that of the completion.
    pub(super) both: u64,
    pub(super) starts: u64,
    pub(super) completions: u64,
}

impl IdIndex {
    pub(super) fn add(&mut self, path: usize, text: &str, leaves: &LeafTable) {
        if is_text(text) {
            self.texts.insert(path);
        }
        if !is_id(text) || self.values.len() >= DRAFT_IDS_MAX {
            return;
        }
        let known = self.values.entry(self.state.hash_one(text)).or_default();
        let counts = self.ids.entry(path).or_default();
        if known.contains(&path) {
            counts.repeats += 1;
            return;
        }
        counts.different += 1;
        for earlier in known.iter().copied() {
            let other_tag = leaves.path(earlier).tag != leaves.path(path).tag;
            let has_room = self.shared.len() < DRAFT_PATHS_MAX;
            if other_tag && (has_room || self.shared.contains_key(&(earlier, path))) {
                *self.shared.entry((earlier, path)).or_default() += 1;
            }
        }
        if known.len() < PATHS_PER_VALUE_MAX {
            known.push(path);
        }
    }

    pub(super) fn end_of_recording(&mut self) {
        self.values.clear();
    }

    /// The pairs that may be calls, the best first; each object and each id is in one of them.
    pub(super) fn pairs(&self, leaves: &LeafTable, stats: &RecordingStats) -> Vec<CallPair> {
        let mut pairs: Vec<CallPair> = self
            .shared
            .keys()
            .filter_map(|(start, completion)| self.pair(*start, *completion))
            .collect();
        pairs.retain(|pair| self.is_candidate(pair, leaves, stats));
        retain_call_pairs(&mut pairs, leaves);
        let mut ranked = pairs.clone();
        ranked.sort_by_key(|pair| pair.rank(&pairs, leaves));
        let mut chosen: Vec<CallPair> = Vec::new();
        for pair in ranked {
            if !chosen.iter().any(|better| self.conflicts(better, &pair, leaves)) {
                chosen.push(pair);
            }
        }
        chosen
    }

    /// A pair if each value occurs once at both paths, most completions have a start, and half of
    /// the starts have a completion.
    fn pair(&self, start: usize, completion: usize) -> Option<CallPair> {
        let both = *self.shared.get(&(start, completion))?;
        let (first, second) = (self.ids.get(&start)?, self.ids.get(&completion)?);
        let (starts, completions) = (first.different, second.different);
        let is_once = first.repeats + second.repeats == 0;
        let is_common = both * 2 >= starts && both * 5 >= completions * 4;
        (is_once && is_common).then_some(CallPair { start, completion, both, starts, completions })
    }

    fn is_candidate(&self, pair: &CallPair, leaves: &LeafTable, stats: &RecordingStats) -> bool {
        let has_ids = [pair.start, pair.completion]
            .iter()
            .all(|path| !self.texts.contains(path) && may_be_call_id(*path, leaves, stats));
        has_ids && !pair.is_weak(leaves, stats) && !self.is_lifecycle_id(pair.start, leaves)
    }

    /// Whether two pairs share an object or an id, so that only one can be right.
    fn conflicts(&self, a: &CallPair, b: &CallPair, leaves: &LeafTable) -> bool {
        let shares = |a: usize, b: usize| {
            self.is_same_id(a, b) || leaves.path(a).is_in_same_object(leaves.path(b))
        };
        [a.start, a.completion]
            .into_iter()
            .any(|path| shares(path, b.start) || shares(path, b.completion))
    }

    /// Whether events of many tags have the ids, all at the same path.
    fn is_lifecycle_id(&self, number: usize, leaves: &LeafTable) -> bool {
        let path = leaves.path(number);
        let mut tags = BTreeSet::new();
        for (a, b) in self.shared.keys().filter(|(a, b)| *a == number || *b == number) {
            let other = leaves.path(if *a == number { *b } else { *a });
            if other.path == path.path && other.each == path.each {
                tags.insert(&other.tag);
            }
        }
        tags.len() >= LIFECYCLE_TAGS_MIN
    }

    /// Whether some id of one path is at the other too.
    fn is_same_id(&self, a: usize, b: usize) -> bool {
        a == b || self.shared.contains_key(&(a, b)) || self.shared.contains_key(&(b, a))
    }
}

impl CallPair {
    fn leaf_paths<'p>(&self, leaves: &'p LeafTable) -> [&'p LeafPath; 2] {
        [self.start, self.completion].map(|number| leaves.path(number))
    }

    /// The paths of its ids, whatever the tags.
    fn paths<'p>(&self, leaves: &'p LeafTable) -> [(Option<&'p str>, &'p str); 2] {
        self.leaf_paths(leaves).map(|leaf| (leaf.each.as_deref(), leaf.path.as_str()))
    }

    /// How many of its tags and keys mention calls.
    fn call_names(&self, leaves: &LeafTable) -> usize {
        let mentions = |name: &str| usize::from(contains(name, &CALL_NAMES));
        let count = |leaf: &LeafPath| {
            let kind = leaf.kind.as_deref().unwrap_or_default();
            mentions(&[&*leaf.tag, kind].join(" ")) + mentions(last_token(&leaf.path))
        };
        self.leaf_paths(leaves).into_iter().map(count).sum()
    }

    /// The smallest is best: many ids, names of calls, equal paths, a start that completes no
    /// other pair at these paths, shallow paths, first seen.
    fn rank(&self, pairs: &[CallPair], leaves: &LeafTable) -> impl Ord + use<> {
        let [start, completion] = self.leaf_paths(leaves);
        let has_different_paths = start.path != completion.path;
        let is_in_chain = pairs.iter().any(|other| {
            (other.start == self.completion || other.completion == self.start)
                && other.paths(leaves) == self.paths(leaves)
        });
        (
            Reverse((self.both, self.call_names(leaves))),
            (has_different_paths, is_in_chain),
            start.depth() + completion.depth(),
            (self.start, self.completion),
        )
    }

    /// Whether it rests on one id and no name supports it: a value that never changes occurs
    /// again, too.
    fn is_weak(&self, leaves: &LeafTable, stats: &RecordingStats) -> bool {
        let is_named_id = |leaf: &LeafPath| {
            let key = last_token(&leaf.path);
            (key.ends_with("id") || key.ends_with("Id")) && !stats.is_constant(&leaf.path)
        };
        let has_named_ids = self.leaf_paths(leaves).into_iter().all(is_named_id);
        self.both < 2 && self.call_names(leaves) == 0 && !has_named_ids
    }
}

/// If some pairs mention calls, keeps only those whose ids are at the same paths as in these.
fn retain_call_pairs(pairs: &mut Vec<CallPair>, leaves: &LeafTable) {
    let named = pairs.iter().filter(|pair| pair.call_names(leaves) > 0);
    let paths: Vec<_> = named.map(|pair| pair.paths(leaves)).collect();
    pairs.retain(|pair| paths.is_empty() || paths.contains(&pair.paths(leaves)));
}

/// Whether the ids at a path may be ids of calls. An id that events of nearly all tags have
/// identifies events; one that only some events of a tag have identifies something else; and what
/// begins or ends a recording is not part of a call.
fn may_be_call_id(number: usize, leaves: &LeafTable, stats: &RecordingStats) -> bool {
    let (path, counts) = (leaves.path(number), leaves.counts(number));
    let key = last_token(&path.path);
    let tags = stats.tags().count();
    let is_common = tags > 2 && leaves.tags_with(&path.path) * 5 > tags * 4;
    let is_rare = counts.strings < stats.events_of(&path.tag);
    let is_name = contains(key, &NAME_KEYS);
    let is_other = contains(key, &OTHER_KEYS) && !contains(key, &CALL_NAMES);
    let is_of_element = path.each.is_some();
    !is_name && !is_other && !stats.is_edge(&path.tag) && (is_of_element || !is_common && !is_rare)
}

/// Whether it may be an id: one short word with a digit, and not the path of a file.
fn is_id(text: &str) -> bool {
    let has_digit = text.contains(|character: char| character.is_ascii_digit());
    ID_BYTES.contains(&text.len()) && has_digit && !is_text(text) && !text.contains(['/', '\\'])
}

/// Whether it is text: long, or several words. Some agents write ids of two lines.
fn is_text(text: &str) -> bool {
    let is_gap = |character: char| character.is_whitespace() && character != '\n';
    text.len() > *ID_BYTES.end() || text.contains(is_gap)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use std::rc::Rc;

    use serde_json::{Value, json};

    use super::super::leaves::{LeafTable, leaves};
    use super::super::recording_stats::RecordingStats;
    use super::{CallPair, DRAFT_IDS_MAX, IdIndex, is_id, is_text};
    use ndjson_check_core::internals::JsonRef;

    /// The pairs of one recording of these events, as `start -> completion`.
    fn pairs(events: &[Value]) -> Vec<String> {
        let (mut index, mut table) = (IdIndex::default(), LeafTable::default());
        let mut stats = RecordingStats::default();
        for event in events {
            let tag: Rc<str> = event["t"].as_str().unwrap().into();
            stats.event(&tag);
            for leaf in leaves(JsonRef::tree(event), None).iter().filter(|leaf| leaf.path != "/t") {
                let number = table.count(&tag, leaf).unwrap();
                index.add(number, &leaf.node.as_str().unwrap(), &table);
            }
        }
        stats.end_of_recording(false);
        let name = |number: usize| table.path(number).tag.to_string() + &table.path(number).path;
        let show = |pair: CallPair| format!("{} -> {}", name(pair.start), name(pair.completion));
        index.pairs(&table, &stats).into_iter().map(show).collect()
    }

    #[test]
    fn each_id_is_in_the_best_pair_only() {
        let events = [
            json!({"t": "begin"}),
            json!({"t": "start", "call_id": "c-1", "ref": "c-1x"}),
            json!({"t": "done", "call_id": "c-1", "ref": "c-1x"}),
            json!({"t": "start", "call_id": "c-2", "ref": "c-2x"}),
            json!({"t": "done", "call_id": "c-2", "ref": "c-2x"}),
            json!({"t": "end"}),
        ];
        assert_eq!(pairs(&events), ["start/call_id -> done/call_id"]);
        assert_eq!(pairs(&events[..2]), [""; 0]);
    }

    #[test]
    fn ids_are_short_words_with_a_digit() {
        assert!(is_id("c-7") && is_id("call_1\nfc_2"));
        assert!(!["c7", "call", "a 7", "src/7.rs", &"7".repeat(201)].into_iter().any(is_id));
        assert!(is_text("two words") && !is_text("call_1\nfc_2"));
    }

    #[test]
    fn the_values_of_a_recording_are_bounded() {
        let (mut index, mut table) = (IdIndex::default(), LeafTable::default());
        let event = json!({"id": "x"});
        let number = table.count(&"t".into(), &leaves(JsonRef::tree(&event), None)[0]).unwrap();
        for value in 0..DRAFT_IDS_MAX + 10 {
            index.add(number, &format!("id-{value}"), &table);
        }
        assert_eq!(index.values.len(), DRAFT_IDS_MAX);
    }
}
