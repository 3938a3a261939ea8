//! A regular expression in a profile.

use std::sync::{Arc, OnceLock};

use regex::Regex;
use serde::Deserialize;

/// A regular expression that is compiled when it is first needed, and once for all its copies: most
/// profiles have some that most streams never need.
///
/// Source: the syntax of the `regex` crate; time is linear in the text.
#[derive(Debug, Clone, Deserialize)]
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

impl PartialEq for LazyRegex {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl LazyRegex {
    /// Whether it finds something in the text.
    ///
    /// # Panics
    ///
    /// When it is no regular expression: loading refuses a profile that has one.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let compile = || Regex::new(&self.text).expect("loading refuses a wrong pattern");
        self.regex.get_or_init(compile).is_match(text)
    }

    /// What is wrong with a text that should be a regular expression, on one line.
    pub(crate) fn syntax_error(text: &str) -> Option<String> {
        let message = Regex::new(text).err()?.to_string();
        // The last line says what is wrong, those before it show where.
        let fact = message.lines().last().unwrap_or_default();
        Some(fact.trim_start_matches("error: ").to_owned())
    }
}
