//! A text that may grow without end, kept in bounded memory.

use std::fmt;
use std::hash::{DefaultHasher, Hasher};

use crate::facts::AnswerText;
use crate::limits::TEXT_BYTES_MAX;

/// A text: its first [`TEXT_BYTES_MAX`] bytes, its length, and a hash of the bytes beyond.
#[derive(Debug, Clone, Default)]
pub(super) struct BoundedText {
    kept: Vec<u8>,
    length: u64,
    beyond: Beyond,
}

/// The bytes beyond what is kept, as hashes. They do not depend on how the bytes are cut into
/// chunks.
#[derive(Debug, Clone, Default)]
struct Beyond {
    all: DefaultHasher,
    /// Without the white space at the end.
    trimmed: DefaultHasher,
}

impl Beyond {
    fn push(&mut self, bytes: &[u8]) {
        let (solid, blank) = bytes.split_at(bytes.trim_ascii_end().len());
        if !solid.is_empty() {
            self.all.write(solid);
            self.trimmed = self.all.clone();
        }
        if !blank.is_empty() {
            self.all.write(blank);
        }
    }
}

impl BoundedText {
    pub(super) fn push(&mut self, chunk: &str) {
        let room = TEXT_BYTES_MAX.saturating_sub(self.kept.len()).min(chunk.len());
        let (kept, beyond) = chunk.as_bytes().split_at(room);
        self.kept.extend_from_slice(kept);
        self.beyond.push(beyond);
        self.length += chunk.len() as u64;
    }

    /// The end of the text as it is now.
    pub(super) fn mark(&self) -> Mark {
        Mark { kept: self.kept.len(), length: self.length, beyond: self.beyond.clone() }
    }

    pub(super) fn truncate(&mut self, mark: Mark) {
        self.kept.truncate(mark.kept);
        (self.length, self.beyond) = (mark.length, mark.beyond);
    }

    pub(super) fn clear(&mut self) {
        self.truncate(Mark::default());
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Whether it is nothing but white space.
    pub(super) fn is_blank(&self) -> bool {
        let kept = (!self.overflowed()).then_some(self.kept.as_slice());
        kept.and_then(|kept| str::from_utf8(kept).ok()).is_some_and(|kept| kept.trim().is_empty())
    }

    pub(super) fn overflowed(&self) -> bool {
        self.length > self.kept.len() as u64
    }

    pub(super) fn difference(&self, other: &str) -> Option<Difference> {
        let start = Mark::default();
        let mut comparison = Comparison::new(self, &start);
        comparison.push(other);
        comparison.finish()
    }

    /// What is added to the text to make `longer`, if that begins with it.
    pub(super) fn rest_of<'t>(&self, longer: &'t str) -> Option<&'t str> {
        let rest = longer.as_bytes().strip_prefix(&self.kept[..]).filter(|_| !self.overflowed())?;
        longer.get(longer.len() - rest.len()..)
    }

    /// The same for a text whose escapes have not been undone. White space at either end does not
    /// count.
    pub(super) fn difference_from(&self, other: &AnswerText<'_>) -> Option<Difference> {
        self.difference_since(&Mark::default(), other)
    }

    /// The same for what was added behind the mark. If that begins beyond what is kept, only its
    /// length is compared.
    pub(super) fn difference_since(
        &self,
        mark: &Mark,
        other: &AnswerText<'_>,
    ) -> Option<Difference> {
        let difference = self.compared(mark, other, false)?;
        let from_mark = &self.kept[mark.kept..];
        let blanks = from_mark.len() - from_mark.trim_ascii_start().len();
        let (kept, length) = (mark.kept + blanks, mark.length + blanks as u64);
        let solid = Mark { kept, length, beyond: mark.beyond.clone() };
        let solid = self.compared(&solid, other, true)?;
        Some(Difference { at: blanks + solid.at, lengths: difference.lengths, ..solid })
    }

    fn compared(&self, mark: &Mark, other: &AnswerText<'_>, is_solid: bool) -> Option<Difference> {
        let mut comparison = Comparison::new(self, mark);
        let mut has_begun = !is_solid;
        other.chunks(|chunk| {
            let chunk = if has_begun { chunk } else { chunk.trim_ascii_start() };
            has_begun |= !chunk.is_empty();
            comparison.push(chunk);
        });
        if comparison.differs_in_blanks() { None } else { comparison.finish() }
    }
}

/// A place in a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark {
    kept: usize,
    length: u64,
    beyond: Beyond,
}

/// A comparison of a text with another one, which comes in chunks.
struct Comparison<'t> {
    text: &'t BoundedText,
    start: &'t Mark,
    /// How many bytes of what is kept are equal, up to the first that differs.
    equal: usize,
    differs: bool,
    /// Whether the other text, as far as it is compared with what is kept, has only white space
    /// behind what is equal.
    ends_in_blanks: bool,
    /// Of the other text: its length, and the bytes beyond.
    length: u64,
    beyond: Beyond,
}

impl<'t> Comparison<'t> {
    fn new(text: &'t BoundedText, start: &'t Mark) -> Self {
        let beyond = Beyond::default();
        let equal = start.kept;
        Self { text, start, equal, differs: false, ends_in_blanks: true, length: 0, beyond }
    }

    fn push(&mut self, chunk: &str) {
        self.length += chunk.len() as u64;
        if self.differs {
            self.ends_in_blanks &= chunk.bytes().all(|byte| byte.is_ascii_whitespace());
            return;
        }
        let kept = &self.text.kept[self.equal..];
        let (start, beyond) = chunk.as_bytes().split_at(chunk.len().min(kept.len()));
        let kept = &kept[..start.len()];
        let is_equal = |(a, b): &(&u8, &u8)| a == b;
        let equal = if start == kept {
            start.len()
        } else {
            start.iter().zip(kept).take_while(is_equal).count()
        };
        self.equal += equal;
        self.differs = equal < start.len();
        self.ends_in_blanks &= start[equal..].iter().all(u8::is_ascii_whitespace);
        self.beyond.push(beyond);
    }

    /// Whether both texts have only white space behind what is equal.
    fn differs_in_blanks(&self) -> bool {
        let rest = &self.text.kept[self.equal..];
        let hash = |beyond: &Beyond| beyond.trimmed.finish();
        self.ends_in_blanks
            && rest.iter().all(u8::is_ascii_whitespace)
            && hash(&self.beyond) == hash(&self.text.beyond)
            && self.start.length == self.start.kept as u64
    }

    fn finish(self) -> Option<Difference> {
        let Self { text, start, equal, differs, length, beyond, .. } = self;
        let lengths = (text.length - start.length, length);
        let at = equal - start.kept;
        if differs || equal < text.kept.len() {
            return Some(Difference { at, exact: true, lengths });
        }
        let is_start_kept = start.length == start.kept as u64;
        let same = lengths.0 == lengths.1
            && (beyond.all.finish() == text.beyond.all.finish() || !is_start_kept);
        (!same).then_some(Difference { at, exact: !text.overflowed(), lengths })
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The first differing byte; the first that was not kept if it is not known exactly.
    at: usize,
    exact: bool,
    /// Of the concatenated text, and of the one given.
    lengths: (u64, u64),
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, exact, lengths: (together, given) } = self;
        let place = if *exact { "at" } else { "after" };
        write!(out, "the first difference is {place} byte {at} ")?;
        write!(out, "(lengths: {together} and {given} bytes)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(chunks: &[&str]) -> BoundedText {
        let mut text = BoundedText::default();
        for chunk in chunks {
            text.push(chunk);
        }
        text
    }

    #[test]
    fn the_first_differing_byte_is_found() {
        let at = |together: &str, given: &str| {
            text(&[together]).difference(given).map(|difference| difference.at)
        };
        assert_eq!(at("abc", "abc"), None);
        assert_eq!(at("abc", "abd"), Some(2));
        assert_eq!(at("abc", "ab"), Some(2));
        assert_eq!(at("ab", "abc"), Some(2));
        assert_eq!(at("", ""), None);
    }

    /// Goal: white space at the end never counts, however long the texts are.
    #[test]
    fn texts_that_differ_in_white_space_at_the_end_are_equal() {
        for length in [5, TEXT_BYTES_MAX - 1, TEXT_BYTES_MAX, TEXT_BYTES_MAX + 5] {
            let solid = "a".repeat(length);
            let ends = ["", "\n", " \n\n", "\nb", "b"];
            for (one, other) in ends.iter().flat_map(|one| ends.map(|other| (one, other))) {
                let (given, whole) =
                    (format!("{solid}{other}"), text(&[&solid[..3], &solid[3..], one]));
                let mark = Mark::default();
                let mut comparison = Comparison::new(&whole, &mark);
                comparison.push(&given);
                let is_equal = comparison.differs_in_blanks() || comparison.finish().is_none();
                assert_eq!(
                    is_equal,
                    one.trim_end() == other.trim_end(),
                    "{length} {one:?} {other:?}"
                );
            }
        }
    }

    /// Goal: texts that differ beyond the bound still differ, however they were cut into chunks.
    #[test]
    fn long_texts_are_compared_beyond_what_is_kept() {
        let long = "0123456789".repeat(TEXT_BYTES_MAX / 10 + 10);
        let (a, b) = long.split_at(TEXT_BYTES_MAX - 3);
        let (b, c) = b.split_at(17);
        let whole = text(&[a, b, c]);
        assert!(whole.overflowed());
        assert_eq!(whole.kept.len(), TEXT_BYTES_MAX);
        assert_eq!(whole.difference(&long), None);
        let mut other = long.clone().into_bytes();
        *other.last_mut().expect("not empty") = b'x';
        let other = String::from_utf8(other).expect("ASCII");
        assert_eq!(
            whole.difference(&other).map(|it| (it.at, it.exact)),
            Some((TEXT_BYTES_MAX, false))
        );
    }
}
