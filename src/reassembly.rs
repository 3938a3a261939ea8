//! Stage: the assistant's text, from deltas to segments to the answer.

mod text;

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
    /// Where the answer goes back to if a boundary shows that the latest delta was a repeat.
    repeat: Option<Mark>,
    /// All segments, put together.
    answer: Text,
    replay_differs: bool,
}

impl Reassembly {
    /// Takes an event into account. `single` is set for the one object of a format without
    /// segments, whose text has nothing to be compared with.
    pub fn observe(&mut self, facts: &Facts<'_>, single: bool, found: &mut Vec<Diagnostic>) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        for fact in &facts.list {
            match fact {
                Fact::TextDelta(delta) => self.append(delta, facts.line),
                Fact::TextWhole(whole) => found.extend(self.whole(whole).map(at)),
                Fact::FinalText(text) => {
                    self.close();
                    if single {
                        self.answer.push(text);
                    } else {
                        found.extend(self.compare(text).map(at));
                    }
                }
                Fact::CallStarted(_)
                | Fact::CallCompleted(..)
                | Fact::Boundary
                | Fact::Terminal(_) => self.close(),
                Fact::SessionStart | Fact::Session(_) | Fact::Time(_) | Fact::Outcome(_) => {}
            }
        }
    }

    fn append(&mut self, delta: &str, line: u64) {
        if self.deltas == 0 {
            self.first_delta_line = line;
        }
        let repeats = self.deltas >= 2
            && self.segment.length() == delta.len() as u64
            && self.segment.difference(delta).is_none();
        self.repeat = repeats.then(|| self.answer.mark());
        self.deltas += 1;
        self.segment.push(delta);
        self.answer.push(delta);
    }

    fn whole(&mut self, whole: &str) -> Option<Diagnostic> {
        if self.deltas == 0 {
            self.answer.push(whole);
            return None;
        }
        let difference = self.segment.difference(whole);
        let (deltas, line) = (self.deltas, self.first_delta_line);
        self.repeat = None;
        self.close();
        difference.map(|difference| {
            self.replay_differs = true;
            let message = format!(
                "the {deltas} deltas do not make the whole text that follows: {difference}"
            );
            Diagnostic::new(Rule::ReplayMismatch, message).related(line)
        })
    }

    /// Closes the open segment. At a boundary a last delta that equals all earlier ones together,
    /// if there are two or more, is taken for the repeat that a whole text would be.
    fn close(&mut self) {
        if let Some(mark) = self.repeat.take() {
            self.answer.go_back(mark);
        }
        self.segment.clear();
        self.deltas = 0;
    }

    fn compare(&mut self, text: &str) -> Option<Diagnostic> {
        if self.replay_differs {
            // Which of the two texts counts is unknown, and the defect has been reported.
            return None;
        }
        let difference = self.answer.difference(text)?;
        let message =
            format!("the segments do not make the text of the terminal event: {difference}");
        Some(Diagnostic::new(Rule::TextMismatch, message))
    }

    /// Closes what is open at the end of the stream.
    pub fn finish(&mut self) {
        self.close();
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
            let facts =
                Facts { line: number, offset: 0, tag: "".into(), standing, list: vec![fact] };
            reassembly.observe(&facts, false, &mut found);
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
    }
}
