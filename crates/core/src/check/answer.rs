//! The answer: the last message of the last turn.

use super::{EventKind, TextSegment};
use crate::limits::ANSWER_BYTES_MAX;
use crate::rules::escape::clipped;

/// Collects the answer, in bounded memory.
#[derive(Debug, Default)]
pub struct Answer {
    message: String,
    is_complete: bool,
    is_clipped: bool,
}

impl Answer {
    /// Takes the next event.
    pub fn observe(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::TextDelta { text, .. } => {
                if std::mem::take(&mut self.is_complete) {
                    self.clear();
                }
                self.append(text, ANSWER_BYTES_MAX);
            }
            EventKind::Text(TextSegment { text, came_in_deltas, .. }) => {
                if !came_in_deltas {
                    self.clear();
                    self.append(text.as_deref().unwrap_or_default(), ANSWER_BYTES_MAX);
                }
                self.is_complete = true;
            }
            EventKind::Answer { text } => {
                self.clear();
                self.append(text, ANSWER_BYTES_MAX);
                self.is_complete = true;
            }
            EventKind::TextAbandoned { .. } => {
                self.clear();
                self.is_complete = true;
            }
            EventKind::Turn { .. } => self.clear(),
            _ => {}
        }
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.message.is_empty()
    }

    /// Without blank lines around it.
    pub fn text(&self) -> &str {
        self.message.trim_matches(['\r', '\n'])
    }

    /// Whether it was too long to keep.
    pub fn is_clipped(&self) -> bool {
        self.is_clipped
    }

    fn clear(&mut self) {
        self.message.clear();
        self.is_clipped = false;
    }

    /// Appends what fits; an ellipsis, which may pass the bound, shows that something is missing.
    fn append(&mut self, text: &str, bytes_max: usize) {
        let room = bytes_max.saturating_sub(self.message.len());
        self.is_clipped |= text.len() > room;
        if room > 0 {
            self.message.push_str(&clipped(text, room));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_answer_does_not_grow() {
        let mut answer = Answer::default();
        for _ in 0..100 {
            answer.append("0123456789", 25);
        }
        let message = answer.text();
        assert!(message.starts_with("01234567890123456789") && message.ends_with('…'));
        assert!(message.len() <= 28 && answer.is_clipped(), "{message}");
    }
}
