//! Which findings of a stream are shown, and which are shown as one.

use ndjson_check_core::{Diagnostic, Rule, ToolCall, counted};

use super::Headline;
use super::call_names::{called, line_text, noted};
use super::first_findings::may_be_of_next_run;
use super::headline::{BEFORE_EVENTS, PLAIN_TEXT, SEVERAL_RUNS};

/// Lines that are named for one message.
const LINES_NAMED_MAX: usize = 5;

/// Findings of one rule with one message.
pub(super) struct Alike<'d> {
    pub(super) first: &'d Diagnostic,
    /// Without the texts of the lines.
    message: String,
    pub(super) lines: Vec<u64>,
    pub(super) count: u64,
    has_one_text: bool,
}

/// Whether a reader should see a finding; the others follow from what the headline says.
pub(super) fn is_cause(found: &Diagnostic, headline: &Headline) -> bool {
    match headline.reason {
        // The profile of another agent finds much that is right.
        _ if headline.is_foreign() => found.rule == Rule::WrongProfile,
        SEVERAL_RUNS => !may_be_of_next_run(found) || found.note.is_some(),
        PLAIN_TEXT | BEFORE_EVENTS => found.rule != Rule::EmptyStream,
        _ => true,
    }
}

/// The findings that a reader should see.
pub(super) fn causes<'d>(found: &'d [Diagnostic], headline: &Headline) -> Vec<&'d Diagnostic> {
    found.iter().filter(|it| is_cause(it, headline)).collect()
}

/// That so many findings are not shown, and why; none if the headline says all that they say.
pub(super) fn hidden(count: usize, headline: &Headline) -> Option<String> {
    let why = match (headline.reason, count) {
        (_, 1) if headline.is_foreign() => "it follows from the profile",
        _ if headline.is_foreign() => "they follow from the profile",
        (SEVERAL_RUNS, 1) => "it is about the next run",
        (SEVERAL_RUNS, _) => "they are about the next run",
        _ => return None,
    };
    let more = counted(count as u64, "more finding");
    (count > 0).then(|| format!("{more} not shown: {why}"))
}

pub(super) fn alike<'d>(
    found: impl Iterator<Item = &'d Diagnostic>,
    calls: &[ToolCall],
) -> Vec<Alike<'d>> {
    let mut all: Vec<Alike<'_>> = Vec::new();
    for it in found {
        let message = called(it, calls);
        let same = |other: &&mut Alike<'_>| {
            (other.first.rule, other.first.severity) == (it.rule, it.severity)
                && other.message == message
                && noted(other.first) == noted(it)
                && other.first.location == it.location
        };
        if let Some(other) = all.iter_mut().find(same) {
            other.lines.extend(it.line);
            other.count += 1;
            other.has_one_text &= other.first.detail == it.detail;
        } else {
            let lines = it.line.into_iter().collect();
            all.push(Alike { first: it, message, lines, count: 1, has_one_text: true });
        }
    }
    all
}

impl Alike<'_> {
    /// With the text of the line, or of the first of several lines.
    pub(super) fn message(&self) -> String {
        let before = if self.has_one_text { ": " } else { "; the first is " };
        let text = line_text(self.first).map(|text| format!("{before}{text}"));
        format!("{}{}", self.message, text.unwrap_or_default())
    }

    /// The lines where it was found; nothing if it is about the stream as a whole.
    pub(super) fn place(&self) -> String {
        let named: Vec<String> =
            self.lines.iter().take(LINES_NAMED_MAX).map(u64::to_string).collect();
        let more = self.lines.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        match &self.lines[..] {
            [] => String::new(),
            [line] => format!("line {line}"),
            _ => format!("lines {}{more}", named.join(", ")),
        }
    }
}
