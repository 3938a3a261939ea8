//! Finds strings that, concatenated, equal another string.

use std::collections::{BTreeMap, BTreeSet};

use ndjson_check_core::internals::JsonRef;

use super::leaves::LeafTable;
use crate::limits::DRAFT_PATHS_MAX;

/// Text of one recording that a draft keeps, to find where it is repeated as a whole, in bytes.
const DRAFT_TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Keys of events with text that a draft keeps, in bytes.
const DRAFT_KEY_BYTES_MAX: usize = 1024 * 1024;

/// Shortest string that is compared with others, in bytes: shorter ones are equal by chance.
const TEXT_BYTES_MIN: usize = 8;

/// Different sets of keys that are remembered for the events at one path.
const KEY_SETS_MAX: usize = 32;

/// What a key of a set costs in memory beyond its bytes, roughly.
const KEY_COST: usize = 32;

type KeySet = BTreeSet<String>;

/// The different key sets, by number: many strings of one event share one set.
#[derive(Debug, Default)]
struct KeySets {
    numbers: BTreeMap<KeySet, usize>,
    bytes: usize,
}

impl KeySets {
    /// The number of an event's key set, unless it does not fit.
    fn number(&mut self, root: JsonRef<'_>) -> Option<usize> {
        let mut keys = KeySet::new();
        let mut bytes = 0;
        for (key, _) in root.members() {
            bytes += key.len() + KEY_COST;
            if bytes > DRAFT_KEY_BYTES_MAX {
                return None;
            }
            keys.insert(key.into_owned());
        }
        if let Some(number) = self.numbers.get(&keys) {
            return Some(*number);
        }
        let number = self.numbers.len();
        if self.bytes + bytes > DRAFT_KEY_BYTES_MAX {
            return None;
        }
        self.bytes += bytes;
        self.numbers.insert(keys, number);
        Some(number)
    }

    fn get(&self, numbers: &BTreeSet<usize>) -> Vec<&KeySet> {
        let chosen = self.numbers.iter().filter(|(_, number)| numbers.contains(number));
        chosen.map(|(keys, _)| keys).collect()
    }
}

/// The strings of this recording, and which of them equal others when concatenated.
#[derive(Debug, Default)]
pub(super) struct TextSearch {
    line: u64,
    bytes: usize,
    sources: BTreeMap<usize, TextSource>,
    key_sets: KeySets,
    /// By the numbers of the paths of the parts and of the whole.
    pub(super) matches: BTreeMap<(usize, usize), ConcatCounts>,
    pub(super) chunks: BTreeMap<usize, ChunkCounts>,
}

/// The strings at one path in this recording, concatenated.
#[derive(Debug, Default)]
struct TextSource {
    text: String,
    /// Where the chunks begin that no other string has repeated yet.
    open: usize,
    /// Where the last chunk begins, or the last group of repeated chunks.
    last: usize,
    line: u64,
    /// The key sets of the events with open chunks.
    key_sets: Vec<usize>,
}

/// How often the strings at one path, concatenated, equal a string at another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ConcatCounts {
    /// All strings of the recording so far.
    pub(super) all: u64,
    /// The last one.
    pub(super) last: u64,
    /// One or the other of these two.
    pub(super) either: u64,
    /// All since the last match.
    pub(super) open: u64,
}

/// The strings at one path in all recordings, taken as chunks of a text.
#[derive(Debug, Default)]
pub(super) struct ChunkCounts {
    pub(super) count: u64,
    /// Whether one has several words.
    pub(super) is_prose: bool,
    /// Chunks that follow another in the next event.
    pub(super) adjacent: u64,
    /// Strings that repeat the chunks before them.
    pub(super) repeats: u64,
    /// The key sets of events whose chunks were repeated, and of those that repeated them.
    repeated: BTreeSet<usize>,
    repeating: BTreeSet<usize>,
}

impl TextSearch {
    /// Adds the next event, with its strings by the numbers of their paths.
    pub(super) fn event(
        &mut self,
        root: JsonRef<'_>,
        strings: &BTreeMap<usize, String>,
        leaves: &LeafTable,
    ) {
        self.line += 1;
        let key_set = if strings.is_empty() { None } else { self.key_sets.number(root) };
        for (path, text) in strings {
            if text.len() >= TEXT_BYTES_MIN {
                self.compare(*path, text, leaves);
            }
            self.keep(*path, text, key_set);
        }
    }

    pub(super) fn end_of_recording(&mut self) {
        self.sources.clear();
        self.bytes = 0;
    }

    fn compare(&mut self, path: usize, text: &str, leaves: &LeafTable) {
        let has_room = self.matches.len() < DRAFT_PATHS_MAX;
        for (source_path, source) in &mut self.sources {
            let pair = (*source_path, path);
            let same_tag = leaves.path(*source_path).tag == leaves.path(path).tag;
            let is_counted = has_room || self.matches.contains_key(&pair);
            if same_tag || !is_counted || !source.text.ends_with(text) {
                continue;
            }
            let all = source.text.len() == text.len();
            let last = source.text.len() - source.last == text.len();
            let open = source.text.len() - source.open == text.len();
            if all || last || open {
                let counts = self.matches.entry(pair).or_default();
                counts.all += u64::from(all);
                counts.last += u64::from(last);
                counts.either += u64::from(all || last);
                counts.open += u64::from(open);
            }
            if open {
                source.close();
            }
        }
    }

    fn keep(&mut self, path: usize, text: &str, key_set: Option<usize>) {
        if self.bytes + text.len() > DRAFT_TEXT_BYTES_MAX {
            return;
        }
        let source = self.sources.entry(path).or_default();
        let chunks = self.chunks.entry(path).or_default();
        chunks.count += 1;
        chunks.is_prose |= text.trim().contains(' ');
        chunks.adjacent += u64::from(source.line > 0 && source.line + 1 == self.line);
        source.line = self.line;
        if text.len() >= TEXT_BYTES_MIN && source.text[source.open..] == *text {
            chunks.repeats += 1;
            chunks.repeated.extend(source.key_sets.drain(..));
            if chunks.repeating.len() < KEY_SETS_MAX {
                chunks.repeating.extend(key_set);
            }
            source.close();
            return;
        }
        self.bytes += text.len();
        source.last = source.text.len();
        source.text.push_str(text);
        if let Some(key_set) = key_set
            && source.key_sets.len() < KEY_SETS_MAX
            && !source.key_sets.contains(&key_set)
        {
            source.key_sets.push(key_set);
        }
    }

    /// Which keys the events of chunks at a path always have, or never have, unlike the events
    /// that repeat the chunks; none if keys do not distinguish the two.
    pub(super) fn distinguishing_keys(&self, path: usize) -> Option<Vec<(&str, bool)>> {
        let chunks = self.chunks.get(&path)?;
        let repeated = self.key_sets.get(&chunks.repeated);
        let repeating = self.key_sets.get(&chunks.repeating);
        distinguishing_keys(&repeated, &repeating)
    }
}

fn distinguishing_keys<'k>(
    repeated: &[&'k KeySet],
    repeating: &[&'k KeySet],
) -> Option<Vec<(&'k str, bool)>> {
    let all: BTreeSet<&String> = repeated.iter().chain(repeating).copied().flatten().collect();
    let mut conditions = Vec::new();
    for key in all {
        let having = repeated.iter().filter(|keys| keys.contains(key)).count();
        let exists = having == repeated.len();
        let is_sure = exists || having == 0;
        if is_sure && repeating.iter().any(|keys| keys.contains(key) != exists) {
            conditions.push((key.as_str(), exists));
        }
    }
    let differs =
        |keys: &&KeySet| conditions.iter().any(|(key, exists)| keys.contains(*key) != *exists);
    let is_complete =
        !repeated.is_empty() && !repeating.is_empty() && repeating.iter().all(differs);
    is_complete.then_some(conditions)
}

impl TextSource {
    fn close(&mut self) {
        self.last = self.open;
        self.open = self.text.len();
        self.key_sets.clear();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use std::rc::Rc;

    use serde_json::{Value, json};

    use super::super::leaves::{LeafTable, leaves};
    use super::{DRAFT_KEY_BYTES_MAX, KEY_COST, KeySet, KeySets, TextSearch, distinguishing_keys};
    use ndjson_check_core::internals::JsonRef;

    /// A search that has seen these events, tagged by `t`.
    fn search(events: &[Value]) -> TextSearch {
        let (mut search, mut table) = (TextSearch::default(), LeafTable::default());
        for event in events {
            let root = JsonRef::tree(event);
            let tag: Rc<str> = event["t"].as_str().unwrap_or_default().into();
            let mut strings = std::collections::BTreeMap::new();
            for leaf in leaves(root, None) {
                let number = table.count(&tag, &leaf).unwrap();
                strings.insert(number, leaf.node.as_str().unwrap().into_owned());
            }
            search.event(root, &strings, &table);
        }
        search
    }

    #[test]
    fn chunks_match_the_text_that_repeats_them() {
        let chunk = |text: &str| json!({"t": "chunk", "text": text});
        let whole = json!({"t": "whole", "text": "One two three"});
        let search = search(&[chunk("One two"), chunk(" three"), whole]);
        let counts = search.matches.values().copied().collect::<Vec<_>>();
        assert_eq!(counts.len(), 1);
        assert_eq!((counts[0].all, counts[0].last, counts[0].open), (1, 0, 1));
    }

    #[test]
    fn keys_distinguish_chunks_from_their_repeats() {
        let set = |keys: &[&str]| -> KeySet { keys.iter().map(|key| (*key).to_owned()).collect() };
        let (partial, whole) = (set(&["text", "partial"]), set(&["text", "cost"]));
        let keys = distinguishing_keys(&[&partial], &[&whole]);
        assert_eq!(keys, Some(vec![("cost", false), ("partial", true)]));
        assert_eq!(distinguishing_keys(&[&whole], &[&whole]), None);
        assert_eq!(distinguishing_keys(&[], &[&whole]), None);
    }

    /// A copy for each string took 2 GiB for one event of 20 000 members.
    #[test]
    fn the_keys_of_an_event_are_kept_once() {
        let event: Value =
            (0..1_500).map(|number| (format!("m{number}"), json!(format!("v{number}")))).collect();
        let search = search(&[event.clone(), event]);
        assert_eq!(search.sources.len(), 1_500);
        assert_eq!(search.key_sets.numbers.keys().map(KeySet::len).sum::<usize>(), 1_500);
    }

    #[test]
    fn key_sets_are_bounded_in_bytes() {
        let mut sets = KeySets::default();
        let event = |number: usize| json!({ format!("{number}{}", "k".repeat(1_000)): 1 });
        let numbers: Vec<_> =
            (0..2_000).map(|number| sets.number(JsonRef::tree(&event(number)))).collect();
        assert!(sets.bytes <= DRAFT_KEY_BYTES_MAX && numbers[1_999].is_none());
        assert_eq!(sets.number(JsonRef::tree(&event(3))), Some(3));
        assert_eq!(sets.numbers.len(), numbers.iter().flatten().count());
        let wide: Value =
            (0..=DRAFT_KEY_BYTES_MAX / KEY_COST).map(|key| (key.to_string(), json!(1))).collect();
        assert_eq!(KeySets::default().number(JsonRef::tree(&wide)), None);
    }
}
