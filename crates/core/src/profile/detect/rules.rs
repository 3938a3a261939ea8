//! Who may have written an event, by the detection rules.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::sync::OnceLock;

use super::table::{DetectTable, DetectTest, part};
use crate::json::{JsonRef, PackedTexts};
use crate::profile::EventRule;
use crate::profile::pattern::LazyRegex;

static BUILT_IN: DetectTable = {
    use DetectTest::{Absent, Empty, Exists, Matches, NoneOf, OneOf, StartsWith};
    include!(concat!(env!("OUT_DIR"), "/detect.rs"))
};

#[derive(Debug)]
pub(crate) struct DetectRules {
    table: Cow<'static, DetectTable>,
    patterns: Vec<LazyRegex>,
}

impl From<Cow<'static, DetectTable>> for DetectRules {
    fn from(table: Cow<'static, DetectTable>) -> Self {
        let pattern = |word: &u16| LazyRegex::from(table.words.get(*word).to_owned());
        let patterns = table.patterns.iter().map(pattern).collect();
        Self { table, patterns }
    }
}

impl DetectRules {
    pub(crate) fn built_in() -> &'static Self {
        static RULES: OnceLock<DetectRules> = OnceLock::new();
        RULES.get_or_init(|| Cow::Borrowed(&BUILT_IN).into())
    }

    pub(crate) fn matching(&self, event: JsonRef<'_>) -> impl Iterator<Item = Author<'_>> {
        let table = &*self.table;
        let profiles = table.profiles.iter().map(|it| (Author::Agent(table.words.get(it.0)), it.1));
        let unread = table.unread.iter().map(|it| (Author::Unread(table.words.get(it.0)), it.1));
        let values = FoundValues { table, event, known: vec![OnceCell::new(); table.paths.len()] };
        let mut from = 0;
        let both = profiles.chain(unread);
        both.filter(move |(_, to)| {
            let groups = std::mem::replace(&mut from, *to)..*to;
            groups.into_iter().any(|group| {
                let mut tests = part(&table.tests, &table.groups, group).iter();
                tests.all(|(path, test)| self.holds(*test, values.find(*path)))
            })
        })
        .map(|(author, _)| author)
    }

    fn holds(&self, test: DetectTest, found: Option<&FoundValue<'_>>) -> bool {
        let words = &self.table.words;
        let string = found.and_then(|found| found.text.as_deref());
        let is_among = |from: u16, to: u16| {
            let mut choices = self.table.choices[usize::from(from)..usize::from(to)].iter();
            string.is_some_and(|text| choices.any(|word| text == words.get(*word)))
        };
        match test {
            DetectTest::Exists => found.is_some(),
            DetectTest::Absent => found.is_none(),
            DetectTest::Empty(empty) => empty == found.is_none_or(|found| found.value.is_empty()),
            DetectTest::OneOf(from, to) => is_among(from, to),
            DetectTest::NoneOf(from, to) => !is_among(from, to),
            DetectTest::StartsWith(word) => {
                string.is_some_and(|text| text.starts_with(words.get(word)))
            }
            DetectTest::Matches(pattern) => {
                string.is_some_and(|text| self.patterns[usize::from(pattern)].is_in(text))
            }
        }
    }

    #[cfg(test)]
    pub(super) fn table(&self) -> &DetectTable {
        &self.table
    }

    /// The texts with which values of events are compared.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.table.choices.iter().map(|word| self.table.words.get(*word))
    }

    /// The texts with which they begin.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = &str> {
        let beginnings = self.table.tests.iter().filter_map(|(_, test)| match test {
            DetectTest::StartsWith(word) => Some(*word),
            _ => None,
        });
        beginnings.map(|word| self.table.words.get(word))
    }

    pub(crate) fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(LazyRegex::as_str)
    }
}

/// The values of an event at the paths of the rules, once they are asked for.
struct FoundValues<'t, 'e> {
    table: &'t DetectTable,
    event: JsonRef<'e>,
    known: Vec<OnceCell<Option<FoundValue<'e>>>>,
}

/// A value, and its text if it is a string: many tests compare the same one.
#[derive(Clone)]
struct FoundValue<'e> {
    value: JsonRef<'e>,
    text: Option<Cow<'e, str>>,
}

impl<'e> FoundValues<'_, 'e> {
    /// A value that is `null` counts as absent.
    fn find(&self, path: u16) -> Option<&FoundValue<'e>> {
        let (table, event) = (self.table, self.event);
        let known = self.known[usize::from(path)].get_or_init(|| {
            let mut tokens = part(&table.tokens, &table.paths, path).iter();
            let found = tokens.try_fold(event, |value, token| value.get(table.words.get(*token)));
            let found = found.filter(|value| !value.is_null());
            found.map(|value| FoundValue { value, text: value.as_str() })
        });
        known.as_ref()
    }
}

pub(crate) fn matches(event: JsonRef<'_>, rules: &[EventRule]) -> bool {
    rules.iter().any(|rule| rule.when.hold(event))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author<'r> {
    /// The agent of this profile.
    Agent(&'r str),
    /// No profile reads this format.
    Unread(&'r str),
}

impl<'r> Author<'r> {
    pub(crate) fn agent(self) -> Option<&'r str> {
        match self {
            Self::Agent(profile) => Some(profile),
            Self::Unread(_) => None,
        }
    }
}

impl fmt::Display for Author<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(profile) => write!(out, "a stream of {profile}"),
            Self::Unread(format) => write!(out, "{format}, which no profile reads"),
        }
    }
}
