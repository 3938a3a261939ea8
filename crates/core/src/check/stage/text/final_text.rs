//! The text that the end of a turn repeats, compared with what came before.

use super::{AnswerText, TextCheck, TextUpdates};
use crate::check::TextUpdate;
use crate::profile::{FinalText, TextMode};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

impl TextCheck<'_> {
    /// Takes the text that the end of a turn repeats.
    pub(super) fn final_text<'f>(
        &mut self,
        text: &'f AnswerText<'_>,
        is_single: bool,
        updates: &mut TextUpdates<'f>,
    ) -> Option<Diagnostic> {
        let is_blank = text.text().trim().is_empty();
        self.is_final_text_empty = Some(is_blank);
        if is_single {
            self.show(text, updates);
            return None;
        }
        self.close(updates);
        let is_new = self.answer.length() == 0;
        let mismatch = self.compare(text, is_blank);
        if text.is_empty() {
            // One finding says it.
            self.is_final_text_empty = Some(mismatch.is_none() || self.has_call_ended);
            updates.extend(self.has_call_ended.then_some(TextUpdate::Answer("".into())));
            return mismatch;
        }
        if self.final_is() == FinalText::All {
            if self.is_latest_part(text) {
                updates.push(TextUpdate::Answer(text.text()));
            }
            return mismatch;
        }
        if is_new {
            self.show(text, updates);
        } else if self.final_is() != FinalText::Either {
            updates.push(TextUpdate::Answer(text.text()));
        }
        mismatch
    }

    /// The text has not come before.
    fn show<'f>(&mut self, text: &'f AnswerText<'_>, updates: &mut TextUpdates<'f>) {
        let text = text.text();
        self.answer.push(&text);
        updates.extend([TextUpdate::Chunk(text), TextUpdate::SegmentEnd]);
    }

    /// What the final text is, if there is something to compare it with.
    fn final_is(&self) -> FinalText {
        let is_repeated = self.has(TextMode::Delta) || self.has(TextMode::Whole);
        let final_is = self.final_is.unwrap_or(self.profile.text.final_text);
        if is_repeated { final_is } else { FinalText::Free }
    }

    pub(super) fn has(&self, mode: TextMode) -> bool {
        self.profile.text.rules.iter().any(|rule| rule.mode == mode)
    }

    fn compare(&self, text: &AnswerText<'_>, is_blank: bool) -> Option<Diagnostic> {
        if self.is_answer_in_doubt {
            return None;
        }
        let of_all = self.answer.difference_from(text);
        let of_last = if self.keeps_last { self.last.difference_from(text) } else { None };
        let (difference, what) = match self.final_is() {
            FinalText::All if self.is_latest_part(text) => return None,
            FinalText::All => (of_all?, "the segments do not match"),
            FinalText::Last if !is_blank => (of_last?, "the last segment does not match"),
            FinalText::Either if !is_blank && of_all.is_some() => {
                (of_last?, "neither the whole answer nor its last segment matches")
            }
            FinalText::Last | FinalText::Either | FinalText::Free => return None,
        };
        let message = format!("{what} the text of the terminal event: {difference}");
        Some(Diagnostic::new(Rule::FinalTextMismatch, message))
    }

    /// Whether a text that is not empty is what was said since the final text may begin.
    fn is_latest_part(&self, text: &AnswerText<'_>) -> bool {
        let start = self.final_start.as_ref().filter(|_| !text.is_empty());
        start.is_some_and(|start| self.answer.difference_since(start, text).is_none())
    }
}
