//! What the agent has said, so that its answer is not written twice.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use ndjson_check_core::{EventKind, TextSegment};

use crate::limits::TEXT_BYTES_MAX;

/// Texts of one turn that are remembered.
const TEXTS_MAX: usize = 10_000;

/// The texts of a turn.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The end of all of them.
    all: String,
    /// Where the latest begins in it.
    latest: usize,
    /// The hashes of all of them.
    texts: HashSet<u64>,
    state: RandomState,
}

impl Said {
    pub(super) fn observe(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::Turn { .. } => {
                self.texts.clear();
                self.all.clear();
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
        }
    }

    /// Whether an answer repeats one of the texts, or the end of all of them.
    pub(super) fn has(&self, answer: &str) -> bool {
        let answer = answer.trim();
        self.all.trim_end().ends_with(answer) || self.texts.contains(&self.state.hash_one(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Said {
        let mut said = Said::default();
        for text in texts {
            said.observe(&EventKind::TextDelta { segment: 1, text: (*text).into() });
            said.latest = said.all.len();
        }
        said
    }

    #[test]
    fn an_answer_repeats_what_was_said() {
        let said = said(&["I look.", "All tests pass.\n"]);
        assert!(said.has("All tests pass.") && said.has("I look.All tests pass.") && said.has(""));
        assert!(!said.has("Not so: All tests pass.") && !said.has("I look."));
        let mut said = self::said(&[&"é".repeat(TEXT_BYTES_MAX), "x"]);
        assert!(said.has("éx") && said.all.len() <= 2 * TEXT_BYTES_MAX);
        said.observe(&EventKind::TextDelta { segment: 1, text: "y".into() });
        said.observe(&EventKind::TextAbandoned { segment: 1, is_replaced: false });
        assert!(said.has("éx"));
    }
}
