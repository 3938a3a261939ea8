//! What the agent has said, so that its answer is not written twice.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use ndjson_check_core::{EventKind, TextSegment};

use crate::limits::TEXT_BYTES_MAX;

/// Texts of one turn that are remembered.
const TEXTS_MAX: usize = 10_000;

/// The texts of a turn.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// The end of all of them.
    all: String,
    /// Where they begin in it.
    begins: Vec<usize>,
    /// Where the latest begins in it.
    latest: usize,
    /// The hashes of all of them.
    texts: HashSet<u64>,
    state: RandomState,
}

impl Said {
    pub(crate) fn observe(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::Turn { .. } => {
                self.texts.clear();
                self.all.clear();
                self.begins.clear();
                self.latest = 0;
            }
            EventKind::TextDelta { text, .. } => self.append(text),
            EventKind::TextAbandoned { .. } => self.all.truncate(self.latest),
            EventKind::Text(TextSegment { text, came_in_deltas, .. }) => {
                if !came_in_deltas {
                    self.append(text.as_deref().unwrap_or_default());
                }
                if self.texts.len() < TEXTS_MAX {
                    self.texts.insert(self.state.hash_one(self.all[self.latest..].trim()));
                    self.begins.push(self.latest);
                }
                self.latest = self.all.len();
            }
            _ => {}
        }
    }

    fn append(&mut self, text: &str) {
        self.all.push_str(text);
        if self.all.len() > 2 * TEXT_BYTES_MAX {
            let mut cut = self.all.len() - TEXT_BYTES_MAX;
            while !self.all.is_char_boundary(cut) {
                cut += 1;
            }
            self.all.drain(..cut);
            self.latest = self.latest.saturating_sub(cut);
            self.begins.retain(|begin| *begin >= cut);
            self.begins.iter_mut().for_each(|begin| *begin -= cut);
        }
    }

    /// Whether an answer repeats one of the texts, the last ones together, or the last lines.
    pub(crate) fn has(&self, answer: &str) -> bool {
        let answer = answer.trim();
        let mut begins = self.begins.iter().chain([&self.latest]);
        let before = self.all.trim_end().strip_suffix(answer);
        let begins_line = |before: &str| {
            let line = before.rsplit('\n').next().unwrap_or_default();
            // It may be an item of a list.
            !line.contains(char::is_alphanumeric)
        };
        answer.is_empty()
            || self.texts.contains(&self.state.hash_one(answer))
            || before.is_some_and(begins_line)
            || begins.any(|begin| self.all[*begin..].trim() == answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Said {
        let mut said = Said::default();
        for text in texts {
            let event = serde_json::json!({"type": "text", "segment": 1, "text": text, "bytes": 1});
            said.observe(&serde_json::from_value(event).expect("an event"));
        }
        said
    }

    #[test]
    fn an_answer_repeats_what_was_said() {
        let said = said(&["I look.", "All tests pass.\n"]);
        assert!(said.has("All tests pass.") && said.has("I look.All tests pass."));
        assert!(said.has("I look.") && said.has(""));
        assert!(!said.has("Not so: All tests pass.") && !said.has("tests pass."));
        assert!(self::said(&["Summary:\n- It works."]).has("It works."));
        let mut said = self::said(&[&"é".repeat(TEXT_BYTES_MAX), "x", "y"]);
        assert!(said.has("xy") && !said.has("éxy") && said.all.len() <= 2 * TEXT_BYTES_MAX);
        said.observe(&EventKind::TextDelta { segment: 1, text: "z".into() });
        assert!(said.has("yz"));
        said.observe(&EventKind::TextAbandoned { segment: 1, is_replaced: false });
        assert!(said.has("xy") && !said.has("yz"));
    }
}
