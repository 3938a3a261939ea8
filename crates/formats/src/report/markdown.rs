//! The Markdown report: a comment on a pull request, or the summary of a job.
//!
//! Text from a stream cannot become markup, a mention or a link.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use ndjson_check_core::{
    CallOutcome, Diagnostic, Error, Note, Severity, StreamStart, StreamSummary, ToolCall, counted,
    escape::clipped,
};

use super::alike::{Alike, alike, causes, hidden, is_cause};
use super::bounded::worst;
use super::markdown_sections::{Sections, ShortStream, StreamClass};
use super::markdown_text::{cell, code, prose};
use super::stats::StatsTotals;
use super::worst::{SeverityCounts, WorstItems};
use super::{Answers, Headline, RunTotals, markdown_stats, page_url, stream_name, summary_text};
use crate::limits::MARKDOWN_BYTES_MAX;
use crate::output::Output;

/// Diagnostics of one stream, tools of one stream, and errors in a Markdown report.
const MARKDOWN_ROWS_MAX: usize = 20;

const MARKDOWN_LIST_BYTES_MAX: usize = 8_000;

/// Longest headline of a stream without a section, in bytes.
const SHORT_BYTES_MAX: usize = 120;

/// Longest name of a tool in a Markdown report, in bytes.
const MARKDOWN_NAME_BYTES_MAX: usize = 60;

/// The first line of a comment, by which a script finds it again.
const MARKER: &str = "<!-- ndjson-check -->\n";

/// Writes the Markdown report.
#[derive(Default)]
pub struct Markdown {
    marker: &'static str,
    /// The name of the agent in the open stream, and what was found there.
    title: String,
    found: Vec<Diagnostic>,
    sections: Sections,
    answers: Answers,
    /// The headline of the last stream.
    last: String,
    /// What the section of the last stream has below its headline. Alone, its headline is the
    /// heading.
    last_body: String,
    stats: StatsTotals,
    errors: WorstItems<String>,
    error_count: u64,
}

impl Markdown {
    /// A comment, which begins with a marker.
    pub fn comment() -> Self {
        Self { marker: MARKER, ..Self::default() }
    }
}

/// `length` is that of the row, in bytes.
fn add<T>(rows: &mut WorstItems<T>, severity: Severity, length: usize, row: T) {
    // So that there are not too many short ones.
    let size = length.max(MARKDOWN_LIST_BYTES_MAX / MARKDOWN_ROWS_MAX);
    rows.add(MARKDOWN_LIST_BYTES_MAX, severity, size, row);
}

/// The list, if it has rows, with what is missing.
fn list(rows: WorstItems<String>, more: Option<String>) -> String {
    list_of(rows.into_items(), more)
}

fn list_of(rows: impl Iterator<Item = String>, more: Option<String>) -> String {
    let more = more.map(|more| format!("and {more}"));
    let mut text = String::new();
    for row in rows.chain(more) {
        let _ = writeln!(text, "- {row}");
    }
    if text.is_empty() { text } else { text + "\n" }
}

impl Output for Markdown {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        start.title().clone_into(&mut self.title);
        self.found.clear();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        self.found.push(diagnostic.clone());
    }

    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        let headline = Headline::new(summary, &self.found.as_slice().into());
        self.answers.add(&headline);
        self.last = format!("{} {}", headline.mark(), prose(&headline.text()));
        let name = code(&stream_name(&summary.name));
        let mut section = format!("{}\n\n", self.figures(summary, &headline));
        if let Some(error) = &summary.facts.error_text
            && !headline.says(error)
        {
            let _ = writeln!(section, "The agent: {}\n", prose(error));
        }
        section += &notes(summary, &headline);
        if let Some(stats) = &summary.stats {
            section += &markdown_stats::of_stream(summary, stats);
            self.stats.add(&summary.into());
        } else if !summary.tool_calls.is_empty() {
            section += &tools(&summary.tool_calls);
            let more = summary.call_counts.total.saturating_sub(summary.tool_calls.len() as u64);
            if more > 0 {
                let more = counted(more, "more tool call");
                let _ = writeln!(section, "{more} not counted here; failed ones are first.\n");
            }
        }
        let found = std::mem::take(&mut self.found);
        let mut shown = causes(&found, &headline);
        shown.sort_by_key(|found| std::cmp::Reverse(found.severity));
        let (rows, counts) = rows(&shown, &headline, &summary.tool_calls);
        let hidden = hidden(found.len() - shown.len(), &headline);
        let others = found.iter().filter(|it| !is_cause(it, &headline));
        // Those of a rule that has too many are counted, and not observed.
        let found = SeverityCounts::of(summary);
        let more = found.without(counts).without(others.collect()).more();
        let class = if !summary.passed() && !summary.was_tried_again() {
            StreamClass::Bad
        } else if found != SeverityCounts::default() || summary.was_tried_again() {
            StreamClass::Warned
        } else {
            StreamClass::Good
        };
        section += &list_of(rows.into_iter(), more);
        if let Some(hidden) = hidden {
            let _ = writeln!(section, "{hidden}\n");
        }
        self.last_body = format!("{name} · {section}");
        let section = format!("### {name}\n\n{}\n\n{section}", self.last);
        let sentence = headline.text();
        let short = prose(&clipped(&sentence, SHORT_BYTES_MAX));
        let text = format!("- {name}: {} {short}\n", headline.mark());
        let brief = format!("- {name}: {} {}\n", headline.mark(), headline.group);
        let line = ShortStream { text, brief, sentence, kind: headline.group };
        self.sections.add(class, section, line);
    }

    fn error(&mut self, message: &str, _: &mut String) {
        self.error_count += 1;
        let row = format!("error: {}", prose(message));
        add(&mut self.errors, Severity::Error, row.len(), row);
    }

    fn end(&mut self, totals: &RunTotals, exit_code: u8, out: &mut String) -> io::Result<()> {
        let is_single = totals.streams == 1 && totals.not_checked == 0 && totals.stale == 0;
        let found = summary_text::found(totals);
        let sum = || format!("{}{found}", self.answers.text(totals));
        let heading = if is_single { self.last.clone() } else { sum() };
        let mut text = format!("{}## {heading}\n\n", self.marker);
        let errors = std::mem::take(&mut self.errors);
        let more = SeverityCounts { errors: self.error_count, warnings: 0 };
        let more = more.without(errors.counts()).more();
        text += &list(errors, more);
        text += &markdown_stats::of_all(&self.stats);
        let room = (MARKDOWN_BYTES_MAX - 100).saturating_sub(text.len());
        let sections = std::mem::take(&mut self.sections);
        let body = std::mem::take(&mut self.last_body);
        text += &if is_single && body.len() <= room { body } else { sections.text(room) };
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(text, "ndjson-check {version}, exit code {exit_code}");
        out.push_str(&text);
        Ok(())
    }

    fn shows_exit_code(&self) -> bool {
        true
    }
}

impl Markdown {
    fn figures(&self, summary: &StreamSummary, headline: &Headline) -> String {
        if headline.is_foreign() {
            return summary_text::events(summary);
        }
        let names = summary_text::names(&self.title, summary).into_iter().map(|name| prose(&name));
        // A cost begins with a sign that could begin a formula.
        let numbers = summary_text::numbers(summary).into_iter();
        let numbers = numbers.map(|number| unbroken(&number).replace('$', "\\$"));
        names.chain(numbers).collect::<Vec<_>>().join(" · ")
    }
}

/// Rows for findings, alike ones as one, and how many findings they are about.
fn rows(
    found: &[&Diagnostic],
    headline: &Headline,
    calls: &[ToolCall],
) -> (Vec<String>, SeverityCounts) {
    let mut rows = WorstItems::default();
    for it in alike(found.iter().copied(), calls) {
        let (severity, row) = (it.first.severity, row(&it, headline));
        add(&mut rows, severity, row.len(), (severity, it.count, row));
    }
    let mut counts = SeverityCounts::default();
    let rows = rows.into_items().map(|(severity, count, row)| {
        (0..count).for_each(|_| counts.add(severity));
        row
    });
    (rows.collect(), counts)
}

fn row(alike: &Alike<'_>, headline: &Headline) -> String {
    let (severity, rule) = (alike.first.severity.name(), alike.first.rule);
    let mut row = format!("{severity} [{rule}]({})", page_url(rule));
    let place = alike.place();
    if !place.is_empty() {
        let _ = write!(row, ", {place}");
    }
    let _ = write!(row, ": {}", prose(&alike.message()));
    if let Some(note) = headline.note_of(alike.first) {
        let _ = write!(row, " ({})", prose(&note));
    }
    row
}

/// With groups of digits that stay on one line.
fn unbroken(numbers: &str) -> String {
    let mut text = String::with_capacity(numbers.len());
    let mut characters = numbers.chars().peekable();
    while let Some(character) = characters.next() {
        let is_group = character == ' '
            && text.ends_with(|it: char| it.is_ascii_digit())
            && characters.peek().is_some_and(char::is_ascii_digit);
        text.push(if is_group { '\u{a0}' } else { character });
    }
    text
}

/// What the human report shows of a stream besides its findings.
fn notes(summary: &StreamSummary, headline: &Headline) -> String {
    let mut rows = WorstItems::default();
    let mut count = 0;
    let mut row = |text: String| {
        count += 1;
        add(&mut rows, Severity::Warning, text.len(), text);
    };
    for line in summary.stderr.iter().filter(|line| !headline.says(line)) {
        row(format!("stderr: {}", code(line)));
    }
    for note in summary_text::news(summary, headline) {
        let text = note.to_string();
        // The list of findings says how many are missing there.
        if !matches!(note, Note::DiagnosticsOmitted { .. }) && !headline.says(&text) {
            row(format!("note: {}", prose(&text)));
        }
    }
    let omitted = count - rows.counts().warnings;
    list(rows, (omitted > 0).then(|| format!("{omitted} more")))
}

/// A table of the calls of each tool, the most frequent tool first.
fn tools(calls: &[ToolCall]) -> String {
    let mut tools: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    for call in calls {
        let counts = tools.entry(call.tool.as_deref().unwrap_or_default()).or_default();
        counts[0] += 1;
        match call.outcome {
            Some(CallOutcome::Succeeded | CallOutcome::Unknown) => {}
            Some(CallOutcome::Failed) => counts[1] += 1,
            Some(CallOutcome::Rejected | CallOutcome::Denied) => counts[2] += 1,
            None => counts[3] += 1,
        }
    }
    let mut rows: Vec<_> = tools.into_iter().collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts[0]));
    let omitted = rows.len().saturating_sub(MARKDOWN_ROWS_MAX);
    let rows = worst(rows, MARKDOWN_ROWS_MAX, |(_, counts)| counts[1..] != [0; 3]);
    let heads = ["calls", "failed", "refused", "unfinished"];
    // Zeros say nothing.
    let is_shown = |column: &usize| *column == 0 || rows.iter().any(|row| row.1[*column] > 0);
    let columns: Vec<usize> = (0..heads.len()).filter(is_shown).collect();
    let head: Vec<&str> = columns.iter().map(|column| heads[*column]).collect();
    let mut table =
        format!("| tool | {} |\n|---|{}\n", head.join(" | "), "---:|".repeat(columns.len()));
    for (tool, counts) in &rows {
        let tool = clipped(tool, MARKDOWN_NAME_BYTES_MAX);
        let tool = if tool.is_empty() { "no name".to_owned() } else { cell(&tool) };
        let _ = write!(table, "| {tool} |");
        for column in &columns {
            let _ = match counts[*column] {
                0 => write!(table, " |"),
                count => write!(table, " {count} |"),
            };
        }
        table.push('\n');
    }
    if omitted > 0 {
        let _ = writeln!(table, "| and {omitted} more |{}", " |".repeat(columns.len()));
    }
    table + "\n"
}
