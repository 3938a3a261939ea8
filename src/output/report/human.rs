//! The human report: one line for each defect, one line for each stream.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Sink, Totals};
use crate::check::{Observer, Outcome, StreamStart, StreamSummary, Verdict, counted};
use crate::error::Error;
use crate::profile::{ExitStatus, Reason};
use crate::rules::Severity;
use crate::rules::diagnostic::{Diagnostic, SchemaLocation};
use crate::rules::escape::visible;

/// Writes the human report.
pub struct Human<W> {
    name: String,
    sink: Sink<W>,
    has_color: bool,
}

/// How a part of a line looks.
#[derive(Clone, Copy)]
enum Style {
    Name,
    Good,
    Bad,
    Warning,
    Quiet,
}

impl<W: Write> Human<W> {
    /// Writes without colour.
    pub fn new(writer: W) -> Self {
        Self { name: String::new(), sink: Sink::new(writer), has_color: false }
    }

    /// Writes with colour, or without.
    #[cfg(feature = "cli")]
    pub(crate) fn with_color(writer: W, has_color: bool) -> Self {
        Self { has_color, ..Self::new(writer) }
    }

    fn paint(&self, style: Style, text: &str) -> String {
        #[cfg(feature = "cli")]
        if self.has_color {
            use owo_colors::OwoColorize as _;
            return match style {
                Style::Name => text.bold().to_string(),
                Style::Good => text.green().bold().to_string(),
                Style::Bad => text.red().bold().to_string(),
                Style::Warning => text.yellow().bold().to_string(),
                Style::Quiet => text.dimmed().to_string(),
            };
        }
        let _ = (style, self.has_color);
        text.to_owned()
    }

    /// Writes the sum of all streams, if there are several.
    pub fn totals(&mut self, totals: &Totals) {
        if totals.streams + totals.not_checked < 2 {
            return;
        }
        let verdicts = [
            (totals.conforming, "conforming"),
            (totals.non_conforming, "non-conforming"),
            (totals.not_checked, "not checked"),
        ];
        let outcomes = [
            (totals.succeeded, "succeeded"),
            (totals.failed, "failed"),
            (totals.truncated, "truncated"),
            (totals.timed_out, "timed out"),
        ];
        let found =
            format!("{}, {}", counted(totals.errors, "error"), counted(totals.warnings, "warning"));
        let mut parts = vec![listed(&verdicts), listed(&outcomes), found];
        parts.retain(|part| !part.is_empty());
        let streams = counted(totals.streams + totals.not_checked, "stream");
        self.sink.write(&format!("{streams}: {}\n", parts.join("; ")));
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
}

impl<W: Write> Observer for Human<W> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.name = visible(start.name()).into_owned();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let place = match diagnostic.line {
            Some(line) => format!("{}:{line}:", self.name),
            None => format!("{}:", self.name),
        };
        let style = match diagnostic.severity {
            Severity::Error => Style::Bad,
            Severity::Warning => Style::Warning,
        };
        let kind = format!("{}[{}]", diagnostic.severity.name(), diagnostic.rule);
        let (place, kind) = (self.paint(Style::Name, &place), self.paint(style, &kind));
        let mut text = format!("{place} {kind}: {}\n", diagnostic.message);
        let notes = [
            diagnostic.location.as_ref().map(described),
            diagnostic.note.clone(),
            diagnostic.related_line.map(|line| format!("see line {line}")),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        if !notes.is_empty() {
            let notes = format!("    note: {}", notes.join("; "));
            let _ = writeln!(text, "{}", self.paint(Style::Quiet, &notes));
        }
        self.sink.write(&text);
    }

    fn summary(&mut self, summary: &StreamSummary) {
        let mut text = String::new();
        let name = self.paint(Style::Name, &format!("{}:", self.name));
        for line in &summary.stderr {
            let line = self.paint(Style::Quiet, &format!("stderr: {}", visible(line)));
            let _ = writeln!(text, "{name} {line}");
        }
        if let Some(error) = &summary.facts.error_text {
            let error = self.paint(Style::Quiet, &format!("agent: {}", visible(error)));
            let _ = writeln!(text, "{name} {error}");
        }
        for note in &summary.notes {
            let _ = writeln!(text, "{name} note: {note}");
        }
        let style = match summary.verdict {
            Verdict::Conforming => Style::Good,
            Verdict::NonConforming => Style::Bad,
        };
        let verdict = self.paint(style, summary.verdict.name());
        let style = match summary.outcome {
            Outcome::Succeeded => Style::Good,
            Outcome::Failed | Outcome::Truncated | Outcome::TimedOut => Style::Bad,
        };
        let reason = match (summary.outcome, summary.facts.reason) {
            (Outcome::Failed | Outcome::Truncated, Some(reason)) if reason != Reason::Unknown => {
                format!(" ({})", reason.name())
            }
            _ => String::new(),
        };
        let outcome = self.paint(style, &format!("{}{reason}", summary.outcome.name()));
        let figures = figures(summary).join(", ");
        let _ = writeln!(text, "{name} {verdict}, {outcome}: {figures}");
        self.sink.write(&text);
    }

    fn flush(&mut self) {
        self.sink.flush();
    }
}

/// Where an event fails which part of a schema.
fn described(location: &SchemaLocation) -> String {
    let place = if location.instance.is_empty() { "the event" } else { &location.instance };
    let keyword = if location.keyword.is_empty() { "" } else { ", " };
    let keyword = format!("{keyword}{}", visible(&location.keyword));
    format!("at {}; schema {}{keyword}", visible(place), visible(&location.schema))
}

/// The most useful numbers of one stream, in the same order for every agent.
fn figures(summary: &StreamSummary) -> Vec<String> {
    let mut figures = vec![format!("profile {}", visible(&summary.profile))];
    for (count, what) in [(summary.errors, "error"), (summary.warnings, "warning")] {
        if count > 0 {
            figures.push(counted(count, what));
        }
    }
    figures.push(counted(summary.events, "event"));
    let facts = &summary.facts;
    figures.extend(facts.turns.map(|turns| counted(turns, "turn")));
    let calls = summary.call_counts;
    if calls.total > 0 {
        let others = [
            (calls.failed, "failed"),
            (calls.rejected, "rejected"),
            (calls.denied, "denied"),
            (calls.unfinished, "unfinished"),
        ];
        figures.push(format!("{}{}", counted(calls.total, "tool call"), aside(listed(&others))));
    }
    match summary.exit_status {
        Some(ExitStatus::Code(code)) => figures.push(format!("exit status {code}")),
        Some(ExitStatus::Signal(signal)) => figures.push(format!("signal {signal}")),
        None => {}
    }
    figures.extend(facts.cost_usd.map(dollars));
    if let Some(tokens) = facts.usage.tokens_in() {
        let cached = facts.usage.cache_read_tokens.filter(|cached| *cached > 0);
        let cached = cached.map(|cached| format!("{} cached", grouped(cached)));
        figures.push(format!("{} tokens in{}", grouped(tokens), aside(cached.unwrap_or_default())));
    }
    if let Some(tokens) = facts.usage.output_tokens {
        let unit = if facts.usage.tokens_in().is_some() { "out" } else { "tokens out" };
        figures.push(format!("{} {unit}", grouped(tokens)));
    }
    figures.extend(facts.duration_ms.map(|ms| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)));
    figures
}

/// In parentheses, with a space before them; nothing for nothing.
fn aside(text: String) -> String {
    if text.is_empty() { text } else { format!(" ({text})") }
}

/// Cents, and more digits of what is less than ten cents.
fn dollars(cost: f64) -> String {
    if cost == 0.0 || cost >= 0.1 { format!("${cost:.2}") } else { format!("${cost:.4}") }
}

/// With a space between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(" ")
}

/// The counts that are not zero.
fn listed(counts: &[(u64, &str)]) -> String {
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}
