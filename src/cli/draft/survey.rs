//! What names an event: strings of which there are few, that all events have.

use std::collections::BTreeMap;

use super::leaves::{Words, is_path, leaves};
use super::{Look, counted};
use crate::json::JsonRef;
use crate::limits::{INFER_PLACES_MAX, TAGS_REMEMBERED_MAX};
use crate::profile::path::Path;
use crate::rules::escape::shown;

/// Deepest part of a tag, in tokens of its pointer.
const DEPTH: usize = 3;

/// The tag of an event as far as it is known: its parts, as long as they are there.
pub(super) fn parts(tag: &[Path], root: JsonRef<'_>) -> Vec<String> {
    tag.iter().map_while(|path| part(path, root)).collect()
}

/// All its parts that are there.
pub(super) fn all_parts(tag: &[Path], root: JsonRef<'_>) -> Vec<String> {
    tag.iter().filter_map(|path| part(path, root)).collect()
}

fn part(path: &Path, root: JsonRef<'_>) -> Option<String> {
    path.find(root)?.as_str().map(std::borrow::Cow::into_owned)
}

/// One round: counts the strings of events that have the same tag so far.
pub(super) struct Survey<'t> {
    tag: &'t [Path],
    recording: u64,
    groups: BTreeMap<Vec<String>, Group>,
}

#[derive(Default)]
struct Group {
    events: u64,
    paths: BTreeMap<String, Candidate>,
}

#[derive(Default)]
struct Candidate {
    seen: u64,
    words: Words,
    /// The last value, and the recording it was in.
    latest: (u64, String),
    /// Whether it takes several values in one recording.
    varies: bool,
}

impl Look for Survey<'_> {
    fn event(&mut self, root: JsonRef<'_>) {
        let parts = parts(self.tag, root);
        if parts.len() < self.tag.len() || self.groups.len() >= TAGS_REMEMBERED_MAX {
            // A tag ends where a part is missing.
            self.groups.entry(Vec::new()).or_default().events += 1;
            return;
        }
        let group = self.groups.entry(parts).or_default();
        group.events += 1;
        for leaf in leaves(root, None) {
            let Some(text) = leaf.node.as_str().filter(|_| leaf.each.is_none()) else { continue };
            let deep = leaf.path.matches('/').count() > DEPTH;
            let fits = group.paths.len() < INFER_PLACES_MAX || group.paths.contains_key(&leaf.path);
            if deep || !fits || !is_path(&leaf.path) {
                continue;
            }
            let candidate = group.paths.entry(leaf.path).or_default();
            candidate.see(self.recording, &text);
        }
    }

    fn end(&mut self) {
        self.recording += 1;
    }
}

impl Candidate {
    fn see(&mut self, recording: u64, text: &str) {
        self.words.add(text);
        if self.words.few().is_some() {
            self.varies |= self.seen > 0 && self.latest.0 == recording && self.latest.1 != text;
            self.latest = (recording, text.to_owned());
        }
        self.seen += 1;
    }

    fn values(&self) -> usize {
        self.words.few().map_or(0, std::collections::BTreeSet::len)
    }
}

impl<'t> Survey<'t> {
    pub(super) fn new(tag: &'t [Path]) -> Self {
        Self { tag, recording: 0, groups: BTreeMap::new() }
    }

    pub(super) fn events(&self) -> u64 {
        self.groups.values().map(|group| group.events).sum()
    }

    /// The next part of the tag, and why; none if there is no good one.
    pub(super) fn choice(&self) -> Option<(Path, String)> {
        let (path, reason) = if self.tag.is_empty() { self.first()? } else { self.further()? };
        Some((Path::try_from(path).ok()?, reason))
    }

    /// What most events have, in several values.
    fn first(&self) -> Option<(String, String)> {
        let group = self.groups.get(&Vec::new())?;
        let fits = |it: &Candidate| it.varies && it.values() > 1 && it.seen * 2 > group.events;
        let candidates = group.paths.iter().filter(|(_, it)| fits(it));
        let shallow = |path: &str| usize::MAX - path.matches('/').count();
        let (path, it) = candidates.max_by_key(|(p, it)| (it.seen, it.values(), shallow(p)))?;
        let reason = format!(
            "tag: {} is a word in {} of {} events, and one of {}",
            shown(path),
            it.seen,
            group.events,
            it.values()
        );
        Some((path.clone(), reason))
    }

    /// What tells events of one tag apart: for several tags, or by the key of the first part.
    fn further(&self) -> Option<(String, String)> {
        let key = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let first = key(&self.tag.first()?.to_string());
        // Of each path: the tags that always have it, those it tells apart, the events of these.
        let mut found: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
        let groups = self.groups.iter().filter(|(tag, _)| tag.len() == self.tag.len());
        for (path, it, events) in
            groups.flat_map(|(_, g)| g.paths.iter().map(move |(p, it)| (p, it, g.events)))
        {
            if it.seen < events
                || it.values() == 0
                || self.tag.iter().any(|t| t.to_string() == *path)
            {
                continue;
            }
            let apart = it.values() > 1;
            let (tags, told, gain) = found.entry(path).or_default();
            *tags += 1;
            *told += u64::from(apart);
            *gain += if apart { events } else { 0 };
        }
        let wide = |tags: u64| self.tag.len() == 1 && tags > 1;
        let fits = |path: &str, tags: u64| wide(tags) || key(path) == first;
        let candidates = found.into_iter().filter(|(path, it)| it.1 > 0 && fits(path, it.0));
        let (path, (tags, told, _)) = candidates.max_by_key(|(_, it)| (it.0, it.2))?;
        let reason = format!(
            "tag: {} is a word in all events of {}, and in those of {told} not always the same",
            shown(path),
            counted(tags, "tag")
        );
        Some((path.to_owned(), reason))
    }
}
