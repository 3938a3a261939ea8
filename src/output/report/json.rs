//! The json report: NDJSON, one object on each line.
//!
//! Its format is described by `report.schema.json` (`ndjson-check schema report`); an incompatible
//! change is a new version. A diagnostic is written when it is found, a stream at its end, and the
//! summary is the last line: a report without it is truncated.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

#[cfg(feature = "cli")]
use super::Report;
use super::stats::StatsTotals;
use super::{Sink, Totals, is_zero};
use crate::check::{
    CallCounts, CallRow, Note, Observer, RunStats, StreamStart, StreamSummary, UnknownName,
};
use crate::error::Error;
use crate::facts::RunFacts;
use crate::profile::ExitStatus;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::escaped_json;

/// The JSON Schema of the report.
pub const SCHEMA: &str = include_str!("../report.schema.json");

/// The version of the report's format.
pub(super) const REPORT_VERSION: u8 = 1;

/// Writes the json report.
pub struct Json<W> {
    path: String,
    stats: Option<StatsTotals>,
    sink: Sink<W>,
}

impl<W: Write> Json<W> {
    /// Writes to this writer.
    pub fn new(writer: W) -> Self {
        Self { path: String::new(), stats: None, sink: Sink::new(writer) }
    }

    /// Writes the last line: the sum of all streams, and the exit code of the program.
    pub fn totals(&mut self, totals: &Totals, exit_code: u8) {
        let stats = self.stats.take();
        self.line(&SummaryLine {
            r#type: "summary",
            report_version: REPORT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            totals,
            stats: stats.as_ref(),
            exit_code,
        });
    }

    /// The figures of streams whose lines are written already.
    #[cfg(feature = "cli")]
    pub(super) fn with_stats(self, stats: Option<StatsTotals>) -> Self {
        Self { stats, ..self }
    }

    /// The first failure to write.
    pub fn failure(&self) -> Option<&io::Error> {
        self.sink.failure.as_ref()
    }

    /// The writer.
    ///
    /// # Errors
    ///
    /// The first failure to write.
    pub fn finish(self) -> io::Result<W> {
        self.sink.finish()
    }

    fn line(&mut self, object: &impl Serialize) {
        // Cannot fail: the objects have nothing but strings, numbers and each other.
        let mut line = escaped_json(&serde_json::to_string(object).unwrap_or_default());
        line.push('\n');
        self.sink.write(&line);
    }
}

#[cfg(feature = "cli")]
impl<W: Write> Report<W> for Json<W> {
    fn end(&mut self, totals: &Totals, exit_code: u8) {
        self.totals(totals, exit_code);
    }

    fn shows_exit_code(&self) -> bool {
        true
    }

    fn sink(&self) -> &Sink<W> {
        &self.sink
    }

    fn into_sink(self: Box<Self>) -> Sink<W> {
        self.sink
    }
}

impl<W: Write> Observer for Json<W> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        start.name().clone_into(&mut self.path);
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let location = diagnostic.location.as_ref();
        let path = std::mem::take(&mut self.path);
        self.line(&DiagnosticLine {
            r#type: "diagnostic",
            report_version: REPORT_VERSION,
            path: &path,
            rule: diagnostic.rule.name(),
            severity: diagnostic.severity.name(),
            line: diagnostic.line,
            offset: diagnostic.offset,
            message: &diagnostic.message,
            note: diagnostic.note.as_deref(),
            related_line: diagnostic.related_line,
            schema: location.map(|location| location.schema.as_str()),
            instance_location: location.map(|location| location.instance.as_str()),
            keyword_location: location.map(|location| location.keyword.as_str()),
        });
        self.path = path;
    }

    fn summary(&mut self, summary: &StreamSummary) {
        if summary.stats.is_some() {
            self.stats.get_or_insert_default().add(&summary.into());
        }
        self.line(&StreamLine::from(summary));
    }

    fn flush(&mut self) {
        self.sink.flush();
    }
}

/// The comparison of two streams, as one line. The lists say what only the first stream has, with
/// `removed`, and what only the second one has.
#[cfg(feature = "cli")]
pub(in crate::output) fn diff_line(
    streams: (&StreamSummary, &StreamSummary),
    differs: bool,
    is_clipped: bool,
    lists: [&[ChangedItem]; 3],
) -> String {
    let [calls, text, unknown] = lists;
    let line = DiffLine {
        r#type: "diff",
        report_version: REPORT_VERSION,
        tool_version: env!("CARGO_PKG_VERSION"),
        differs,
        is_clipped,
        calls,
        text,
        unknown,
        a: StreamLine::from(streams.0),
        b: StreamLine::from(streams.1),
    };
    escaped_json(&serde_json::to_string(&line).unwrap_or_default()) + "\n"
}

/// One item of a list that only one of two streams has.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::output) struct ChangedItem {
    pub(in crate::output) change: Change,
    pub(in crate::output) item: String,
}

#[cfg(feature = "cli")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::output) enum Change {
    Removed,
    Added,
}

impl<'a> From<&'a StreamSummary> for StreamLine<'a> {
    fn from(summary: &'a StreamSummary) -> Self {
        let counts = summary.rule_counts.iter().map(|(rule, count)| (rule.name(), *count));
        let (exit_status, signal) = match summary.exit_status {
            Some(ExitStatus::Code(code)) => (Some(code), None),
            Some(ExitStatus::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        Self {
            r#type: "stream",
            report_version: REPORT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            path: &summary.name,
            profile: &summary.profile,
            format: summary.format.name(),
            verdict: summary.verdict.name(),
            outcome: summary.outcome.name(),
            lines: summary.lines,
            events: summary.events,
            bytes: summary.bytes,
            sha256: summary.sha256.as_deref(),
            errors: summary.errors,
            warnings: summary.warnings,
            known: summary.known,
            rule_counts: counts.collect(),
            session_id: summary.session_id.as_deref(),
            tool_calls: &summary.tool_calls,
            tool_call_counts: summary.call_counts,
            exit_status,
            signal,
            stderr_tail: &summary.stderr,
            facts: &summary.facts,
            text_bytes: summary.text_bytes,
            unknown: &summary.unknown,
            stats: summary.stats.as_deref(),
            notes: summary.notes.iter().map(NoteObject::from).collect(),
        }
    }
}

impl From<&Note> for NoteObject {
    fn from(note: &Note) -> Self {
        let plain = Self { note: note.name(), message: note.to_string(), ..Self::default() };
        match note {
            Note::LimitReached(limit) => Self { limit: Some(limit.name()), ..plain },
            Note::Configured { file } => Self { file: Some(file.clone()), ..plain },
            Note::RulesOff { rules } | Note::RulesLowered { rules } => {
                Self { rules: rules.iter().map(|rule| rule.name()).collect(), ..plain }
            }
            _ => plain,
        }
    }
}

#[derive(Serialize)]
struct DiagnosticLine<'a> {
    r#type: &'a str,
    report_version: u8,
    path: &'a str,
    rule: &'a str,
    severity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    related_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keyword_location: Option<&'a str>,
}

#[derive(Serialize)]
struct StreamLine<'a> {
    r#type: &'a str,
    report_version: u8,
    tool_version: &'a str,
    path: &'a str,
    profile: &'a str,
    format: &'a str,
    verdict: &'a str,
    outcome: &'a str,
    lines: u64,
    events: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
    errors: u64,
    warnings: u64,
    #[serde(skip_serializing_if = "is_zero")]
    known: u64,
    rule_counts: BTreeMap<&'a str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    tool_calls: &'a [CallRow],
    tool_call_counts: CallCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<u8>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stderr_tail: &'a [String],
    #[serde(flatten)]
    facts: &'a RunFacts,
    text_bytes: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unknown: &'a [UnknownName],
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a RunStats>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<NoteObject>,
}

#[cfg(feature = "cli")]
#[derive(Serialize)]
struct DiffLine<'a> {
    r#type: &'a str,
    report_version: u8,
    tool_version: &'a str,
    differs: bool,
    is_clipped: bool,
    calls: &'a [ChangedItem],
    text: &'a [ChangedItem],
    unknown: &'a [ChangedItem],
    a: StreamLine<'a>,
    b: StreamLine<'a>,
}

#[derive(Default, Serialize)]
struct NoteObject {
    note: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rules: Vec<&'static str>,
    message: String,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    r#type: &'a str,
    report_version: u8,
    tool_version: &'a str,
    #[serde(flatten)]
    totals: &'a Totals,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a StatsTotals>,
    exit_code: u8,
}
