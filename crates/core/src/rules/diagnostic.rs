//! A defect of a stream, as plain data.

use serde::Serialize;

use super::escape::clipped;
use super::{Rule, Severity};
use crate::limits::MESSAGE_BYTES_MAX;

/// One defect found in a stream.
///
/// A message says what is wrong. It shows property names, tags, tool names and call ids, never the
/// value of a payload, and is at most 2 KiB long. As JSON a diagnostic has the names of the JSON
/// report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of defect.
    pub rule: Rule,
    /// The severity, by the options of the check.
    pub severity: Severity,
    /// The line, from 1; none for a defect of the stream as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The byte in the stream, from 0, where the defect begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// A hint that helps to understand or fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Another line that belongs to it, such as the start of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_line: Option<u64>,
    /// The id of the call, or of the background work, that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// For an unmet expectation: what the first call did that it is about, such as its command or
    /// its path. For a line that is not an event, or that came from standard error: the text of the
    /// line. The start, if it is long. This is text of the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Which demand of yours is not met: a limit, such as `limits.cost`, or the place of an
    /// expectation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demand: Option<String>,
    /// For a schema violation: where in the event and where in the schema.
    #[serde(flatten)]
    pub location: Option<SchemaLocation>,
}

/// Where an event fails a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SchemaLocation {
    /// The schema: the profile's name, or the user's file.
    pub schema: String,
    /// JSON Pointer to the value within the event.
    #[serde(rename = "instance_location")]
    pub instance: String,
    /// JSON Pointer to the keyword in the schema document.
    #[serde(rename = "keyword_location")]
    pub keyword: String,
}

impl Diagnostic {
    /// A defect of the stream as a whole.
    pub(crate) fn new(rule: Rule, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            rule,
            severity: rule.severity().unwrap_or(Severity::Warning),
            line: None,
            offset: None,
            message: clipped(&message, MESSAGE_BYTES_MAX).into_owned(),
            note: None,
            related_line: None,
            call_id: None,
            detail: None,
            demand: None,
            location: None,
        }
    }

    /// `line` is from 1, `offset` is a byte of the stream from 0.
    #[must_use]
    pub(crate) fn at(mut self, line: u64, offset: u64) -> Self {
        self.line = Some(line);
        self.offset = Some(offset);
        self.related_line = self.related_line.filter(|related| *related != line);
        self
    }

    #[must_use]
    pub(crate) fn related(mut self, line: impl Into<Option<u64>>) -> Self {
        self.related_line = line.into();
        self
    }

    /// It is about the call, or the background work, with this id.
    #[must_use]
    pub(crate) fn of_call(mut self, id: &str) -> Self {
        self.call_id = Some(id.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn of_demand(mut self, demand: &str) -> Self {
        self.demand = Some(demand.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn of_text(mut self, text: Option<String>) -> Self {
        self.detail = text;
        self
    }

    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(clipped(&note.into(), MESSAGE_BYTES_MAX).into_owned());
        self
    }
}
