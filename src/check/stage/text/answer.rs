//! The final text, and what is doubtful in a turn that succeeded.

use super::buffer::Text;
use super::{Piece, Pieces, Reassembly};
use crate::rules::diagnostic::Diagnostic;
use crate::facts::Prose;
use crate::profile::{FinalText, TextDeltas, TextMode};
use crate::rules::Rule;

/// Segments of deltas that no whole text closed.
#[derive(Debug, Default)]
pub(super) struct Unclosed {
    pub(super) count: u64,
    /// The line of the first delta of the first of them.
    pub(super) line: u64,
    /// Whether the last segment is one, and its whole text may still come.
    pub(super) waiting: bool,
}

impl Reassembly<'_> {
    /// Whether this is the whole text of deltas that something else closed just before.
    pub(super) fn is_repeat_of_last(&mut self, whole: &str) -> bool {
        let waiting = std::mem::take(&mut self.unclosed.waiting);
        let repeats = waiting && self.last.difference(whole).is_none();
        self.unclosed.count -= u64::from(repeats);
        repeats
    }

    /// Deltas from this line on were closed by no whole text.
    pub(super) fn note_unclosed(&mut self, line: u64) {
        if self.profile.text.deltas == Some(TextDeltas::Closed) {
            let first = if self.unclosed.count == 0 { line } else { self.unclosed.line };
            let count = self.unclosed.count + 1;
            self.unclosed = Unclosed { count, line: first, waiting: self.groups.is_none() };
        }
    }

    pub(super) fn final_text<'f>(
        &mut self,
        text: &'f Prose<'_>,
        single: bool,
        pieces: &mut Pieces<'f>,
    ) -> Option<Diagnostic> {
        self.final_text = Some(text.is_empty());
        if single {
            self.show(text, pieces);
            return None;
        }
        if self.repeat.is_some() && self.answer.difference_from(text).is_none() {
            // What looked like a repeat was text.
            self.confirm(pieces);
        }
        self.close(pieces);
        let is_new = self.answer.length() == 0;
        let mismatch = self.compare(text);
        if self.final_is() == FinalText::All || text.is_empty() {
            return mismatch;
        }
        if is_new {
            self.show(text, pieces);
        } else if self.final_is() != FinalText::Either {
            pieces.push(Piece::Answer(text));
        }
        mismatch
    }

    /// The text is one that nobody has seen yet.
    fn show<'f>(&mut self, text: &'f Prose<'_>, pieces: &mut Pieces<'f>) {
        let text = text.text();
        self.push(&text);
        pieces.extend([Piece::Text(text), Piece::End]);
    }

    /// What the final text is, where there is something to compare it with.
    fn final_is(&self) -> FinalText {
        if self.has(TextMode::Delta) || self.has(TextMode::Whole) {
            self.profile.text.final_text
        } else {
            FinalText::Free
        }
    }

    fn has(&self, mode: TextMode) -> bool {
        self.profile.text.rules.iter().any(|rule| rule.mode == mode)
    }

    fn compare(&mut self, text: &Prose<'_>) -> Option<Diagnostic> {
        if self.crowded {
            return None;
        }
        let is_other = |other: &Text| other.difference_from(text).is_none();
        let of_all = self.answer.difference_from(text);
        let is_all = of_all.is_none() || self.other.as_ref().is_some_and(is_other);
        let of_last = if self.keeps_last { self.last.difference_from(text) } else { None };
        let (difference, what) = match self.final_is() {
            FinalText::All if !is_all => (of_all?, "the segments do not make"),
            FinalText::Last if !text.is_empty() => (of_last?, "the last segment is not"),
            FinalText::Either if !text.is_empty() && !is_all => {
                (of_last?, "neither all segments nor the last one make")
            }
            FinalText::All | FinalText::Last | FinalText::Either | FinalText::Free => return None,
        };
        let message = format!("{what} the text of the terminal event: {difference}");
        Some(Diagnostic::new(Rule::TextMismatch, message))
    }

    /// What is doubtful in the text of a turn that succeeded and has ended; `incomplete` says that
    /// the event that ends it lacks what it is to have.
    pub fn doubts(&self, incomplete: bool) -> impl Iterator<Item = Diagnostic> + use<> {
        let Unclosed { count, line, .. } = self.unclosed;
        let unclosed = (count > 0 && !self.crowded).then(|| {
            let texts = if count == 1 { "text" } else { "texts" };
            let message = format!("the run succeeded, and of {count} {texts} only deltas came");
            Diagnostic::new(Rule::UnclosedDeltas, message).related(line)
        });
        let nothing = self.answer.length() == 0;
        let empty = match self.final_text {
            Some(true) => nothing || self.final_is() != FinalText::All,
            Some(false) => false,
            // There are answers that are no text, where final texts come for those that are.
            None if self.has(TextMode::Final) => nothing && incomplete,
            None => nothing && !self.profile.text.rules.is_empty(),
        };
        let empty = empty.then(|| {
            let message = "the run succeeded, and its answer is empty";
            Diagnostic::new(Rule::EmptyAnswer, message)
        });
        unclosed.into_iter().chain(empty)
    }
}
