//! Which strings of an event are parts of one text, by the profile.

use std::ops::Range;
use std::sync::Arc;

use super::known_lines::KnownLines;
use super::written::{hashed, string_end};
use crate::facts::{FactReader, TextKind};
use crate::fast::SlotPlace;
use crate::json::{JsonRef, Kind};
use crate::profile::{Profile, ThinkingMode};
use crate::stream::{Ending, Line, LineParser};

#[derive(Debug)]
pub(super) struct TextReader {
    profile: Arc<Profile>,
    facts: FactReader,
    parser: LineParser,
    pub(super) known: KnownLines,
}

#[derive(Debug, Default)]
pub(super) struct EventTexts {
    /// Where in the line a delta begins, and which text it belongs to.
    pub(super) deltas: Vec<(usize, u64)>,
    /// Behind which places of the line all texts before are complete.
    pub(super) ends: Vec<usize>,
    /// Events whose strings are whole, in order: a message, or the end of a call.
    pub(super) whole: Vec<Range<usize>>,
    /// What may differ in lines of the same shape, if it may pay to learn it.
    pub(super) slots: Option<Vec<SlotPlace>>,
}

impl EventTexts {
    /// The text of which the string that begins here is a delta.
    pub(super) fn delta_at(&self, start: usize) -> Option<u64> {
        let known = self.deltas.binary_search_by_key(&start, |(start, _)| *start);
        known.ok().map(|at| self.deltas[at].1)
    }

    pub(super) fn is_whole(&self, at: usize) -> bool {
        let next = self.whole.partition_point(|event| event.end <= at);
        self.whole.get(next).is_some_and(|event| event.contains(&at))
    }
}

impl TextReader {
    pub(super) fn new(profile: &Arc<Profile>) -> Self {
        let (facts, parser) = (FactReader::default(), LineParser::on_tape());
        let known = KnownLines::default();
        Self { profile: Arc::clone(profile), facts, parser, known }
    }

    /// Reads a line, which may be an array of events.
    pub(super) fn read(&mut self, line: &[u8]) -> EventTexts {
        if !line.starts_with(b"[") {
            return self.event(line, 0);
        }
        let mut texts = EventTexts::default();
        for item in items(line) {
            let EventTexts { deltas, ends, whole, .. } =
                self.event(&line[item.clone()], item.start);
            texts.deltas.extend(deltas);
            texts.ends.extend(ends);
            texts.whole.extend(whole);
        }
        texts
    }

    /// Reads an event; `start` is where it begins in the line.
    fn event(&mut self, line: &[u8], start: usize) -> EventTexts {
        let mut texts = EventTexts::default();
        let Ok(event) = self.parser.read(&Line::new(0, line, Ending::Lf)) else { return texts };
        let offset = start + usize::try_from(event.offset).unwrap_or_default();
        let mut add = |value: JsonRef<'_>, key: &str| {
            let cursor = value.cursor().filter(|cursor| cursor.kind() == Kind::String);
            texts.deltas.extend(cursor.map(|cursor| (offset + cursor.start(), hashed(key))));
        };
        let plan = self.facts.plan(&self.profile, &event);
        let mut is_whole = false;
        for text in &plan.template.texts {
            is_whole |= text.kind == TextKind::Whole;
            if text.kind == TextKind::Delta {
                let parts = text.group.iter().flatten().flatten();
                let group: Vec<_> = parts.filter_map(|part| part.scalar_text()).collect();
                let key = format!("text\n{}", group.join("\n"));
                text.chunks.iter().for_each(|chunk| add(*chunk, &key));
            }
        }
        for rule in self.profile.thinking.iter().filter(|rule| rule.when.hold(event.root())) {
            for scope in rule.of.objects(event.root()) {
                if rule.mode == ThinkingMode::Delta
                    && let Some(value) = rule.value.find(scope)
                {
                    add(value, "thinking");
                }
            }
        }
        for rule in self.profile.fragments.iter().filter(|rule| rule.when.hold(event.root())) {
            let values = rule.group.iter().filter_map(|path| path.find(event.root()));
            let group: Vec<_> = values.filter_map(JsonRef::scalar_text).collect();
            if let Some(value) = rule.value.find(event.root()) {
                add(value, &format!("fragment\n{}", group.join("\n")));
            }
        }
        let (started, completed) = plan.calls();
        // A result may come while the next text does; what asked for it came before.
        let has_calls =
            !started.is_empty() || self.profile.calls.only_ended && !completed.is_empty();
        let ends_text =
            is_whole || has_calls || plan.template.marks.ends_segment || plan.ends_run();
        // What a sub-agent does in the meantime ends no text of another.
        if ends_text && self.profile.calls.parent(event.root().into()).is_none() {
            texts.ends.push(start + line.len());
        }
        if is_whole || !completed.is_empty() {
            texts.whole.push(start..start + line.len());
        }
        texts.deltas.sort_unstable();
        if let Some(doc) = event.json.doc()
            && texts.ends.is_empty()
            && texts.whole.is_empty()
        {
            texts.slots = self.known.places(line, doc);
        }
        texts
    }
}

/// The items of an array that the line begins with.
fn items(line: &[u8]) -> Vec<Range<usize>> {
    let (mut items, mut depth, mut start, mut at) = (Vec::new(), 0_usize, 1, 1);
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' => at = string_end(line, at + 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b',' | b']' if depth == 0 => {
                items.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    items
}
