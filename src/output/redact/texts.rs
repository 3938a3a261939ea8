//! Which strings of an event are parts of one text, by the profile.

use std::sync::Arc;

use super::written::hashed;
use crate::facts::{FactReader, TextKind};
use crate::json::{JsonRef, Kind};
use crate::profile::{Profile, ThinkingMode};
use crate::stream::{Ending, Line, LineParser};

/// Reads the texts of one stream's events.
#[derive(Debug)]
pub(super) struct TextReader {
    profile: Arc<Profile>,
    facts: FactReader,
    parser: LineParser,
}

/// The texts of an event.
#[derive(Debug, Default)]
pub(super) struct EventTexts {
    /// Where in the line a delta begins, and which text it belongs to.
    pub(super) deltas: Vec<(usize, u64)>,
    /// Whether all texts before it are complete.
    pub(super) ends_texts: bool,
}

impl TextReader {
    pub(super) fn new(profile: &Arc<Profile>) -> Self {
        let (facts, parser) = (FactReader::default(), LineParser::on_tape());
        Self { profile: Arc::clone(profile), facts, parser }
    }

    pub(super) fn read(&mut self, line: &[u8]) -> EventTexts {
        let mut texts = EventTexts::default();
        let Ok(event) = self.parser.read(&Line::new(0, line, Ending::Lf)) else { return texts };
        let offset = usize::try_from(event.offset).unwrap_or_default();
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
        let (started, completed) = plan.calls();
        let has_calls = !(started.is_empty() && completed.is_empty());
        texts.ends_texts =
            is_whole || has_calls || plan.template.marks.ends_segment || plan.ends_run();
        texts
    }
}
