//! `answer`: only the final message of a run that succeeded (T2), without blank lines around it.

use super::{Converter, Seen};
use crate::limits::ANSWER_BYTES_MAX;
use crate::check::stage::text::Piece;
use crate::check::verdict::Outcome;
use crate::rules::escape::{Shown, clipped};

pub(super) struct Answer {
    shown: Shown,
    message: String,
    complete: bool,
}

impl Answer {
    pub(super) fn new(raw: bool) -> Self {
        Self { shown: Shown::new(raw), message: String::new(), complete: false }
    }
}

impl Converter for Answer {
    fn event(&mut self, seen: &Seen<'_, '_>, _: &mut Vec<u8>) {
        for piece in seen.pieces {
            match piece {
                Piece::Text(text) => {
                    if std::mem::take(&mut self.complete) {
                        self.message.clear();
                    }
                    let room = ANSWER_BYTES_MAX.saturating_sub(self.message.len());
                    self.message.push_str(&clipped(text, room));
                }
                Piece::Corrected(whole) => {
                    self.message.clear();
                    self.message.push_str(&clipped(whole, ANSWER_BYTES_MAX));
                }
                Piece::End => self.complete = true,
                Piece::Answer(answer) => {
                    self.message.clear();
                    self.message.push_str(&clipped(&answer.text(), ANSWER_BYTES_MAX));
                    self.complete = true;
                }
                Piece::Turn => self.message.clear(),
            }
        }
    }

    fn finish(&mut self, outcome: Outcome, out: &mut Vec<u8>) {
        if outcome != Outcome::Succeeded || self.message.is_empty() {
            return;
        }
        let mut text = String::new();
        self.shown.text(self.message.trim_matches(['\r', '\n']), &mut text);
        self.shown.end(&mut text);
        text.push('\n');
        out.extend_from_slice(text.as_bytes());
    }
}
