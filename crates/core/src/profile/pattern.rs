//! Regular expressions in profiles.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder, RegexSet};
use serde::Deserialize;

/// A regular expression, compiled when first needed and once for all its copies: most streams never
/// need some of those in a profile.
///
/// Source: the syntax of the `regex` crate; time is linear in the text.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub(crate) struct LazyRegex {
    text: String,
    regex: Arc<OnceLock<Regex>>,
}

impl From<String> for LazyRegex {
    fn from(text: String) -> Self {
        Self { text, regex: Arc::default() }
    }
}

impl fmt::Debug for LazyRegex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(out)
    }
}

impl PartialEq for LazyRegex {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl LazyRegex {
    /// Compiles it at once.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn compiled_from(text: &str) -> Result<Self, String> {
        let regex = Regex::new(text).map_err(|error| fact(&error))?;
        Ok(Self { text: text.to_owned(), regex: Arc::new(regex.into()) })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.compiled().is_match(text)
    }

    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        self.compiled().find(text).map(|found| found.range())
    }

    pub(crate) fn group<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        Some(self.compiled().captures(text)?.name(name)?.as_str())
    }

    /// Where the groups with a name are. The group `text` is not read, only shown.
    pub(crate) fn named_groups(&self, text: &str) -> Vec<Range<usize>> {
        let Some(captures) = self.compiled().captures(text) else { return Vec::new() };
        let names = self.compiled().capture_names().flatten().filter(|name| *name != "text");
        names.filter_map(|name| captures.name(name)).map(|group| group.range()).collect()
    }

    fn compiled(&self) -> &Regex {
        let compile = || Regex::new(&self.text).expect("loading rejects a wrong pattern");
        self.regex.get_or_init(compile)
    }
}

/// What is wrong with a regular expression, on one line, if anything is.
pub(crate) fn pattern_error(text: &str) -> Option<String> {
    Regex::new(text).err().map(|error| fact(&error))
}

/// What is wrong with the syntax of a regular expression, on one line. Whether it is too large
/// would take much longer to find.
pub fn syntax_error(text: &str) -> Option<String> {
    match RegexBuilder::new(text).size_limit(0).build().err()? {
        regex::Error::CompiledTooBig(_) => None,
        error => Some(fact(&error)),
    }
}

fn fact(error: &regex::Error) -> String {
    let message = error.to_string();
    // The last line says what is wrong, the lines before it show where.
    message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[derive(Debug, Default)]
pub(crate) struct PatternSet {
    patterns: Vec<String>,
    set: OnceLock<Option<RegexSet>>,
}

impl PatternSet {
    pub(crate) fn push(&mut self, pattern: &str) {
        self.patterns.push(pattern.to_owned());
    }

    /// The numbers of the patterns that match, in their order; all, if they are too large to be
    /// searched together.
    pub(crate) fn matching(&self, text: &str) -> Vec<usize> {
        match self.set.get_or_init(|| RegexSet::new(&self.patterns).ok()) {
            Some(set) => set.matches(text).into_iter().collect(),
            None => (0..self.patterns.len()).collect(),
        }
    }
}

/// A regular expression that matches this text alone.
pub(crate) fn escaped(text: &str) -> String {
    regex::escape(text)
}
