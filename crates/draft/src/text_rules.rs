//! Decides which strings are the assistant's text, and writes the rules for it.

use std::collections::BTreeMap;
use std::rc::Rc;

use ndjson_check_core::internals::pointer;
use serde_json::{Value, json};

use super::failure_markers::{and, failure_markers};
use super::statistics::{Statistics, event_path, shown_path};
use super::text_search::ConcatCounts;
use super::{Draft, counted};

/// The paths of the assistant's text, by number.
#[derive(Debug, Default)]
struct TextRoles {
    delta: Option<usize>,
    whole: Option<usize>,
    /// The final text, and how others make it.
    last: Option<(usize, ConcatCounts)>,
}

impl TextRoles {
    /// Whether deltas and whole texts are at the same path.
    fn are_mixed(&self) -> bool {
        self.delta.is_some() && self.delta == self.whole
    }
}

impl Statistics<'_> {
    /// Adds rules for text if some strings equal others when concatenated.
    pub(super) fn add_text(&self, draft: &mut Draft) {
        let found = self.text_roles();
        let mut rules = Vec::new();
        if let Some(delta) = found.delta {
            let keys = self.texts.distinguishing_keys(delta).filter(|_| found.are_mixed());
            let condition = |(key, exists)| (pointer::joined("", key), json!({ "exists": exists }));
            let conditions = keys.into_iter().flatten().map(condition).collect();
            rules.push(self.text_rule("delta", delta, conditions));
        }
        rules.extend(found.whole.map(|whole| self.text_rule("whole", whole, Vec::new())));
        rules.extend(found.last.map(|(last, _)| self.final_rule(last)));
        if rules.is_empty() {
            let evidence = "text: no string is a concatenation of others; add rules for the \
                assistant's text yourself";
            return draft.evidence.push(evidence.to_owned());
        }
        let mut text = json!({ "rules": rules });
        draft.evidence.extend(self.text_evidence(&found));
        if let Some((number, counts)) = found.last {
            let count = self.texts.chunks[&number].count;
            let final_text = match counts {
                ConcatCounts { all, .. } if all == count => None,
                ConcatCounts { last, .. } if last == count => Some("last"),
                ConcatCounts { either, .. } if either == count => Some("either"),
                _ => Some("free"),
            };
            if let Some(final_text) = final_text {
                text["final"] = final_text.into();
            }
        }
        draft.members.push(("text", text));
    }

    fn text_roles(&self) -> TextRoles {
        // An event that may also occur elsewhere does not surely contain the answer.
        let all_ends = self.recordings.terminals();
        let sure = all_ends.iter().filter(|end| !end.is_provisional());
        let ends: Vec<&Rc<str>> = sure.map(|end| end.tag).collect();
        let is_end = |number: usize| {
            let leaf = self.leaves.path(number);
            leaf.each.is_none() && ends.contains(&&leaf.tag)
        };
        let matches = self.prose_matches();
        let mut finals: BTreeMap<usize, u64> = BTreeMap::new();
        for ((source, target), counts) in &matches {
            if is_end(*target) && !is_end(*source) {
                *finals.entry(*target).or_default() += counts.either;
            }
        }
        let best =
            finals.into_iter().filter(|(_, count)| *count > 0).max_by_key(|(_, count)| *count);
        match best {
            Some((last, _)) => self.roles_with_end(last, &matches),
            None => self.roles_without_end(&matches, |number| {
                all_ends.iter().any(|end| *end.tag == self.leaves.path(number).tag)
            }),
        }
    }

    /// The matches between strings that are prose and do not stay the same.
    fn prose_matches(&self) -> BTreeMap<(usize, usize), ConcatCounts> {
        let is_prose = |number: usize| {
            let leaf = self.leaves.path(number);
            let is_constant = leaf.each.is_none() && self.recordings.is_constant(&leaf.path);
            let chunks = self.texts.chunks.get(&number);
            !is_constant && chunks.is_some_and(|chunks| chunks.is_prose)
        };
        let mut matches = self.texts.matches.clone();
        matches.retain(|(source, target), _| is_prose(*source) && is_prose(*target));
        matches
    }

    /// The deltas and whole texts that make the final text at `last`.
    fn roles_with_end(
        &self,
        last: usize,
        matches: &BTreeMap<(usize, usize), ConcatCounts>,
    ) -> TextRoles {
        let sources: Vec<(usize, ConcatCounts)> = matches
            .iter()
            .filter(|((_, target), counts)| *target == last && counts.either > 0)
            .map(|((source, _), counts)| (*source, *counts))
            .collect();
        let is_whole_of = |delta: usize, whole: usize| {
            delta != whole && matches.get(&(delta, whole)).is_some_and(|counts| counts.open > 0)
        };
        for (delta, _) in &sources {
            let whole = sources.iter().find(|(whole, _)| is_whole_of(*delta, *whole));
            if let Some((whole, counts)) = whole {
                let last = Some((last, *counts));
                return TextRoles { delta: Some(*delta), whole: Some(*whole), last };
            }
        }
        let best = sources.iter().max_by_key(|(_, counts)| (counts.either, counts.all));
        let Some((source, counts)) = best else { return TextRoles::default() };
        let chunks = &self.texts.chunks[source];
        let is_mixed = chunks.repeats > 0 && self.texts.distinguishing_keys(*source).is_some();
        // Only whole texts make the last one alone.
        let is_whole = counts.last > counts.all;
        let is_delta = is_mixed || !is_whole && chunks.adjacent * 2 >= chunks.count;
        TextRoles {
            delta: is_delta.then_some(*source),
            whole: (is_mixed || !is_delta).then_some(*source),
            last: Some((last, *counts)),
        }
    }

    /// Deltas and the whole text they make, if exactly one pair of paths fits.
    fn roles_without_end(
        &self,
        matches: &BTreeMap<(usize, usize), ConcatCounts>,
        is_end: impl Fn(usize) -> bool,
    ) -> TextRoles {
        let mut pairs = matches.iter().filter(|((source, target), counts)| {
            let (chunks, wholes) = (&self.texts.chunks[source], &self.texts.chunks[target]);
            let is_repeated = wholes.count <= counts.open * 2;
            !is_end(*target) && is_repeated && chunks.count > wholes.count
        });
        match (pairs.next(), pairs.next()) {
            (Some(((delta, whole), _)), None) => {
                TextRoles { delta: Some(*delta), whole: Some(*whole), last: None }
            }
            _ => TextRoles::default(),
        }
    }

    fn text_rule(&self, mode: &str, number: usize, conditions: Vec<(String, Value)>) -> Value {
        let leaf = self.leaves.path(number);
        let mut rule = self.rule(leaf);
        let is_optional = leaf.each.is_none()
            && self.leaves.counts(number).strings != self.recordings.events_of(&leaf.tag);
        let exists = is_optional.then(|| (leaf.path.clone(), json!({ "exists": true })));
        let when = and(&self.when(&leaf.tag), conditions.into_iter().chain(exists));
        rule.insert("mode".to_owned(), json!(mode));
        rule.insert("when".to_owned(), when);
        rule.insert("value".to_owned(), json!(leaf.path));
        rule.into()
    }

    /// The final text belongs to a run that did not fail.
    fn final_rule(&self, number: usize) -> Value {
        let event = event_path(&self.leaves.path(number).tag);
        let markers = failure_markers(&event, &self.leaves).into_iter();
        let conditions = markers.map(|marker| (marker.path.clone(), marker.negation()));
        self.text_rule("final", number, conditions.collect())
    }

    fn text_evidence(&self, roles: &TextRoles) -> Vec<String> {
        let path = |number: usize| shown_path(self.leaves.path(number));
        let mut evidence = Vec::new();
        if let (Some(delta), Some(whole)) = (roles.delta, roles.whole) {
            let (place, repeats) = if roles.are_mixed() {
                ("the same path".to_owned(), self.texts.chunks[&delta].repeats)
            } else {
                let counts = self.texts.matches.get(&(delta, whole));
                (path(whole), counts.map_or(0, |counts| counts.open))
            };
            evidence.push(format!(
                "text: the chunks at {} are repeated as one string at {place}, {}",
                path(delta),
                counted(repeats, "time")
            ));
        }
        if let (Some((last, counts)), Some(source)) = (roles.last, roles.whole.or(roles.delta)) {
            evidence.push(format!(
                "text: {} at {}: {} equal to all strings at {} concatenated, \
                 {} equal to the last one",
                counted(self.texts.chunks[&last].count, "string"),
                path(last),
                counts.all,
                path(source),
                counts.last
            ));
        }
        evidence
    }
}
