//! The report for programs: NDJSON, one object a line, version 1.
//!
//! Its shape is frozen here and described by `fixtures/report.schema.json` (`ndjson-check
//! schema report`); a change of it is a new version. A diagnostic is written when it is found, a stream
//! at its end, and the summary is the last line: a report without it is truncated.

use serde::Serialize;

use super::{Report, Target};
use crate::rules::diagnostic::Diagnostic;
use crate::check::producer_exit::Status;
use crate::error::Error;
use crate::facts::Usage;
use crate::rules::Severity;
use crate::check::summary::{RunSummary, StreamSummary};
use crate::rules::escape::escaped_json;

/// The JSON Schema of the report, one line.
pub const SCHEMA: &str = include_str!("../../../fixtures/report.schema.json");

const VERSION: u8 = 1;

/// Writes the report for programs.
pub struct Json {
    target: Target,
}

impl Json {
    /// Writes to this target.
    pub fn new(target: Target) -> Self {
        Self { target }
    }

    fn line(&mut self, object: &impl Serialize) -> Result<(), Error> {
        // Cannot fail: the objects hold nothing but strings, numbers and each other.
        let mut line = escaped_json(&serde_json::to_string(object).unwrap_or_default());
        line.push('\n');
        self.target.write(&line)
    }
}

impl Report for Json {
    fn diagnostic(
        &mut self,
        stream: &str,
        severity: Severity,
        diagnostic: &Diagnostic,
    ) -> Result<(), Error> {
        self.line(&DiagnosticLine {
            r#type: "diagnostic",
            version: VERSION,
            stream,
            rule: diagnostic.rule.name(),
            severity: severity.name(),
            line: diagnostic.line,
            offset: diagnostic.offset,
            message: &diagnostic.message,
            note: diagnostic.note.as_deref(),
            related_line: diagnostic.related_line,
            schema: diagnostic.location.as_ref().map(|it| it.schema.as_str()),
            instance_location: diagnostic.location.as_ref().map(|it| it.instance.as_str()),
            keyword_location: diagnostic.location.as_ref().map(|it| it.keyword.as_str()),
        })
    }

    fn stream(&mut self, summary: &StreamSummary) -> Result<(), Error> {
        let calls = summary.tool_calls.iter().map(|row| CallObject {
            id: &row.id,
            tool: row.tool.as_deref(),
            outcome: row.outcome.map_or("unfinished", |outcome| outcome.name()),
            started_line: row.started_line,
            completed_line: row.completed_line,
        });
        let rules = summary.rules.iter().map(|(rule, count)| (rule.name(), (*count).into()));
        let counts = summary.calls;
        self.line(&StreamLine {
            r#type: "stream",
            version: VERSION,
            stream: &summary.stream,
            profile: &summary.profile,
            format: summary.format.name(),
            verdict: summary.verdict.name(),
            outcome: summary.outcome.name(),
            lines: summary.lines,
            events: summary.events,
            bytes: summary.bytes,
            errors: summary.errors,
            warnings: summary.warnings,
            rules: rules.map(|(name, count)| (name.to_owned(), count)).collect(),
            session_id: summary.session_id.as_deref(),
            tool_calls: calls.collect(),
            tool_call_counts: CallCountsObject {
                total: counts.total,
                succeeded: counts.succeeded,
                failed: counts.failed,
                rejected: counts.rejected,
                denied: counts.denied,
                unknown: counts.unknown,
                unfinished: counts.unfinished,
            },
            exit_status: match summary.status {
                Some(Status::Code(code)) => Some(code),
                Some(Status::Signal(_)) | None => None,
            },
            signal: match summary.status {
                Some(Status::Signal(signal)) => Some(signal),
                Some(Status::Code(_)) | None => None,
            },
            stderr_tail: &summary.stderr,
            duration_ms: summary.duration_ms,
            usage: UsageObject::of(summary.usage),
            text_bytes: summary.text_bytes,
            notes: &summary.notes,
        })
    }

    fn summary(&mut self, summary: &RunSummary) -> Result<(), Error> {
        self.line(&SummaryLine {
            r#type: "summary",
            version: VERSION,
            streams: summary.streams,
            conforming: summary.conforming,
            non_conforming: summary.non_conforming,
            succeeded: summary.succeeded,
            failed: summary.failed,
            truncated: summary.truncated,
            timed_out: summary.timed_out,
            not_checked: summary.not_checked,
            errors: summary.errors,
            warnings: summary.warnings,
            exit_code: summary.exit_code(),
        })?;
        self.target.finish()
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.target.flush()
    }
}

#[derive(Serialize)]
struct DiagnosticLine<'a> {
    r#type: &'a str,
    version: u8,
    stream: &'a str,
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
    #[serde(rename = "instanceLocation", skip_serializing_if = "Option::is_none")]
    instance_location: Option<&'a str>,
    #[serde(rename = "keywordLocation", skip_serializing_if = "Option::is_none")]
    keyword_location: Option<&'a str>,
}

#[derive(Serialize)]
struct StreamLine<'a> {
    r#type: &'a str,
    version: u8,
    stream: &'a str,
    profile: &'a str,
    format: &'a str,
    verdict: &'a str,
    outcome: &'a str,
    lines: u64,
    events: u64,
    bytes: u64,
    errors: u64,
    warnings: u64,
    rules: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    tool_calls: Vec<CallObject<'a>>,
    tool_call_counts: CallCountsObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<u8>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stderr_tail: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageObject>,
    text_bytes: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
}

#[derive(Serialize)]
struct CallObject<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_line: Option<u64>,
}

#[derive(Serialize)]
struct CallCountsObject {
    total: u64,
    succeeded: u64,
    failed: u64,
    rejected: u64,
    denied: u64,
    unknown: u64,
    unfinished: u64,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "they are the names on the wire")]
struct UsageObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
}

impl UsageObject {
    fn of(usage: Usage) -> Option<Self> {
        (usage != Usage::default()).then_some(Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
        })
    }
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    r#type: &'a str,
    version: u8,
    streams: u64,
    conforming: u64,
    non_conforming: u64,
    succeeded: u64,
    failed: u64,
    truncated: u64,
    timed_out: u64,
    not_checked: u64,
    errors: u64,
    warnings: u64,
    exit_code: u8,
}
