//! Detection rules as numbers and words, as `build.rs` writes them: it compiles this file, too.

use std::borrow::Cow;

use super::PackedTexts;

/// A conjunction of tests is a group; an author writes the events that one of its groups fits.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct DetectTable {
    pub(crate) words: PackedTexts,
    /// The tokens of all paths, which are words, and where each path ends there.
    pub(crate) tokens: Cow<'static, [u16]>,
    pub(crate) paths: Cow<'static, [u16]>,
    /// The words with which values are compared.
    pub(crate) choices: Cow<'static, [u16]>,
    /// The words that are regular expressions.
    pub(crate) patterns: Cow<'static, [u16]>,
    /// The tests of all groups, each with its path, and where each group ends there.
    pub(crate) tests: Cow<'static, [(u16, DetectTest)]>,
    pub(crate) groups: Cow<'static, [u16]>,
    /// The name of each profile, and where its groups end.
    pub(crate) profiles: Cow<'static, [(u16, u16)]>,
    /// The same for formats that no profile reads, by their description.
    pub(crate) unread: Cow<'static, [(u16, u16)]>,
}

/// What a value must be, from the test that fails for most events to the one that takes longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DetectTest {
    /// One of the choices between these places.
    OneOf(u16, u16),
    /// A text that begins with this word.
    StartsWith(u16),
    Exists,
    Absent,
    NoneOf(u16, u16),
    Empty(bool),
    /// A text with a match of this pattern.
    Matches(u16),
}

/// The elements of the part with this number; `ends` says where each part ends.
pub(crate) fn part<'t, T>(all: &'t [T], ends: &[u16], number: u16) -> &'t [T] {
    let number = usize::from(number);
    let from = if number == 0 { 0 } else { ends[number - 1] };
    &all[usize::from(from)..usize::from(ends[number])]
}
