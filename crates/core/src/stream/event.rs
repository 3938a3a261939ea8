//! A line that is one JSON object.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Ending, Line};
use crate::json::{self, JsonRef, LoneHalves, ParsedJson};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::shown;

#[derive(Debug)]
pub(crate) struct ParsedEvent<'a> {
    /// The number of its line, from 1.
    pub(crate) line: u64,
    /// The offset of its first byte in the stream, from 0.
    pub(crate) offset: u64,
    /// As it is written; lone halves of surrogate pairs are replaced.
    pub(crate) text: Cow<'a, str>,
    pub(crate) lone_halves: Option<LoneHalves>,
    pub(crate) json: ParsedJson<'a>,
    /// Keys that occur more than once in their object, as JSON Pointers; a limited number.
    pub(super) duplicate_keys: BTreeSet<String>,
}

impl ParsedEvent<'_> {
    pub(crate) fn root(&self) -> JsonRef<'_> {
        self.json.root()
    }

    /// The offsets in the stream of the values that these JSON Pointers name.
    pub(crate) fn offsets(&self, pointers: &BTreeSet<String>) -> BTreeMap<String, u64> {
        let places = json::places(&self.text, pointers).into_iter();
        places.map(|(pointer, place)| (pointer, self.offset + place.value as u64)).collect()
    }

    /// What is wrong with the line although it is an event, except for duplicate keys that the
    /// agent is known to write.
    pub(crate) fn defects(
        &self,
        line: &Line<'_>,
        is_known_duplicate: impl Fn(&str) -> bool,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if line.ending == Ending::EndOfStream {
            let message = "the last event does not end with a newline";
            let diagnostic = Diagnostic::new(Rule::MissingFinalNewline, message);
            found.push(diagnostic.at(line.number, line.offset + line.length));
        }
        if let Some(LoneHalves { at, .. }) = self.lone_halves {
            let message = format!(
                "half of a surrogate pair is escaped at byte {at} of the {}; it is read as U+FFFD",
                line.noun()
            );
            let diagnostic = Diagnostic::new(Rule::LoneSurrogate, message);
            found.push(diagnostic.at(self.line, self.offset + at as u64));
        }
        let places = json::places(&self.text, &self.duplicate_keys);
        for pointer in self.duplicate_keys.iter().filter(|it| !is_known_duplicate(it)) {
            let key = places.get(pointer).and_then(|place| place.key).unwrap_or(0);
            let message = format!("the key {} occurs more than once", shown(pointer));
            let diagnostic = Diagnostic::new(Rule::DuplicateKey, message);
            found.push(diagnostic.at(self.line, self.offset + key as u64));
        }
        found
    }
}
