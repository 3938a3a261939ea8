//! Annotations of a GitHub workflow: commands that the runner finds in the log.
//!
//! The runner shows ten of each level for a step; the tenth here says how many more there are. They
//! come at the end, when that is known.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use ndjson_check_core::{
    Diagnostic, Error, Outcome, Rule, Severity, StreamStart, StreamSummary, ToolCall,
    escape::{clipped, visible},
};

use super::alike::{alike, causes};
use super::call_names::noted;
use super::headline::SEVERAL_RUNS;
use super::worst::SeverityCounts;
use super::{FileOf, Headline, RunTotals, stream_name, summary_text};
use crate::output::Output;

/// Annotations of one level in the log of a GitHub workflow, without the one that counts the
/// others. The runner shows ten for a step.
const ANNOTATIONS_MAX: usize = 9;

/// Longest message of an annotation, in bytes. The runner cuts it at 4,096 characters.
const ANNOTATION_BYTES_MAX: usize = 4_000;

const ANNOTATION_REASON_BYTES_MAX: usize = 1_000;

const NOT_CHECKED: &str = "not checked";

/// Writes the annotations.
pub struct Annotations {
    file_of: FileOf,
    stream: String,
    file: Option<String>,
    found: Vec<Diagnostic>,
    /// Where the recording and the page of the run are.
    kept: Box<dyn Fn() -> Vec<String>>,
    errors: LevelCommands,
    warnings: LevelCommands,
}

/// One annotation of each reason comes first, then one of each stream, so that none hides another.
struct LevelCommands {
    command: &'static str,
    reasons: BTreeSet<&'static str>,
    /// By how early they come.
    kept: [Vec<String>; 3],
    omitted: u64,
}

impl Annotations {
    /// Writes commands to the log of a workflow.
    pub fn new(file_of: FileOf) -> Self {
        let level = |command| {
            let (reasons, kept) = (BTreeSet::new(), <_>::default());
            LevelCommands { command, reasons, kept, omitted: 0 }
        };
        Self {
            file_of,
            stream: String::new(),
            file: None,
            found: Vec::new(),
            kept: Box::new(Vec::new),
            errors: level("error"),
            warnings: level("warning"),
        }
    }

    /// Says where the recording and the page of the run are, if there are annotations. It is asked
    /// at the end.
    #[must_use]
    pub fn kept(mut self, kept: impl Fn() -> Vec<String> + 'static) -> Self {
        self.kept = Box::new(kept);
        self
    }

    /// Annotations for the findings of the stream, alike ones as one. `first` is how the run ended,
    /// if the stream has no annotation yet; `sentence` says it in place of the finding that is the
    /// same. Those that are counted and were not observed are left out.
    fn close(
        &mut self,
        calls: &[ToolCall],
        counts: SeverityCounts,
        headline: Option<&Headline>,
        mut first: Option<&'static str>,
        sentence: Option<&str>,
    ) {
        let mut seen = SeverityCounts::default();
        let found = std::mem::take(&mut self.found);
        for it in &found {
            seen.add(it.severity);
        }
        let shown = match headline {
            Some(headline) => causes(&found, headline),
            None => found.iter().collect(),
        };
        for it in alike(shown.into_iter(), calls) {
            let is_said = headline.is_some_and(|headline| headline.says_all_of(it.first.rule));
            let sentence = sentence.filter(|_| is_said);
            let note = match headline {
                Some(headline) => headline.note_of(it.first),
                None => noted(it.first),
            };
            let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
            let lines =
                if it.lines.len() > 1 { format!("{}: ", it.place()) } else { String::new() };
            let said = sentence.map_or_else(|| it.message(), str::to_owned);
            let message = format!("{lines}{said}{note}");
            let place = self.place(it.first.line);
            let level = match it.first.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
            };
            let is_of_error = it.first.severity == Severity::Error || counts.errors == 0;
            let first = if is_of_error { first.take() } else { None };
            level.add(first, place, it.first.rule.name(), &message);
        }
        let unseen = counts.without(seen);
        self.errors.omitted += unseen.errors;
        self.warnings.omitted += unseen.warnings;
    }

    /// The properties of an annotation for this place, and the text before its message: only a file
    /// in the repository can be a property.
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
    fn add(
        &mut self,
        first: Option<&'static str>,
        (properties, place): (String, String),
        title: &str,
        message: &str,
    ) {
        let tier = match first {
            Some(reason) if self.reasons.insert(reason) => 0,
            Some(_) => 1,
            None => 2,
        };
        let kept = &mut self.kept[tier];
        if kept.len() == ANNOTATIONS_MAX {
            self.omitted += 1;
            return;
        }
        let (title, message) = (property(title), data(&format!("{place}{message}")));
        kept.push(format!("::{} {properties}title={title}::{message}\n", self.command));
    }

    fn text(&self) -> String {
        let kept: Vec<&str> = self.kept.iter().flatten().map(String::as_str).collect();
        let shown = &kept[..kept.len().min(ANNOTATIONS_MAX)];
        let omitted = self.omitted + (kept.len() - shown.len()) as u64;
        let mut text = shown.concat();
        if omitted > 0 {
            let command = self.command;
            let _ = writeln!(text, "::{command} title=ndjson-check::and {omitted} more");
        }
        text
    }
}

impl Output for Annotations {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.stream = visible(&stream_name(start.name())).into_owned();
        self.file = (self.file_of)(start.name());
        self.found.clear();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        self.found.push(diagnostic.clone());
    }

    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        let headline = Headline::of(summary, &self.found);
        let mut counts = SeverityCounts::of(summary);
        let over = summary.was_tried_again();
        if over {
            counts = counts.lowered();
            self.found.iter_mut().for_each(|found| found.severity = Severity::Warning);
        }
        let shown = causes(&self.found, &headline);
        let is_error = |it: &&Diagnostic| it.severity == Severity::Error || over;
        let errors = alike(shown.into_iter().filter(is_error), &summary.tool_calls);
        let first = errors.first();
        let says_all = first.is_some_and(|it| {
            it.first.rule == Rule::EmptyStream || headline.rest.ends_with(&it.message())
        });
        let is_said = first.is_some_and(|it| headline.rest.contains(&it.message()));
        let more = summary_text::more_reasons(summary, &headline);
        let is_one = summary.outcome == Outcome::Succeeded
            && (errors.len() == 1 || is_said)
            && headline.reason != SEVERAL_RUNS;
        let is_same = first.is_some_and(|it| headline.says_all_of(it.first.rule));
        let has_headline = !(summary.passed() || is_one || is_same || says_all && more.is_empty());
        let clip = |it: String| clipped(&visible(&it), ANNOTATION_REASON_BYTES_MAX).into_owned();
        let message = [headline.text()].into_iter().chain(more.into_iter().map(clip));
        let message = message.collect::<Vec<String>>().join("; ");
        if has_headline {
            let place = self.place(None);
            let level = if over { &mut self.warnings } else { &mut self.errors };
            level.add(Some(headline.group), place, headline.reason, &message);
        }
        let first = (!has_headline).then_some(headline.group);
        let sentence = is_same.then_some(message.as_str());
        self.close(&summary.tool_calls, counts, Some(&headline), first, sentence);
    }

    fn error(&mut self, message: &str, _: &mut String) {
        self.close(&[], SeverityCounts::default(), None, None, None);
        self.errors.add(Some(NOT_CHECKED), <_>::default(), "ndjson-check", message);
    }

    fn end(&mut self, _: &RunTotals, _: u8, out: &mut String) -> io::Result<()> {
        let text = self.errors.text() + &self.warnings.text();
        out.push_str(&text);
        let kept = if text.is_empty() { Vec::new() } else { (self.kept)() };
        if !kept.is_empty() {
            let kept = data(&kept.join("; "));
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
