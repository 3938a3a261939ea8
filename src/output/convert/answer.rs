//! `answer`: only the final message of a run that succeeded (contract T2), without blank lines
//! around it.

use super::Formatter;
use crate::check::{CheckedEvent, Outcome, TextUpdate};
use crate::limits::ANSWER_BYTES_MAX;
use crate::rules::escape::{Escaper, clipped};

pub(super) struct AnswerFormatter {
    escaper: Escaper,
    message: String,
    is_complete: bool,
}

impl AnswerFormatter {
    pub(super) fn new(is_raw: bool) -> Self {
        Self { escaper: Escaper::new(is_raw), message: String::new(), is_complete: false }
    }
}

impl Formatter for AnswerFormatter {
    fn event(&mut self, event: &CheckedEvent<'_>, _: &mut Vec<u8>) {
        for update in event.text() {
            match update {
                TextUpdate::Chunk(text) => {
                    if std::mem::take(&mut self.is_complete) {
                        self.message.clear();
                    }
                    append(&mut self.message, text, ANSWER_BYTES_MAX);
                }
                TextUpdate::Replaced(whole) => {
                    self.message.clear();
                    self.message.push_str(&clipped(whole, ANSWER_BYTES_MAX));
                }
                TextUpdate::SegmentEnd => self.is_complete = true,
                TextUpdate::Answer(answer) => {
                    self.message.clear();
                    self.message.push_str(&clipped(answer, ANSWER_BYTES_MAX));
                    self.is_complete = true;
                }
                TextUpdate::Abandoned => {
                    self.message.clear();
                    self.is_complete = true;
                }
                TextUpdate::NewTurn => self.message.clear(),
            }
        }
    }

    fn finish(&mut self, outcome: Outcome, out: &mut Vec<u8>) {
        if outcome != Outcome::Succeeded || self.message.is_empty() {
            return;
        }
        let mut text = String::new();
        self.escaper.text(self.message.trim_matches(['\r', '\n']), &mut text);
        self.escaper.end(&mut text);
        text.push('\n');
        out.extend_from_slice(text.as_bytes());
    }
}

/// Appends what fits; an ellipsis, which may pass the bound, shows that something is missing.
fn append(message: &mut String, text: &str, bytes_max: usize) {
    let room = bytes_max.saturating_sub(message.len());
    if room > 0 {
        message.push_str(&clipped(text, room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_answer_does_not_grow() {
        let mut message = String::new();
        for _ in 0..100 {
            append(&mut message, "0123456789", 25);
        }
        assert!(message.starts_with("01234567890123456789") && message.ends_with('…'));
        assert!(message.len() <= 28, "{message}");
    }
}
