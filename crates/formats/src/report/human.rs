//! The human report: one line for each defect, one line for each stream.

use std::fmt::Write as _;
use std::io;

use ndjson_check_core::{
    Diagnostic, Error, Note, Outcome, RunStats, SchemaLocation, Severity, StreamStart,
    StreamSummary, Verdict, escape::visible,
};

use super::stats::StatsTotals;
use super::{RunTotals, stats_text, summary_text};
use crate::output::Output;

/// Writes the human report.
#[derive(Default)]
pub struct HumanReport {
    name: String,
    stats: StatsTotals,
    /// The figures of the last stream.
    last_stats: Option<Box<RunStats>>,
    /// What has been said about the check, and is not repeated for each stream.
    said: Vec<Note>,
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

impl HumanReport {
    /// Writes with colour, or without.
    pub fn new(has_color: bool) -> Self {
        Self { has_color, ..Self::default() }
    }

    fn paint(&self, style: Style, text: &str) -> String {
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
}

impl Output for HumanReport {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.name = visible(start.name()).into_owned();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &mut String) {
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
        out.push_str(&text);
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
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
        for note in summary.notes.iter().filter(|note| !self.said.contains(note)) {
            let _ = writeln!(text, "{name} note: {note}");
        }
        self.said = summary.notes.iter().filter(|note| note.is_of_check()).cloned().collect();
        let style = match summary.verdict {
            Verdict::Conforming => Style::Good,
            Verdict::NonConforming => Style::Bad,
        };
        let verdict = self.paint(style, summary.verdict.name());
        let style = match summary.outcome {
            Outcome::Succeeded => Style::Good,
            _ => Style::Bad,
        };
        let outcome = self.paint(style, &summary_text::outcome(summary));
        let (profile, numbers) =
            (visible(&summary.profile), summary_text::numbers(summary).join(", "));
        let _ = writeln!(text, "{name} {verdict}, {outcome}: profile {profile}, {numbers}");
        if let Some(stats) = &summary.stats {
            let _ = writeln!(text, "{name} stats: {}", stats_text::row(summary, stats));
            self.stats.add(&summary.into());
            self.last_stats = Some(stats.clone());
        }
        out.push_str(&text);
    }

    fn end(&mut self, totals: &RunTotals, _: u8, out: &mut String) -> io::Result<()> {
        let single = self.last_stats.as_deref().filter(|_| self.stats.sum.streams == 1);
        out.push_str(&stats_text::block(&self.stats, single));
        if totals.streams + totals.not_checked >= 2 {
            let _ = writeln!(out, "{}", summary_text::sum(totals));
        }
        Ok(())
    }
}

/// Where an event fails which part of a schema.
fn described(location: &SchemaLocation) -> String {
    let place = if location.instance.is_empty() { "the event" } else { &location.instance };
    let keyword = if location.keyword.is_empty() { "" } else { ", " };
    let keyword = format!("{keyword}{}", visible(&location.keyword));
    format!("at {}; schema {}{keyword}", visible(place), visible(&location.schema))
}
