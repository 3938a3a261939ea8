//! Joins json reports, such as those of several machines.

mod sorted;

use std::fs::File;
use std::io::{self, BufRead, Read as _, Write};

use ndjson_check_core::LINE_BYTES_MAX;
use ndjson_check_core::counted;
use ndjson_check_core::escape::escaped_json;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::json::REPORT_VERSION;
use super::stats::StatsTotals;
use super::{JsonReport, RunTotals};
use crate::output::Output as _;
use sorted::{ReportStream, SortedStreams};

/// The json reports of several runs of the program. It does not matter in which order they are
/// added, nor whether some were joined before.
#[derive(Debug, Default)]
pub struct MergedReports {
    streams: SortedStreams,
    totals: RunTotals,
    /// Of the streams that have figures.
    stats: Option<StatsTotals>,
    exit_codes: Vec<u8>,
}

/// What is read of a line.
#[derive(Debug, Deserialize)]
struct ReportLine {
    r#type: ReportLineType,
    report_version: u8,
    path: Option<String>,
    stats: Option<IgnoredAny>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReportLineType {
    Diagnostic,
    Stream,
    Summary,
}

/// What is read of the last line.
#[derive(Debug, Deserialize)]
struct ReportSummary {
    #[serde(flatten)]
    totals: RunTotals,
    exit_code: u8,
}

impl MergedReports {
    /// The same; streams beyond some MiB wait in a file that `open` opens for reading and writing,
    /// so that memory does not grow with their number.
    #[must_use]
    pub fn spilling_to(mut self, open: fn() -> io::Result<File>) -> Self {
        self.streams.spilling_to(open);
        self
    }

    /// Adds a report.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and in which line; the reports are then incomplete.
    pub fn add(&mut self, mut report: impl BufRead) -> Result<(), String> {
        let mut open: Option<ReportStream> = None;
        let (mut summary, mut streams): (Option<ReportSummary>, _) = (None, 0);
        for number in 1.. {
            let text = read_text(&mut report).map_err(|error| format!("line {number}: {error}"))?;
            let Some(text) = text else { break };
            if summary.is_some() {
                return Err(format!("line {number}: it comes after the last line of a report"));
            }
            let line = read_line(&text).map_err(|error| format!("line {number}: {error}"))?;
            match (line.r#type, line.path) {
                (ReportLineType::Summary, _) => summary = Some(read_summary(&text, number)?),
                (_, None) => return Err(format!("line {number}: it has no path")),
                (kind, Some(path)) => {
                    let is_next = open.as_ref().is_some_and(|stream| stream.path != path);
                    self.keep(open.take_if(|_| is_next))?;
                    streams += u64::from(kind == ReportLineType::Stream);
                    if kind == ReportLineType::Stream && line.stats.is_some() {
                        self.add_stats(&text, number)?;
                    }
                    let new = ReportStream { path, lines: Vec::new() };
                    open.get_or_insert(new).lines.push(on_one_line(text));
                    self.keep(open.take_if(|_| kind == ReportLineType::Stream))?;
                }
            }
        }
        let summary = summary.ok_or("it is truncated: the last line is not a summary")?;
        if summary.totals.streams != streams {
            let said = counted(summary.totals.streams, "stream");
            return Err(format!("it has {streams} of the {said} that its last line counts"));
        }
        let RunTotals { non_conforming, failed, truncated, timed_out, .. } = summary.totals;
        if summary.exit_code == 0 && non_conforming + failed + truncated + timed_out > 0 {
            return Err(
                "its exit code is 0, but its last line counts streams that did not pass".into()
            );
        }
        self.keep(open)?;
        self.totals += summary.totals;
        self.exit_codes.push(summary.exit_code);
        Ok(())
    }

    fn keep(&mut self, stream: Option<ReportStream>) -> Result<(), String> {
        let kept = stream.map_or(Ok(()), |stream| self.streams.push(stream));
        kept.map_err(|error| format!("no room for its streams in a temporary file: {error}"))
    }

    fn add_stats(&mut self, line: &str, number: u64) -> Result<(), String> {
        let stream = serde_json::from_str(line)
            .map_err(|error| format!("line {number}: {}", without_place(&error)))?;
        self.stats.get_or_insert_default().add(&stream);
        Ok(())
    }

    /// The exit codes of the reports.
    pub fn exit_codes(&self) -> &[u8] {
        &self.exit_codes
    }

    /// Writes one report: the streams by their paths, and the sum.
    ///
    /// # Errors
    ///
    /// The first failure to write, or to read the file with the streams.
    pub fn write(self, mut writer: impl Write, exit_code: u8) -> io::Result<()> {
        self.streams.each(|stream| {
            let mut lines = stream.lines.iter();
            lines.try_for_each(|line| writeln!(writer, "{}", escaped_json(line)))
        })?;
        let (mut report, mut end) = (JsonReport::default(), String::new());
        report.stats = self.stats;
        report.end(&self.totals, exit_code, &mut end)?;
        writer.write_all(end.as_bytes())?;
        writer.flush()
    }
}

/// The next line, without its end; none at the end of the report.
fn read_text(report: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    report.by_ref().take(LINE_BYTES_MAX).read_line(&mut text)?;
    if text.len() as u64 == LINE_BYTES_MAX {
        return Err(io::Error::other("the line is too long for a json report"));
    }
    let length = text.trim_end_matches(['\r', '\n']).len();
    let is_line = !text.is_empty();
    text.truncate(length);
    Ok(is_line.then_some(text))
}

/// The same with spaces for other white space, which is between tokens: it would be escaped as if
/// it were in a string.
fn on_one_line(text: String) -> String {
    if text.bytes().all(|byte| byte >= b' ') {
        text
    } else {
        text.replace(|it: char| it < ' ', " ")
    }
}

fn read_line(text: &str) -> Result<ReportLine, String> {
    let line: ReportLine = serde_json::from_str(text).map_err(|error| {
        if text.contains("\"report_version\"") {
            format!("not a line of a json report: {}", without_place(&error))
        } else {
            "this is not a json report: `merge` reads what `--report json` writes".to_owned()
        }
    })?;
    if line.report_version == REPORT_VERSION {
        Ok(line)
    } else {
        let version = line.report_version;
        Err(format!("report version {version}; this program knows version {REPORT_VERSION}"))
    }
}

fn read_summary(text: &str, number: u64) -> Result<ReportSummary, String> {
    serde_json::from_str(text).map_err(|error| format!("line {number}: {}", without_place(&error)))
}

/// The message without its line, which is 1 always.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}
