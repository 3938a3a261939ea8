//! The report for people: one line a defect, one line a stream.

use std::fmt::Write as _;

use owo_colors::{OwoColorize as _, Style};

use super::{Report, Target};
use crate::rules::diagnostic::Diagnostic;
use crate::check::producer_exit::Status;
use crate::error::Error;
use crate::facts::Usage;
use crate::rules::Severity;
use crate::check::summary::{RunSummary, StreamSummary};
use crate::check::verdict::{Outcome, Verdict};
use crate::rules::escape::visible;

/// Writes the report for people.
pub struct Human {
    target: Target,
    styles: Styles,
}

/// How the parts of a line look; nothing but plain text where colour is not wanted.
#[derive(Default)]
struct Styles {
    name: Style,
    good: Style,
    bad: Style,
    warning: Style,
    quiet: Style,
}

impl Human {
    /// Writes to this target, with colour or without.
    pub fn new(target: Target, colour: bool) -> Self {
        let styles = if colour {
            Styles {
                name: Style::new().bold(),
                good: Style::new().green().bold(),
                bad: Style::new().red().bold(),
                warning: Style::new().yellow().bold(),
                quiet: Style::new().dimmed(),
            }
        } else {
            Styles::default()
        };
        Self { target, styles }
    }
}

impl Report for Human {
    fn diagnostic(
        &mut self,
        stream: &str,
        severity: Severity,
        diagnostic: &Diagnostic,
    ) -> Result<(), Error> {
        let place = match diagnostic.line {
            Some(line) => format!("{}:{line}:", visible(stream)),
            None => format!("{}:", visible(stream)),
        };
        let style = match severity {
            Severity::Error => self.styles.bad,
            Severity::Warning => self.styles.warning,
        };
        let kind = format!("{}[{}]", severity.name(), diagnostic.rule);
        let mut text = format!(
            "{} {}: {}\n",
            place.style(self.styles.name),
            kind.style(style),
            diagnostic.message
        );
        let note = [
            diagnostic.location.as_ref().map(|location| {
                let place =
                    if location.instance.is_empty() { "the event" } else { &location.instance };
                let keyword = if location.keyword.is_empty() { "all" } else { &location.keyword };
                format!(
                    "at {}, by {} of the schema {}",
                    visible(place),
                    visible(keyword),
                    visible(&location.schema)
                )
            }),
            diagnostic.note.clone(),
            diagnostic.related_line.map(|line| format!("see line {line}")),
        ];
        let note: Vec<String> = note.into_iter().flatten().collect();
        if !note.is_empty() {
            let note = format!("    note: {}", note.join("; "));
            let _ = writeln!(text, "{}", note.style(self.styles.quiet));
        }
        self.target.write(&text)
    }

    fn stream(&mut self, summary: &StreamSummary) -> Result<(), Error> {
        let mut text = String::new();
        let name = format!("{}:", visible(&summary.stream));
        for line in &summary.stderr {
            let line = format!("stderr: {}", visible(line));
            let _ = writeln!(
                text,
                "{} {}",
                name.style(self.styles.name),
                line.style(self.styles.quiet)
            );
        }
        for note in &summary.notes {
            let _ = writeln!(text, "{} note: {note}", name.style(self.styles.name));
        }
        let verdict = match summary.verdict {
            Verdict::Conforming => self.styles.good,
            Verdict::NonConforming => self.styles.bad,
        };
        let outcome = match summary.outcome {
            Outcome::Succeeded => self.styles.good,
            Outcome::Failed | Outcome::Truncated | Outcome::TimedOut => self.styles.bad,
        };
        let _ = writeln!(
            text,
            "{} {}, {}: {}",
            name.style(self.styles.name),
            summary.verdict.name().style(verdict),
            summary.outcome.name().style(outcome),
            figures(summary).join(", ")
        );
        self.target.write(&text)
    }

    fn summary(&mut self, summary: &RunSummary) -> Result<(), Error> {
        if summary.streams + summary.not_checked > 1 {
            let verdicts = [
                (summary.conforming, "conforming"),
                (summary.non_conforming, "non-conforming"),
                (summary.not_checked, "not checked"),
            ];
            let outcomes = [
                (summary.succeeded, "succeeded"),
                (summary.failed, "failed"),
                (summary.truncated, "truncated"),
                (summary.timed_out, "timed out"),
            ];
            let found = format!(
                "{}, {}",
                counted(summary.errors, "error"),
                counted(summary.warnings, "warning"),
            );
            let mut parts = vec![joined(&verdicts), joined(&outcomes), found];
            parts.retain(|part| !part.is_empty());
            let streams = counted(summary.streams + summary.not_checked, "stream");
            let text = format!("{streams}: {}\n", parts.join("; "));
            self.target.write(&text)?;
        }
        self.target.finish()
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.target.flush()
    }
}

/// The numbers of one stream that are worth a person's glance.
fn figures(summary: &StreamSummary) -> Vec<String> {
    let mut figures = vec![format!("profile {}", visible(&summary.profile))];
    for (count, what) in [(summary.errors, "error"), (summary.warnings, "warning")] {
        if count > 0 {
            figures.push(counted(count, what));
        }
    }
    figures.push(counted(summary.events, "event"));
    let calls = summary.calls;
    if calls.total > 0 {
        let others = [
            (calls.failed, "failed"),
            (calls.rejected, "rejected"),
            (calls.denied, "denied"),
            (calls.unfinished, "unfinished"),
        ];
        let others = joined(&others);
        let others = if others.is_empty() { others } else { format!(" ({others})") };
        figures.push(format!("{}{others}", counted(calls.total, "tool call")));
    }
    match summary.status {
        Some(Status::Code(code)) => figures.push(format!("exit status {code}")),
        Some(Status::Signal(signal)) => figures.push(format!("signal {signal}")),
        None => {}
    }
    if let Some(ms) = summary.duration_ms {
        figures.push(format!("{}.{} s", ms / 1_000, ms % 1_000 / 100));
    }
    let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } =
        summary.usage;
    if let Some(output) = output_tokens {
        let input = [input_tokens, cache_read_tokens, cache_write_tokens];
        let input: u64 = input.into_iter().flatten().fold(0, u64::saturating_add);
        figures.push(format!("{input} tokens in, {output} out"));
    }
    figures
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The counts that are not zero.
fn joined(counts: &[(u64, &str)]) -> String {
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}
