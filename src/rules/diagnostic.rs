//! A defect of a stream, as plain data. How it looks is decided by the reports.

use crate::limits::MESSAGE_BYTES_MAX;
use crate::rules::Rule;
use crate::json::schema::Violation;
use crate::rules::escape::clipped;

/// One defect found in a stream.
///
/// A message states the fact and where its other half is; it shows property names, tags, tool
/// names and call ids, never the value of a payload, and is at most
/// [`MESSAGE_BYTES_MAX`] bytes long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of defect.
    pub rule: Rule,
    /// The line, counted from 1; none when the stream as a whole is meant.
    pub line: Option<u64>,
    /// The byte in the stream, counted from 0, where the defect begins.
    pub offset: Option<u64>,
    /// The fact.
    pub message: String,
    /// What helps to understand or mend it.
    pub note: Option<String>,
    /// The line of the other half.
    pub related_line: Option<u64>,
    /// For a schema violation: where in the event and where in the schema.
    pub location: Option<SchemaLocation>,
}

/// The two locations of a schema violation, as JSON Schema 2020-12 core §12.3 defines them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaLocation {
    /// The schema: the profile's name, or the user's file.
    pub schema: String,
    /// JSON Pointer to the value within the event.
    pub instance: String,
    /// JSON Pointer to the keyword, through every `$ref` on the way.
    pub keyword: String,
}

impl SchemaLocation {
    /// The place of a violation of the schema that stands in `schema`. Pointers are clipped as
    /// messages are: a property's name may be as long as a line.
    pub fn new(schema: &str, violation: &Violation) -> Self {
        Self {
            schema: schema.to_owned(),
            instance: clipped(&violation.instance, MESSAGE_BYTES_MAX).into_owned(),
            keyword: clipped(&violation.keyword, MESSAGE_BYTES_MAX).into_owned(),
        }
    }
}

impl Diagnostic {
    /// A defect of the stream as a whole.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            rule,
            line: None,
            offset: None,
            message: clipped(&message, MESSAGE_BYTES_MAX).into_owned(),
            note: None,
            related_line: None,
            location: None,
        }
    }

    /// The same, at a line (from 1) and a byte of the stream (from 0).
    #[must_use]
    pub fn at(mut self, line: u64, offset: u64) -> Self {
        self.line = Some(line);
        self.offset = Some(offset);
        self
    }

    /// The same, with the line of its other half.
    #[must_use]
    pub fn related(mut self, line: u64) -> Self {
        self.related_line = Some(line);
        self
    }

    /// The same, with a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(clipped(&note.into(), MESSAGE_BYTES_MAX).into_owned());
        self
    }
}
