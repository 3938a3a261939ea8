//! Lines of a known shape: most of their strings are the same in each, and have nothing in them.

use std::ops::Range;

use super::texts::EventTexts;
use super::written::{LineShape, WrittenString, label_value};
use crate::fast::{Shapes, SlotPlace, Slots};
use crate::json::Doc;

/// The shapes of lines that are an event with deltas, or with no text at all.
#[derive(Debug, Default)]
pub(super) struct KnownLines(Shapes<KnownLine>);

/// The strings of a line, and what they are.
#[derive(Debug)]
pub(super) struct LineStrings {
    pub(super) shape: LineShape,
    pub(super) strings: Vec<WrittenString>,
    pub(super) texts: EventTexts,
}

#[derive(Debug)]
struct KnownLine {
    shape: LineShape,
    strings: Vec<KnownString>,
    /// Where the slots were in the line that was learned.
    slots: Vec<Range<usize>>,
}

#[derive(Debug)]
struct KnownString {
    string: WrittenString,
    /// The text of which it is a delta.
    text: Option<u64>,
    /// Whether it is the same in each line of the shape, and has nothing in it.
    is_clean: bool,
}

impl KnownLine {
    /// Where a string or a key of the line that was learned is in another line of its shape.
    fn moved(&self, range: &Range<usize>, slots: &Slots) -> Range<usize> {
        let index = self.slots.partition_point(|slot| slot.end < range.start);
        if self.slots.get(index).is_some_and(|slot| slot.start == range.start) {
            return slots[index].start..slots[index].end;
        }
        let last = index.checked_sub(1);
        let place = |at: usize| last.map_or(at, |last| slots[last].end + at - self.slots[last].end);
        place(range.start)..place(range.end)
    }
}

impl KnownLines {
    /// The strings of a line with its terminator that must be searched, if its shape is known.
    /// Clean ones are among them only if an open text awaits a string at their place.
    pub(super) fn recall(
        &mut self,
        line: &[u8],
        is_awaited: impl Fn(u64) -> bool,
    ) -> Option<LineStrings> {
        let text = str::from_utf8(line).ok()?;
        self.0.find(text, line)?;
        let (known, slots) = self.0.latest();
        let (shape, strings, texts) = (known.shape, Vec::new(), EventTexts::default());
        let mut found = LineStrings { shape, strings, texts };
        for KnownString { string, text, is_clean } in &known.strings {
            if *is_clean && (string.is_key || !is_awaited(string.place)) {
                continue;
            }
            let content = known.moved(&string.content, slots);
            let key = string.key.as_ref().map(|key| known.moved(key, slots));
            found.texts.deltas.extend(text.map(|text| (content.start, text)));
            found.strings.push(WrittenString { content, key, ..*string });
        }
        Some(found)
    }

    /// What may differ in other lines, if it may pay to learn one.
    pub(super) fn places(&mut self, line: &[u8], doc: &Doc<'_>) -> Option<Vec<SlotPlace>> {
        self.0.places(line, doc)
    }

    /// Learns the shape of a line, given without its terminator.
    pub(super) fn learn(
        &mut self,
        line: &[u8],
        mut slots: Vec<SlotPlace>,
        found: LineStrings,
        is_clean: impl Fn(&WrittenString) -> bool,
    ) {
        let LineStrings { shape, strings, texts } = found;
        // What separates events of two texts is the same in all lines of a shape.
        let keys = strings.iter().filter(|string| string.is_key);
        let labels: Vec<_> = keys.filter_map(|key| label_value(line, &key.content)).collect();
        slots.retain(|slot| !labels.iter().any(|label| label.contains(&slot.range.start)));
        let is_slot =
            |content: &Range<usize>| slots.iter().any(|slot| slot.range.start == content.start);
        let strings = strings.into_iter().map(|string| {
            let text = texts.delta_at(string.content.start);
            let is_clean = text.is_none() && !is_slot(&string.content) && is_clean(&string);
            KnownString { string, text, is_clean }
        });
        let strings = strings.collect();
        let ranges = slots.iter().map(|slot| slot.range.clone()).collect();
        self.0.learn(line, &slots, KnownLine { shape, strings, slots: ranges });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ndjson_check_secrets::samples::{Sample, secrets};

    use crate::profile::Profile;
    use crate::redact::Redactor;

    /// Goal: a line of a known shape is redacted like any other.
    /// Method: secrets in deltas, and in strings that nothing reads, of lines of one shape, and of
    /// the same lines with other spaces in each, of which no two have one shape.
    #[test]
    fn a_known_shape_changes_no_redaction() {
        let profile = Arc::new(Profile::load("claude").expect("it is built in").0);
        let redacted = |lines: &[String], spaces: fn(usize) -> usize| {
            let mut redactor = Redactor::secrets(&[]);
            redactor.lines.use_profile(&profile);
            let mut out = Vec::new();
            for (number, line) in lines.iter().enumerate() {
                let line = line.replacen('{', &format!("{{{}", " ".repeat(spaces(number))), 1);
                redactor.feed(line.as_bytes(), &mut out);
            }
            redactor.finish(&mut out);
            String::from_utf8(out).expect("it was text").replace("{ ", "{").replace(' ', "")
        };
        let mut found = 0;
        secrets(12, |dice, Sample { before, secret, .. }| {
            let mut lines = Vec::new();
            for round in 0..4 {
                let text = format!("Use {before}{secret} now.\n");
                let at = dice.next(text.len());
                let note = if round == dice.next(4) { secret.as_str() } else { "none" };
                for part in [&text[..at], &text[at..]] {
                    let (part, note) = (serde_json::json!(part), serde_json::json!(note));
                    lines.push(format!(
                        "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\
                         \"index\":{},\"delta\":{{\"type\":\"text_delta\",\"text\":{part}}}}},\
                         \"note\":{note},\"at\":{round}}}\n",
                        dice.next(2)
                    ));
                }
            }
            let known = redacted(&lines, |_| 0);
            assert_eq!(known, redacted(&lines, |number| number + 1), "{lines:#?}");
            found += known.matches("[REDACTED").count();
        });
        assert!(found > 100, "{found}");
    }
}
