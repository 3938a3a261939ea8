//! The json report: NDJSON, one object on each line.
//!
//! Its format is described by `report.schema.json` (`ndjson-check schema report`); an incompatible
//! change is a new version. A diagnostic is written when it is found, a stream at its end, and the
//! summary is the last line: a report without it is truncated.

use std::io;

use ndjson_check_core::{Diagnostic, Error, StreamStart, StreamSummary, escape::escaped_json};
use serde::Serialize;

use super::stats::StatsTotals;
use super::summary_text::misleads;
use super::{FirstFindings, Headline, RunTotals};
use crate::output::Output;

/// The JSON Schema of the report.
pub const SCHEMA: &str = include_str!("../report.schema.json");

pub(super) const REPORT_VERSION: u8 = 1;

/// Writes the json report.
#[derive(Default)]
pub struct JsonReport {
    path: String,
    found: FirstFindings,
    pub(super) stats: Option<StatsTotals>,
}

impl Output for JsonReport {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        start.name().clone_into(&mut self.path);
        self.found.begin();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &mut String) {
        self.found.add(diagnostic);
        out.push_str(&line(&DiagnosticLine {
            r#type: "diagnostic",
            report_version: REPORT_VERSION,
            path: &self.path,
            diagnostic,
        }));
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
        if summary.stats.is_some() {
            self.stats.get_or_insert_default().add(&summary.into());
        }
        let headline = Headline::new(summary, &self.found);
        let (passed, text) = (headline.passed, headline.text());
        let answer = Some(StreamAnswer { passed, headline: text });
        let summary = &without_misleading_notes(summary, &headline);
        out.push_str(&line(&StreamLine { answer, ..summary.into() }));
    }

    fn end(&mut self, totals: &RunTotals, exit_code: u8, out: &mut String) -> io::Result<()> {
        let stats = self.stats.take();
        out.push_str(&line(&SummaryLine {
            r#type: "summary",
            report_version: REPORT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            totals,
            stats: stats.as_ref(),
            exit_code,
        }));
        Ok(())
    }

    fn shows_exit_code(&self) -> bool {
        true
    }
}

/// What is written of a stream: other facts may help, but no note is wrong.
fn without_misleading_notes(summary: &StreamSummary, headline: &Headline) -> StreamSummary {
    let mut shown = summary.clone();
    shown.notes.retain(|note| !misleads(note, headline));
    shown
}

fn line(object: &impl Serialize) -> String {
    // Cannot fail: the objects have nothing but strings, numbers and each other.
    let mut line = escaped_json(&serde_json::to_string(object).unwrap_or_default());
    line.push('\n');
    line
}

/// The comparison of two streams, as one line. The lists say what only the first stream has, with
/// `removed`, and what only the second one has.
pub(crate) fn diff_line(
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ChangedItem {
    pub change: Change,
    pub item: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Removed,
    Added,
}

impl<'a> From<&'a StreamSummary> for StreamLine<'a> {
    fn from(summary: &'a StreamSummary) -> Self {
        Self {
            r#type: "stream",
            report_version: REPORT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            answer: None,
            summary,
        }
    }
}

#[derive(Serialize)]
struct DiagnosticLine<'a> {
    r#type: &'a str,
    report_version: u8,
    path: &'a str,
    #[serde(flatten)]
    diagnostic: &'a Diagnostic,
}

#[derive(Serialize)]
struct StreamLine<'a> {
    r#type: &'a str,
    report_version: u8,
    tool_version: &'a str,
    #[serde(flatten)]
    answer: Option<StreamAnswer>,
    #[serde(flatten)]
    summary: &'a StreamSummary,
}

/// The answer about a stream in one sentence; a comparison of two streams lacks it.
#[derive(Serialize)]
struct StreamAnswer {
    passed: bool,
    headline: String,
}

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

#[derive(Serialize)]
struct SummaryLine<'a> {
    r#type: &'a str,
    report_version: u8,
    tool_version: &'a str,
    #[serde(flatten)]
    totals: &'a RunTotals,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a StatsTotals>,
    exit_code: u8,
}
