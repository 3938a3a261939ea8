//! A regular expression, as profiles name it.

use std::sync::{Arc, OnceLock};

use regex::Regex;
use serde::Deserialize;

/// A regular expression that finds something in a text. It is compiled when it is first asked, as
/// most profiles name some that most streams never need; and once, for all its copies.
///
/// Source: the syntax of the `regex` crate; time is linear in the text.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    text: String,
    regex: Arc<OnceLock<Option<Regex>>>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self { text, regex: Arc::default() }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Whether it finds something in the text; one that is no regular expression never does.
    pub fn is_in(&self, text: &str) -> bool {
        let regex = self.regex.get_or_init(|| Regex::new(&self.text).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }

    /// What is wrong with a text that is to be a regular expression, on one line.
    pub fn fault(text: &str) -> Option<String> {
        let message = Regex::new(text).err()?.to_string();
        // The last line says what is wrong, those before it show where.
        let fact = message.lines().last().unwrap_or_default();
        Some(fact.trim_start_matches("error: ").to_owned())
    }
}
