//! `answer`: only the final message of a run that succeeded (T2), without blank lines around it.

use super::{Converter, Seen};
use crate::facts::Fact;
use crate::reassembly::Piece;
use crate::verdict::Outcome;
use crate::visible::Shown;

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
    fn event(&mut self, seen: &Seen<'_>, _: &mut Vec<u8>) {
        for piece in seen.pieces {
            match piece {
                Piece::Text(text) => {
                    if std::mem::take(&mut self.complete) {
                        self.message.clear();
                    }
                    self.message.push_str(text);
                }
                Piece::End => self.complete = true,
            }
        }
        // What came before a call was no final message, whatever comes after it.
        if seen.facts.list.iter().any(|fact| matches!(fact, Fact::CallStarted(_))) {
            self.message.clear();
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
