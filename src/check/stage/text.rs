//! Stage: the assistant's text, from deltas to segments to the answer.

mod answer;
mod groups;
mod key;
mod buffer;

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::rules::diagnostic::Diagnostic;
use crate::facts::{Fact, Facts, Prose};
use crate::profile::{FinalText, Profile, TextDeltas, TextMode};
use crate::rules::Rule;

use answer::Unclosed;
use groups::Groups;
use key::Key;
use buffer::{Mark, Text};

/// Puts the assistant's text together and holds it against what the producer says it is.
///
/// A delta is appended to the open segment. A whole text closes it: with no delta before it, it is
/// the segment, otherwise it repeats the deltas and adds nothing. A boundary, the end, a text of
/// another group and, unless the profile says otherwise, a tool call close it too. No piece is
/// ever dropped for being equal to an earlier one.
#[derive(Debug)]
pub struct Reassembly<'p> {
    profile: &'p Profile,
    /// Whether the last delta of a segment may repeat it, in the place of a whole text.
    repeats: bool,
    /// Whether somebody will ask for the last segment.
    keeps_last: bool,
    /// The deltas of the open segment, put together.
    segment: Text,
    deltas: u64,
    first_delta_line: u64,
    /// The group of the open segment.
    key: Option<Key>,
    /// The open segments, where there may be several.
    groups: Option<Groups>,
    /// The latest delta, if it may turn out to be a repeat.
    repeat: Option<Repeat>,
    /// All segments of the turn, put together; and where the open one begins.
    answer: Text,
    segment_start: Mark,
    /// The answer as it also may be, once that is in doubt: with the whole text where the deltas
    /// differ from it, with a delta that was taken for a repeat.
    other: Option<Text>,
    /// The last segment that was closed.
    last: Text,
    unclosed: Unclosed,
    /// Whether the final text came, and whether it is empty.
    final_text: Option<bool>,
    /// The size of the text of earlier turns, and whether it was too much.
    earlier: (u64, bool),
    /// Whether more texts were open at once than can be kept apart.
    crowded: bool,
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
#[derive(Debug, Clone)]
pub enum Piece<'f> {
    /// Text that nobody has seen yet.
    Text(Cow<'f, str>),
    /// The producer repeats the open segment, and differently: this is what it stands by.
    Corrected(&'f str),
    /// The segment is complete.
    End,
    /// The producer's last word: the answer, which may have been seen before.
    Answer(&'f Prose<'f>),
    /// A new turn begins.
    Turn,
}

impl<'p> Reassembly<'p> {
    /// Puts text together as this profile says.
    pub fn new(profile: &'p Profile) -> Self {
        let has = |mode| profile.text.rules.iter().any(|rule| rule.mode == mode);
        let closed = profile.text.deltas == Some(TextDeltas::Closed);
        let grouped = profile.text.rules.iter().any(|rule| !rule.group.is_empty());
        Self {
            profile,
            repeats: has(TextMode::Delta) && has(TextMode::Whole) && !closed && !grouped,
            keeps_last: closed || profile.text.final_text != FinalText::All,
            segment: Text::default(),
            deltas: 0,
            first_delta_line: 0,
            key: None,
            groups: None,
            repeat: None,
            answer: Text::default(),
            segment_start: Mark::default(),
            other: None,
            last: Text::default(),
            unclosed: Unclosed::default(),
            final_text: None,
            earlier: (0, false),
            crowded: false,
        }
    }

    /// A new turn begins, with nothing open and no text.
    pub fn reopen(&mut self, pieces: &mut Pieces<'_>) {
        self.close(pieces);
        pieces.push(Piece::Turn);
        let earlier = (self.text_bytes(), self.overflowed());
        *self = Self { earlier, crowded: self.crowded, ..Self::new(self.profile) };
    }

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
                Fact::Group(key) => self.enter(key, pieces),
                Fact::TextDelta(delta) => self.append(delta, facts.line, pieces),
                Fact::TextWhole(whole) => found.extend(self.whole(whole, pieces).map(at)),
                Fact::FinalText(text) => {
                    found.extend(self.final_text(text, single, pieces).map(at));
                }
                Fact::CallStarted(_) | Fact::CallCompleted(..)
                    if !self.profile.text.ends_at_calls || self.groups.is_some() => {}
                // If something follows, it was not the end.
                Fact::Terminal(last) if last.suspect => {}
                Fact::CallStarted(_)
                | Fact::CallCompleted(..)
                | Fact::Boundary
                | Fact::Terminal(_) => self.close(pieces),
                _ => {}
            }
        }
    }

    /// The texts that follow are of this group: where one is open at a time, it closes another.
    fn enter(&mut self, key: &str, pieces: &mut Pieces<'_>) {
        if self.key.as_ref().is_some_and(|it| it.is(key)) {
            return;
        }
        if self.groups.is_none() {
            self.close(pieces);
            self.unclosed.waiting = false;
        }
        self.key = Some(Key::new(key));
    }

    fn append<'f>(&mut self, delta: &'f str, line: u64, pieces: &mut Pieces<'f>) {
        if self.groups.is_some() {
            return self.append_to_group(delta, line, pieces);
        }
        if self.deltas == 0 {
            self.first_delta_line = line;
            self.unclosed.waiting = false;
        }
        self.confirm(pieces);
        let repeats = self.repeats
            && self.deltas >= 2
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
        if self.groups.is_some() {
            return self.whole_of_group(whole, pieces);
        }
        if self.deltas == 0 {
            if self.is_repeat_of_last(whole) {
                return None;
            }
            self.push(whole);
            self.segment_start = self.answer.mark();
            self.keep_last(whole);
            pieces.extend([Piece::Text(Cow::Borrowed(whole)), Piece::End]);
            return None;
        }
        let difference = self.segment.difference(whole);
        let (deltas, line) = (self.deltas, self.first_delta_line);
        if difference.is_some() {
            self.confirm(pieces);
            self.correct(whole, pieces);
        }
        self.confirm(pieces);
        self.end(pieces);
        difference.map(|difference| {
            self.keep_last(whole);
            replay_mismatch(deltas, &difference).related(line)
        })
    }

    /// The whole text stands in the place of the deltas, or they do: both may be the answer.
    fn correct<'f>(&mut self, whole: &'f str, pieces: &mut Pieces<'f>) {
        pieces.push(Piece::Corrected(whole));
        let mut other = self.answer.clone();
        other.go_back(self.segment_start.clone());
        other.push(whole);
        self.other = Some(other);
    }

    fn keep_last(&mut self, segment: &str) {
        if self.keeps_last && !segment.is_empty() {
            self.last.clear();
            self.last.push(segment);
        }
    }

    /// More of the segment has come: what looked like a repeat of it was text.
    fn confirm(&mut self, pieces: &mut Pieces<'_>) {
        if let Some(repeat) = self.repeat.take() {
            pieces.push(Piece::Text(Cow::Owned(repeat.delta)));
        }
    }

    /// Closes the open segment without a whole text. At a boundary a last delta that equals all
    /// earlier ones together, if there are two or more, is taken for the repeat that a whole text
    /// would be.
    fn close(&mut self, pieces: &mut Pieces<'_>) {
        if self.groups.is_some() {
            return self.close_groups(pieces);
        }
        if let Some(repeat) = self.repeat.take() {
            self.other.get_or_insert_with(|| self.answer.clone());
            self.answer.go_back(repeat.before);
        }
        if self.deltas > 0 {
            self.note_unclosed(self.first_delta_line);
        }
        self.end(pieces);
    }

    /// The open segment is complete.
    fn end(&mut self, pieces: &mut Pieces<'_>) {
        self.segment_start = self.answer.mark();
        if self.deltas > 0 {
            pieces.push(Piece::End);
            if self.keeps_last && self.segment.length() > 0 {
                std::mem::swap(&mut self.last, &mut self.segment);
            }
        }
        self.segment.clear();
        self.deltas = 0;
    }

    /// Closes what is open at the end of the stream.
    pub fn finish(&mut self) {
        self.close(&mut Pieces::new());
    }

    /// The size of the text in bytes.
    pub fn text_bytes(&self) -> u64 {
        self.earlier.0 + self.answer.length()
    }

    /// Whether text was compared by fingerprint because it is too long to be kept.
    pub fn overflowed(&self) -> bool {
        self.earlier.1 || self.answer.overflowed()
    }

    /// Whether more texts were open at once than can be kept apart.
    pub fn crowded(&self) -> bool {
        self.crowded
    }
}

fn replay_mismatch(deltas: u64, difference: &buffer::Difference) -> Diagnostic {
    let (deltas, make) =
        if deltas == 1 { ("delta".to_owned(), "does") } else { (format!("{deltas} deltas"), "do") };
    let message = format!("the {deltas} {make} not make the whole text that follows: {difference}");
    Diagnostic::new(Rule::ReplayMismatch, message)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::facts::Standing;

    /// With rules for deltas, whole and final texts, whatever they are.
    fn profile() -> Profile {
        let rule = |mode: &str| json!({"mode": mode, "when": {}, "value": "/x"});
        let rules: Vec<Value> = ["delta", "whole", "final"].map(rule).into();
        let profile =
            json!({"name": "x", "title": "x", "tags": {"at": []}, "text": {"rules": rules}});
        serde_json::from_value(profile).expect("a profile")
    }

    /// `d` delta, `w` whole, `f` final, `b` boundary.
    fn found(pieces: &[(char, &str)]) -> (Vec<Rule>, u64) {
        let profile = profile();
        let mut reassembly = Reassembly::new(&profile);
        let mut found = Vec::new();
        for (number, (mode, text)) in (1..).zip(pieces) {
            let fact = match mode {
                'd' => Fact::TextDelta((*text).into()),
                'w' => Fact::TextWhole((*text).into()),
                'f' => Fact::FinalText(Cow::Borrowed(*text).into()),
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
