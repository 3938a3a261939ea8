//! Stage: the assistant's text, from deltas to segments to the answer.

mod text;

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::diagnostic::Diagnostic;
use crate::facts::{Fact, Facts};
use crate::rule::Rule;

use text::{Mark, Text};

/// Puts the assistant's text together and holds it against what the producer says it is.
///
/// A delta is appended to the open segment. A whole text closes it: with no delta before it, it is
/// the segment, otherwise it repeats the deltas and adds nothing. A tool call, a boundary and the
/// end close it too. No piece is ever dropped for being equal to an earlier one.
#[derive(Debug, Default)]
pub struct Reassembly {
    /// The deltas of the open segment, put together.
    segment: Text,
    deltas: u64,
    first_delta_line: u64,
    /// The latest delta, if it may turn out to be a repeat.
    repeat: Option<Repeat>,
    /// All segments, put together; and where the open one begins.
    answer: Text,
    segment_start: Mark,
    /// The answer as it also may be, once that is in doubt: with the whole text where the deltas
    /// differ from it, with a delta that was taken for a repeat.
    other: Option<Text>,
}

/// A delta that equals all earlier ones of its segment together.
#[derive(Debug)]
struct Repeat {
    /// Where the answer goes back to if a boundary comes next.
    before: Mark,
    delta: String,
}

/// What an event adds to the text, piece by piece.
pub type Pieces<'f> = SmallVec<[Piece<'f>; 2]>;

/// What an event adds to the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'f> {
    /// Text that nobody has seen yet.
    Text(Cow<'f, str>),
    /// The producer repeats the open segment, and differently: this is what it stands by.
    Corrected(&'f str),
    /// The segment is complete.
    End,
}

impl Reassembly {
    /// Takes an event into account; returns the text that is new in it, for whoever shows it.
    /// `single` is set for the one object of a format without segments, whose text has nothing to
    /// be compared with.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    pub fn observe<'f>(
        &mut self,
        facts: &'f Facts<'_>,
        single: bool,
        found: &mut Vec<Diagnostic>,
        pieces: &mut Pieces<'f>,
    ) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        for fact in facts.list() {
            match fact {
                Fact::TextDelta(delta) => self.append(delta, facts.line, pieces),
                Fact::TextWhole(whole) => found.extend(self.whole(whole, pieces).map(at)),
                Fact::FinalText(text) if single => {
                    self.push(text);
                    pieces.extend([Piece::Text(Cow::Borrowed(text)), Piece::End]);
                }
                Fact::FinalText(text) => {
                    if self.answer.difference(text).is_none() {
                        // What looked like a repeat was text.
                        self.confirm(pieces);
                    }
                    self.close(pieces);
                    found.extend(self.compare(text).map(at));
                }
                Fact::CallStarted(_)
                | Fact::CallCompleted(..)
                | Fact::Boundary
                | Fact::Terminal(_) => self.close(pieces),
                _ => {}
            }
        }
    }

    fn append<'f>(&mut self, delta: &'f str, line: u64, pieces: &mut Pieces<'f>) {
        if self.deltas == 0 {
            self.first_delta_line = line;
        }
        self.confirm(pieces);
        let repeats = self.deltas >= 2
            && self.segment.length() == delta.len() as u64
            && self.segment.difference(delta).is_none();
        if repeats {
            self.repeat = Some(Repeat { before: self.answer.mark(), delta: delta.to_owned() });
        } else {
            pieces.push(Piece::Text(Cow::Borrowed(delta)));
        }
        self.deltas += 1;
        self.segment.push(delta);
        self.push(delta);
    }

    fn push(&mut self, text: &str) {
        self.answer.push(text);
        if let Some(other) = &mut self.other {
            other.push(text);
        }
    }

    fn whole<'f>(&mut self, whole: &'f str, pieces: &mut Pieces<'f>) -> Option<Diagnostic> {
        if self.deltas == 0 {
            self.push(whole);
            self.segment_start = self.answer.mark();
            pieces.extend([Piece::Text(Cow::Borrowed(whole)), Piece::End]);
            return None;
        }
        let difference = self.segment.difference(whole);
        let (deltas, line) = (self.deltas, self.first_delta_line);
        if difference.is_some() {
            self.confirm(pieces);
            pieces.push(Piece::Corrected(whole));
            let mut other = self.answer.clone();
            other.go_back(self.segment_start.clone());
            other.push(whole);
            self.other = Some(other);
        }
        self.confirm(pieces);
        self.close(pieces);
        difference.map(|difference| {
            let message = format!(
                "the {deltas} deltas do not make the whole text that follows: {difference}"
            );
            Diagnostic::new(Rule::ReplayMismatch, message).related(line)
        })
    }

    /// More of the segment has come: what looked like a repeat of it was text.
    fn confirm(&mut self, pieces: &mut Pieces<'_>) {
        if let Some(repeat) = self.repeat.take() {
            pieces.push(Piece::Text(Cow::Owned(repeat.delta)));
        }
    }

    /// Closes the open segment. At a boundary a last delta that equals all earlier ones together,
    /// if there are two or more, is taken for the repeat that a whole text would be.
    fn close(&mut self, pieces: &mut Pieces<'_>) {
        if let Some(repeat) = self.repeat.take() {
            self.other.get_or_insert_with(|| self.answer.clone());
            self.answer.go_back(repeat.before);
        }
        self.segment_start = self.answer.mark();
        if self.deltas > 0 {
            pieces.push(Piece::End);
        }
        self.segment.clear();
        self.deltas = 0;
    }

    fn compare(&mut self, text: &str) -> Option<Diagnostic> {
        let difference = self.answer.difference(text)?;
        if self.other.as_ref().is_some_and(|other| other.difference(text).is_none()) {
            return None;
        }
        let message =
            format!("the segments do not make the text of the terminal event: {difference}");
        Some(Diagnostic::new(Rule::TextMismatch, message))
    }

    /// Closes what is open at the end of the stream.
    pub fn finish(&mut self) {
        self.close(&mut Pieces::new());
    }

    /// The size of the answer in bytes.
    pub fn text_bytes(&self) -> u64 {
        self.answer.length()
    }

    /// Whether text was compared by fingerprint because it is too long to be kept.
    pub fn overflowed(&self) -> bool {
        self.answer.overflowed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Standing;

    /// `d` delta, `w` whole, `f` final, `b` boundary.
    fn found(pieces: &[(char, &str)]) -> (Vec<Rule>, u64) {
        let mut reassembly = Reassembly::default();
        let mut found = Vec::new();
        for (number, (mode, text)) in (1..).zip(pieces) {
            let fact = match mode {
                'd' => Fact::TextDelta((*text).into()),
                'w' => Fact::TextWhole((*text).into()),
                'f' => Fact::FinalText((*text).into()),
                _ => Fact::Boundary,
            };
            let standing = Standing::Documented;
            let mut facts = Facts::new(number, 0, "".into(), standing);
            facts.push(fact);
            reassembly.observe(&facts, false, &mut found, &mut Pieces::new());
        }
        reassembly.finish();
        (found.iter().map(|it| it.rule).collect(), reassembly.text_bytes())
    }

    #[test]
    fn plain_partial_and_mixed_streams_make_the_same_answer() {
        let cases: &[&[(char, &str)]] = &[
            &[('w', "ha"), ('b', ""), ('w', "haho"), ('f', "hahaho")],
            &[
                ('d', "ha"),
                ('w', "ha"),
                ('b', ""),
                ('d', "ha"),
                ('d', "ho"),
                ('w', "haho"),
                ('f', "hahaho"),
            ],
            &[('d', "ha"), ('b', ""), ('w', "haho"), ('f', "hahaho")],
            &[('d', "ha"), ('d', "ha"), ('w', "haha"), ('w', "ho"), ('f', "hahaho")],
            &[('d', "ha"), ('d', "ha"), ('b', ""), ('w', "ho"), ('f', "hahaho")],
            &[('d', "h"), ('d', "a"), ('d', "ha"), ('b', ""), ('w', "haho"), ('f', "hahaho")],
        ];
        for pieces in cases {
            assert_eq!(found(pieces), (vec![], 6), "{pieces:?}");
        }
    }

    #[test]
    fn differences_are_found_once() {
        let mismatch = vec![Rule::TextMismatch];
        assert_eq!(found(&[('w', "a"), ('f', "b")]).0, mismatch);
        assert_eq!(found(&[('w', "a"), ('f', "ab")]).0, mismatch);
        assert_eq!(found(&[('f', "b")]).0, mismatch);
        assert_eq!(found(&[('d', "a"), ('w', "ab"), ('f', "ab")]).0, [Rule::ReplayMismatch]);
        assert_eq!(found(&[('d', "a"), ('w', "ab"), ('f', "a")]).0, [Rule::ReplayMismatch]);
        let both = [Rule::ReplayMismatch, Rule::TextMismatch];
        assert_eq!(found(&[('d', "a"), ('w', "ab"), ('f', "abc")]).0, both);
        // Three equal pieces may be a repeat, or not.
        let pieces = [('d', "ha"), ('d', "ha"), ('d', "haha"), ('b', "")];
        assert_eq!(found(&[&pieces[..], &[('f', "haha")]].concat()).0, []);
        assert_eq!(found(&[&pieces[..], &[('f', "hahahaha")]].concat()).0, []);
        assert_eq!(found(&[&pieces[..], &[('f', "hahaha")]].concat()).0, mismatch);
    }
}
