//! The human report: for each stream an answer in one sentence, what was found, and figures.
//!
//! It is written at the end: streams that do not pass come first, by their reasons, then those with
//! warnings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use ndjson_check_core::{
    Diagnostic, Error, Note, Rule, RunStats, Severity, StreamStart, StreamSummary, counted,
    escape::visible,
};

use super::headline::TRIED_AGAIN;
use super::human_stream::{Look, ShownStream, Style};
use super::stats::StatsTotals;
use super::{Answers, FirstFindings, Headline, RunTotals, stats_text, summary_text};
use crate::output::Output;

/// What is kept of the streams until the end, in bytes. Later ones are counted.
const HELD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Good streams that have a line each. More of them have one line in all.
const GOOD_SHOWN_MAX: usize = 10;

/// Streams that say the same and are shown whole, and those after them that are named.
const SAME_SHOWN_MAX: usize = 10;
const SAME_NAMED_MAX: usize = 50;

/// Writes the human report.
#[derive(Default)]
pub struct HumanReport {
    look: Look,
    columns: Option<fn() -> Option<usize>>,
    name: String,
    title: String,
    diagnostics: Vec<Diagnostic>,
    /// Notes about the check, which are the same for every stream.
    of_check: Vec<Note>,
    streams: EndedStreams,
    answers: Answers,
    stats: StatsTotals,
    last_stats: Option<Box<RunStats>>,
}

#[derive(Default)]
struct EndedStreams {
    /// By the reason why they do not pass.
    bad: BTreeMap<&'static str, SameReason>,
    warned: BTreeMap<&'static str, SameReason>,
    good: Vec<ShownStream>,
    /// Good ones that have no line.
    more_good: u64,
    /// What became of the streams that could not be checked to their end.
    broken_off: Vec<ShownStream>,
    held: usize,
}

/// Streams that ended in the same way.
#[derive(Default)]
struct SameReason {
    shown: Vec<ShownStream>,
    omitted: u64,
    /// The rule of the first error.
    broken_rule: Option<Rule>,
}

impl HumanReport {
    /// With colour, or without.
    pub fn new(has_color: bool) -> Self {
        Self { look: Look { has_color, ..Look::default() }, ..Self::default() }
    }

    /// Breaks lines between words so that they have at most so many columns.
    #[must_use]
    pub fn width(mut self, width: Option<usize>) -> Self {
        self.look.width = width;
        self
    }

    /// The same for a terminal whose width may change until the report is written.
    #[must_use]
    pub fn columns(mut self, columns: fn() -> Option<usize>) -> Self {
        self.columns = Some(columns);
        self
    }

    fn note(&mut self, summary: &StreamSummary) {
        for note in summary.notes.iter().filter(|note| note.is_of_check()) {
            if !self.of_check.contains(note) {
                self.of_check.push(note.clone());
            }
        }
    }
}

impl Output for HumanReport {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.name = visible(start.name()).into_owned();
        self.title = visible(start.title()).into_owned();
        self.diagnostics.clear();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        self.diagnostics.push(diagnostic.clone());
    }

    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        let headline = Headline::new(summary, &FirstFindings::from(&*self.diagnostics));
        self.note(summary);
        let diagnostics = std::mem::take(&mut self.diagnostics);
        let name = std::mem::take(&mut self.name);
        let shown = ShownStream::new(name, &self.title, summary, &headline, &diagnostics);
        self.answers.add(&headline);
        let is_error = |it: &&Diagnostic| it.severity == Severity::Error;
        let broken_rule = diagnostics.iter().find(is_error).map(|it| it.rule);
        self.streams.add(&headline, shown, broken_rule);
        if let Some(stats) = &summary.stats {
            self.stats.add(&summary.into());
            self.last_stats = Some(stats.clone());
        }
    }

    fn error(&mut self, message: &str, _: &mut String) {
        // The message itself is on standard error.
        let diagnostics = std::mem::take(&mut self.diagnostics);
        if !diagnostics.is_empty() {
            let name = std::mem::take(&mut self.name);
            self.streams.broken_off.push(ShownStream::broken_off(name, message, &diagnostics));
        }
    }

    fn end(&mut self, totals: &RunTotals, _: u8, out: &mut String) -> io::Result<()> {
        let is_single = totals.streams + totals.not_checked < 2;
        let width = self.columns.map_or(self.look.width, |columns| columns());
        let look = Look { names_stdin: !is_single, width, ..self.look };
        let streams = std::mem::take(&mut self.streams);
        let broken_rule = streams.broken_rule();
        let mut text = String::new();
        streams.write(look, &mut text);
        for note in std::mem::take(&mut self.of_check) {
            look.line(&look.paint(Style::Quiet, &format!("note: {note}")), 2, &mut text);
        }
        let single = self.last_stats.as_deref().filter(|_| is_single);
        text += &stats_text::block(&self.stats, single);
        if !is_single {
            let sum = format!("{}{}", self.answers.text(totals), summary_text::found(totals));
            look.line(&sum, 2, &mut text);
        }
        if let Some(rule) = broken_rule.filter(|_| look.width.is_some()) {
            let advice = format!("`ndjson-check rules {}` says what to do.", rule.name());
            look.line(&look.paint(Style::Quiet, &advice), 2, &mut text);
        }
        out.push_str(&text);
        Ok(())
    }
}

impl EndedStreams {
    fn add(&mut self, headline: &Headline, stream: ShownStream, broken_rule: Option<Rule>) {
        let has_room = self.held + stream.bytes() <= HELD_BYTES_MAX;
        if !headline.passed {
            let group = self.bad.entry(headline.group).or_default();
            group.broken_rule = group.broken_rule.or(broken_rule);
            if has_room {
                self.held += stream.bytes();
                group.shown.push(stream);
            } else {
                group.omitted += 1;
            }
        } else if stream.has_warnings() && has_room {
            self.held += stream.bytes();
            self.warned.entry(headline.group).or_default().shown.push(stream);
        } else if !stream.has_stats() && self.good.len() == GOOD_SHOWN_MAX {
            self.more_good += 1;
        } else {
            self.good.push(stream);
        }
    }

    /// The rule whose page a reader at a terminal is sent to: that of the most streams.
    fn broken_rule(&self) -> Option<Rule> {
        let groups = in_order(&self.bad).into_iter();
        let last = self.bad.get(TRIED_AGAIN);
        groups.map(|(_, group)| group).chain(last).find_map(|group| group.broken_rule)
    }

    fn write(mut self, look: Look, out: &mut String) {
        for stream in &self.broken_off {
            stream.write(look, out);
        }
        let tried = self.bad.remove(TRIED_AGAIN);
        for groups in [&self.bad, &self.warned] {
            for (reason, group) in in_order(groups) {
                group.write(reason, look, out);
            }
        }
        self.write_good(look, out);
        // What the last attempt led to comes before the other attempts.
        if let Some(group) = tried {
            group.write(TRIED_AGAIN, look, out);
        }
    }

    fn write_good(&self, look: Look, out: &mut String) {
        if self.more_good == 0 {
            self.good.iter().for_each(|stream| stream.write(look, out));
        } else {
            let count = self.good.len() as u64 + self.more_good;
            let mark = look.paint(Style::Good, "✓");
            look.line(&format!("{mark} {} succeeded", counted(count, "stream")), 2, out);
        }
    }
}

/// Those with the most streams first.
fn in_order<'g>(
    groups: &'g BTreeMap<&'static str, SameReason>,
) -> Vec<(&'static str, &'g SameReason)> {
    let mut groups: Vec<_> = groups.iter().map(|(reason, group)| (*reason, group)).collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.count()));
    groups
}

impl SameReason {
    fn write(&self, reason: &str, look: Look, out: &mut String) {
        if self.count() > 1 {
            let (style, mark) = self.shown.first().map_or((Style::Bad, '✗'), ShownStream::mark);
            let mark = look.paint(style, mark.encode_utf8(&mut [0; 4]));
            let reason = look.paint(style, reason);
            look.line(&format!("{mark} {} × {reason}", self.count()), 2, out);
            self.write_streams(look, out);
        } else {
            self.shown.iter().for_each(|stream| stream.write(look, out));
        }
        if self.omitted > 0 {
            look.line(&format!("    {} more", self.omitted), 4, out);
        }
    }

    /// Of many streams that say the same, most have only their names.
    fn write_streams(&self, look: Look, out: &mut String) {
        let (first, rest) = self.shown.split_at(self.shown.len().min(SAME_SHOWN_MAX));
        for stream in first {
            stream.write_in_group(look, out);
        }
        let mut unwritten = Vec::new();
        for stream in rest {
            if first.iter().any(|shown| shown.says_the_same(stream)) {
                unwritten.push(stream.shown_name());
            } else {
                stream.write_in_group(look, out);
            }
        }
        if !unwritten.is_empty() {
            let more = unwritten.len().saturating_sub(SAME_NAMED_MAX);
            let mut named = unwritten[..unwritten.len() - more].join(", ");
            if more > 0 {
                let _ = write!(named, " and {more} more");
            }
            let text = format!("  and {} more of these: {named}", unwritten.len());
            look.line(&look.paint(Style::Quiet, &text), 4, out);
        }
    }

    fn count(&self) -> u64 {
        self.shown.len() as u64 + self.omitted
    }
}
