//! Annotations of a GitHub workflow: commands that the runner finds in the log.
//!
//! The runner shows ten of each level for a step; the tenth here says how many more there are. They
//! come at the end, when that is known.

use std::fmt::Write as _;
use std::io;

use ndjson_check_core::{
    Diagnostic, Error, Outcome, Severity, StreamStart, StreamSummary, ToolCall, Verdict,
    escape::{clipped, visible},
};

use super::call_names::named;
use super::worst::SeverityCounts;
use super::{FileOf, FirstFindings, Headline, RunTotals, summary_text};
use crate::output::Output;

/// Annotations of one level in the log of a GitHub workflow, without the one that counts the
/// others. The runner shows ten for a step.
const ANNOTATIONS_MAX: usize = 9;

/// Longest message of an annotation, in bytes. The runner cuts it at 4,096 characters.
const ANNOTATION_BYTES_MAX: usize = 4_000;

const ANNOTATION_REASON_BYTES_MAX: usize = 1_000;

/// Writes the annotations.
pub struct Annotations {
    file_of: FileOf,
    stream: String,
    file: Option<String>,
    first: FirstFindings,
    found: Vec<Diagnostic>,
    /// Where the recording and the page of the run are.
    kept: Vec<String>,
    errors: LevelCommands,
    warnings: LevelCommands,
}

struct LevelCommands {
    command: &'static str,
    shown: Vec<String>,
    omitted: u64,
}

impl Annotations {
    /// Writes commands to the log of a workflow.
    pub fn new(file_of: FileOf) -> Self {
        let level = |command| LevelCommands { command, shown: Vec::new(), omitted: 0 };
        Self {
            file_of,
            stream: String::new(),
            file: None,
            first: FirstFindings::default(),
            found: Vec::new(),
            kept: Vec::new(),
            errors: level("error"),
            warnings: level("warning"),
        }
    }

    /// Says where the recording and the page of the run are, if there are annotations.
    #[must_use]
    pub fn kept(mut self, kept: Vec<String>) -> Self {
        self.kept = kept;
        self
    }

    /// Annotations for the findings of the stream. Those that are counted and were not observed are
    /// left out.
    fn close(&mut self, calls: &[ToolCall], counts: SeverityCounts, headline: Option<&Headline>) {
        let mut seen = SeverityCounts::default();
        for found in std::mem::take(&mut self.found) {
            seen.add(found.severity);
            let place = self.place(found.line);
            let note = match headline {
                Some(headline) => headline.note_of(&found),
                None => found.note.as_deref(),
            };
            let note = note.map(|note| format!(" ({note})"));
            let message = format!("{}{}", named(&found, calls), note.unwrap_or_default());
            let level = match found.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
            };
            level.add(place, found.rule.name(), &message);
        }
        let unseen = counts.without(seen);
        self.errors.omitted += unseen.errors;
        self.warnings.omitted += unseen.warnings;
    }

    /// The properties of an annotation for this place, and the text before its message: what is no
    /// file in the repository cannot be a property.
    fn place(&self, line: Option<u64>) -> (String, String) {
        match (&self.file, line) {
            (Some(file), Some(line)) => {
                (format!("file={},line={line},", property(file)), String::new())
            }
            (Some(file), None) => (format!("file={},", property(file)), String::new()),
            (None, Some(line)) => (String::new(), format!("{}:{line}: ", self.stream)),
            (None, None) => (String::new(), format!("{}: ", self.stream)),
        }
    }
}

impl LevelCommands {
    fn add(&mut self, (properties, place): (String, String), title: &str, message: &str) {
        if self.shown.len() == ANNOTATIONS_MAX {
            self.omitted += 1;
            return;
        }
        let (title, message) = (property(title), data(&format!("{place}{message}")));
        self.shown.push(format!("::{} {properties}title={title}::{message}\n", self.command));
    }

    fn text(&self) -> String {
        let mut text = self.shown.concat();
        if self.omitted > 0 {
            let (command, omitted) = (self.command, self.omitted);
            let _ = writeln!(text, "::{command} title=ndjson-check::and {omitted} more");
        }
        text
    }
}

impl Output for Annotations {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.stream = match start.name() {
            "-" => "standard input".to_owned(),
            name => visible(name).into_owned(),
        };
        self.file = (self.file_of)(start.name());
        self.first.begin();
        self.found.clear();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        self.first.add(diagnostic);
        self.found.push(diagnostic.clone());
    }

    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        let headline = Headline::new(summary, &self.first);
        let mut counts = SeverityCounts::of(summary);
        let over = summary.was_tried_again();
        if over {
            counts = counts.lowered();
            self.found.iter_mut().for_each(|found| found.severity = Severity::Warning);
        }
        self.close(&summary.tool_calls, counts, Some(&headline));
        let reasons = summary_text::reasons(summary);
        let is_explained = summary.verdict == Verdict::NonConforming && reasons.is_empty();
        // Otherwise the findings say why the step fails.
        if summary.outcome != Outcome::Succeeded && !is_explained {
            let more = summary_text::more_reasons(summary, &headline).into_iter();
            let clip =
                |it: String| clipped(&visible(&it), ANNOTATION_REASON_BYTES_MAX).into_owned();
            let more = more.map(clip);
            let message: Vec<String> = [headline.text()].into_iter().chain(more).collect();
            let place = self.place(None);
            let level = if over { &mut self.warnings } else { &mut self.errors };
            level.add(place, headline.reason, &message.join("; "));
        }
    }

    fn error(&mut self, message: &str, _: &mut String) {
        self.close(&[], SeverityCounts::default(), None);
        self.errors.add(<_>::default(), "ndjson-check", message);
    }

    fn end(&mut self, _: &RunTotals, _: u8, out: &mut String) -> io::Result<()> {
        let text = self.errors.text() + &self.warnings.text();
        out.push_str(&text);
        if !text.is_empty() && !self.kept.is_empty() {
            let kept = data(&self.kept.join("; "));
            let _ = writeln!(out, "::notice title=ndjson-check::{kept}");
        }
        Ok(())
    }
}

/// A message as the runner reads it. Nothing in it ends its line, or is a command of the older form
/// that begins anywhere in a line.
fn data(text: &str) -> String {
    let text = visible(text);
    let text = clipped(&text, ANNOTATION_BYTES_MAX);
    text.replace('%', "%25").replace("##", "\\u0023\\u0023")
}

/// The value of a property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
