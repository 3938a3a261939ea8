//! How a page begins: how the run ended, and the worst that was found.

use std::borrow::Cow;
use std::cmp::Reverse;

use maud::{Markup, html};
use ndjson_check_core::{Diagnostic, Severity, counted};

use super::recording::Recording;
use super::words::{OneLine, WithCode};
use crate::report::{Headline, stream_name, summary_text};

/// Rules whose findings are below the headline.
const WORST_MAX: usize = 3;

/// The name of a stream, its folder set apart.
pub(super) fn name(stream: &str) -> Markup {
    let file = file_name(stream);
    let folder = stream.strip_suffix(&*file).unwrap_or_default();
    html! { @if !folder.is_empty() { span.folder { (OneLine(folder)) } wbr; } (OneLine(&file)) }
}

pub(super) fn file_name(stream: &str) -> Cow<'_, str> {
    let file = stream.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
    stream_name(file.unwrap_or(stream))
}

pub(super) fn title(recording: &Recording) -> Markup {
    let (summary, headline) = (&recording.summary, &recording.headline);
    let found = [(summary.errors, "error"), (summary.warnings, "warning")];
    let found = found.iter().filter(|(count, _)| *count > 0);
    let mut found: Vec<String> = found.map(|(count, what)| counted(*count, what)).collect();
    if summary.known > 0 {
        found.push(format!("{} in the baseline", summary.known));
    }
    let found = if found.is_empty() { found.concat() } else { format!(": {}", found.join(", ")) };
    let shows_stderr = !summary.stderr.iter().all(|line| headline.says(line));
    let mut reasons = summary_text::more_reasons(summary, headline);
    // The one line of it that is a reason.
    reasons.retain(|reason| !(shows_stderr && reason.starts_with("stderr: ")));
    html! {
        h1 { (badge(headline)) span.sentence { (WithCode(&headline.text())) } }
        p.source {
            span.name { (name(&summary.name)) } " "
            span.found { (summary_text::outcome(summary)) ", " (summary.verdict.name()) (found) }
        }
        @for reason in reasons {
            p.reason { (WithCode(&reason)) }
        }
        @if shows_stderr {
            p.label { "The last lines of standard error" }
            pre.reason { @for line in &summary.stderr { (OneLine(line)) "\n" } }
        }
    }
}

/// The mark of the human report.
pub(super) fn badge(headline: &Headline) -> Markup {
    match headline.mark() {
        '✓' => html! { span.badge.good aria-hidden="true" { "✓" } },
        '✗' => html! { span.badge.bad aria-hidden="true" { "✗" } },
        mark => html! { span.badge.warn aria-hidden="true" { (mark) } },
    }
}

/// The first finding of each rule: errors first, and what the end of the stream shows first.
pub(super) fn worst_findings(recording: &Recording) -> Markup {
    let mut groups: Vec<(usize, u64)> = Vec::new();
    let found = |at: usize| &recording.findings[at].diagnostic;
    for at in 0..recording.findings.len() {
        match groups.iter_mut().find(|group| found(group.0).rule == found(at).rule) {
            Some((_, more)) => *more += 1,
            None => groups.push((at, 0)),
        }
    }
    groups.sort_by_key(|(at, _)| (found(*at).severity != Severity::Error, Reverse(*at)));
    html! {
        @if !groups.is_empty() {
            ul.worst {
                @for (at, more) in groups.iter().take(WORST_MAX) {
                    @let Diagnostic { rule, severity, message, line, .. } = found(*at);
                    li.(severity.name()) {
                        a href={ "#f" (at + 1) } { strong { (rule.name()) } }
                        @if !recording.headline.says(message) { ": " (WithCode(message)) }
                        @else if let Some(line) = line { ", line " (line) }
                        @if let Some(note) = recording.headline.note_of(found(*at)) {
                            " (" (WithCode(&note)) ")"
                        }
                        @if *more > 0 { " (and " (more) " more)" }
                    }
                }
                @if groups.len() > WORST_MAX {
                    li { a href="#findings" { "and others" } }
                }
            }
        }
    }
}
