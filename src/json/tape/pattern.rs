//! What all texts have in common that differ only in values nobody looked at.

use std::ops::Range;

use super::cursor::{Cursor, Doc, ENTRIES_NOTED};
use super::{Entry, Kind};

/// A text's kinds, keys and counts, and those of its values that somebody looked at.
///
/// Who finds something out about a text by looking at these values, and at nothing else but kinds,
/// keys, counts and whether a number is written as an integer, finds the same of every text that
/// fits.
#[derive(Debug)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
    /// The literals, one behind the other.
    text: Vec<u8>,
    looks: u128,
}

/// One entry of the tape.
#[derive(Debug)]
struct Part {
    kind: Kind,
    must: Must,
}

/// What an entry must have besides its kind.
#[derive(Debug)]
enum Must {
    /// Nothing: a value that nobody looked at; or the end of a container, whose place is told by
    /// its begin.
    Nothing,
    /// This text: a key, or a value that was looked at.
    Be(Range<usize>),
    /// The begin of a container: its end is the entry before this one.
    EndBefore(u32),
    /// A number, written as an integer or not.
    BePlain(bool),
}

impl Pattern {
    /// The pattern of a text; `looks` are the values that were looked at. `None` if it has more
    /// values than are noted, or more than `bytes_max` bytes that would have to be compared.
    pub(crate) fn new(doc: &Doc<'_>, looks: u128, bytes_max: usize) -> Option<Self> {
        let entries = doc.entries();
        if entries.len() > ENTRIES_NOTED {
            return None;
        }
        let mut literals = looks;
        keys(doc.root(), &mut literals);
        let mut pattern =
            Self { parts: Vec::with_capacity(entries.len()), text: Vec::new(), looks };
        let mut ends = 0_u128;
        for (index, entry) in entries.iter().enumerate() {
            let is_end = ends >> index & 1 != 0;
            let is_literal = literals >> index & 1 != 0;
            let must = match entry.kind {
                Kind::Array | Kind::Object if is_end => Must::Nothing,
                Kind::Array | Kind::Object => {
                    ends |= 1 << (entry.end - 1);
                    Must::EndBefore(entry.end)
                }
                Kind::String | Kind::Number if is_literal => {
                    let start = pattern.text.len();
                    pattern.text.extend_from_slice(written(doc, *entry));
                    Must::Be(start..pattern.text.len())
                }
                Kind::Number => Must::BePlain(entry.plain),
                Kind::Null | Kind::False | Kind::True | Kind::String => Must::Nothing,
            };
            pattern.parts.push(Part { kind: entry.kind, must });
        }
        (pattern.text.len() <= bytes_max).then_some(pattern)
    }

    /// The values that were looked at.
    pub(crate) fn looks(&self) -> u128 {
        self.looks
    }

    /// Whether a text has the pattern.
    pub(crate) fn fits(&self, doc: &Doc<'_>) -> bool {
        let entries = doc.entries();
        entries.len() == self.parts.len()
            && entries.iter().zip(&self.parts).all(|(entry, part)| {
                entry.kind == part.kind
                    && match &part.must {
                        Must::Nothing => true,
                        Must::Be(text) => self.text[text.clone()] == *written(doc, *entry),
                        Must::EndBefore(end) => entry.end == *end,
                        Must::BePlain(plain) => entry.plain == *plain,
                    }
            })
    }
}

#[inline]
fn written<'a>(doc: &Doc<'a>, entry: Entry) -> &'a [u8] {
    &doc.text().as_bytes()[entry.start as usize..entry.end as usize]
}

/// Adds a bit for each key.
fn keys(cursor: Cursor<'_>, into: &mut u128) {
    for (_, value) in cursor.members() {
        *into |= 1 << (value.index() - 1);
        keys(value, into);
    }
    cursor.items().for_each(|item| keys(item, into));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tape::Tape;

    fn with<T>(text: &str, use_it: impl FnOnce(&Doc<'_>) -> T) -> T {
        let mut tape = Tape::default();
        assert!(tape.read(text.as_bytes(), text.len()), "{text}");
        use_it(&tape.doc(text))
    }

    /// Goal: nothing fits that anybody could tell from the model. Method: one change at a time.
    #[test]
    fn what_was_looked_at_must_be_the_same() {
        let model = r#"{"a":"x","b":[1,2.5,null,{}],"c":{"d":true,"e":"y"}}"#;
        let pattern = with(model, |doc| {
            let (_, looks) = doc.looks_of(|| doc.root().get("a").map(Cursor::look));
            assert_eq!(doc.looks(), looks);
            Pattern::new(doc, looks, 100).expect("it is small")
        });
        let fits = |text: &str| with(text, |doc| pattern.fits(doc));
        assert!(fits(model));
        assert!(fits(r#" {"a":"x", "b":[77,1e9,null,{}],"c":{"d":true,"e":"other \n"}}"#));
        for other in [
            r#"{"a":"z","b":[1,2.5,null,{}],"c":{"d":true,"e":"y"}}"#,
            r#"{"b":"x","a":[1,2.5,null,{}],"c":{"d":true,"e":"y"}}"#,
            r#"{"a":"x","b":[1.0,2.5,null,{}],"c":{"d":true,"e":"y"}}"#,
            r#"{"a":"x","b":[1,2,null,{}],"c":{"d":true,"e":"y"}}"#,
            r#"{"a":"x","b":[1,2.5,{},null],"c":{"d":true,"e":"y"}}"#,
            r#"{"a":"x","b":[1,2.5,null,[]],"c":{"d":true,"e":"y"}}"#,
            r#"{"a":"x","b":[1,2.5,null],"c":{"d":true,"e":"y"},"f":{}}"#,
            r#"{"a":"x","b":[1,2.5,null,{}],"c":{"d":false,"e":"y"}}"#,
            r#"{"a":"x","b":[1,2.5,null,{}],"c":{"d":true,"f":"y"}}"#,
            r#"{"a":"x","b":[1,2.5,null,{}],"c":{"d":true,"e":1}}"#,
            r#"{"a":"x","b":[1,2.5,null,{}],"c":{"d":true},"e":"y"}"#,
            r#"{"a":"x","b":[1,2.5,null,{}],"c":{"d":true,"e":"y","g":"y"}}"#,
        ] {
            assert!(!fits(other), "{other}");
        }
    }

    #[test]
    fn a_text_of_many_values_has_no_pattern() {
        let many = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        with(&many(126), |doc| assert!(Pattern::new(doc, 0, 0).is_some()));
        with(&many(127), |doc| assert!(Pattern::new(doc, 0, 0).is_none()));
        with(r#"{"ab":1}"#, |doc| assert!(Pattern::new(doc, 0, 1).is_none()));
    }
}
