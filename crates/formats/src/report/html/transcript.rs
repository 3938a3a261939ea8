//! The transcript of a run: its entries, each finding in its place, and the filter.

use std::iter::Peekable;

use maud::{Markup, html};
use ndjson_check_core::NoticeKind;

use super::call_entry::call;
use super::excerpt::Excerpt;
use super::folded::folded;
use super::markdown::MarkdownText;
use super::recording::{EntryKind, PageEntry, PageFinding, PageText, Recording};
use super::timeline::class;
use super::words::{OneLine, WithCode, duration, offset, push_text};
use crate::report::summary_text::grouped;
use crate::report::{Headline, page_url};

/// The findings that have no place yet, with their numbers.
type Rest<'f> =
    Peekable<std::iter::Zip<std::slice::Iter<'f, PageFinding>, std::ops::RangeFrom<u64>>>;

pub(super) fn transcript(recording: &Recording) -> Markup {
    let (entries, has_bars) = (&recording.entries, recording.bars.is_some());
    let omitted = entries.omitted();
    let headline = &recording.headline;
    let mut findings: Rest<'_> = recording.findings.iter().zip(1..).peekable();
    let (mut next, mut is_first) = (0, true);
    let items = entries.numbered().map(|(entry, number)| {
        let gap = number - next;
        next = number + 1;
        html! {
            @if gap > 0 { (left_out(gap, std::mem::take(&mut is_first))) }
            (before(&mut findings, headline, entry.at.line)) (item(entry, number, has_bars))
        }
    });
    let items: Vec<Markup> = items.collect();
    html! {
        section.transcript aria-labelledby="transcript" {
            h2 #transcript tabindex="-1" { "Transcript" }
            @if omitted.entries() > 0 {
                p.omitted {
                    "Not all of it: " (in_words(recording)) " "
                    a href="#omitted" { "are left out" } ", good ones first."
                }
            }
            ol #log {
                @for item in &items { (item) }
                @if let Some(answer) = &recording.answer {
                    li.answer data-kind="text" {
                        p.at { "answer" }
                        div.said { (MarkdownText(answer)) }
                    }
                }
                (before(&mut findings, headline, u64::MAX))
                (rest(findings, headline))
            }
        }
    }
}

fn before(findings: &mut Rest<'_>, headline: &Headline, line: u64) -> Markup {
    let mut found = Vec::new();
    while let Some((finding, number)) =
        findings.next_if(|(it, _)| it.diagnostic.line.is_some_and(|at| at < line))
    {
        found.push(self::finding(finding, headline, number));
    }
    html! { @for finding in &found { (finding) } }
}

/// The findings of the stream as a whole.
fn rest(findings: Rest<'_>, headline: &Headline) -> Markup {
    html! { @for (finding, number) in findings { (self::finding(finding, headline, number)) } }
}

fn item(entry: &PageEntry, number: u64, has_bars: bool) -> Markup {
    if entry.is_blank() {
        return html! {};
    }
    match &entry.kind {
        EntryKind::Text(text) => self::text(text, entry, number),
        EntryKind::Thought(text) => thought(text, entry, number),
        EntryKind::Notice(kind, text) => notice(*kind, text, entry, number),
        EntryKind::Call(call) => self::call(call, entry, has_bars),
        EntryKind::Turn(turn) => html! {
            li.turn #{ "e" (number) } data-kind="turn" {
                (at(entry, &format!("e{number}")))
                h3 { "Turn " (turn) }
            }
        },
        EntryKind::End(tag) => html! {
            li.end #{ "e" (number) } data-kind="end" {
                (at(entry, &format!("e{number}")))
                p { "Terminal event " code { (OneLine(tag)) } }
            }
        },
    }
}

/// The time of an entry, how long nothing came before it, and its line: a link to itself.
pub(super) fn at(entry: &PageEntry, id: &str) -> Markup {
    html! {
        p.at {
            @if let Some(ms) = entry.at.ms() { time { (offset(ms, true)) } " " }
            @if let Some(ms) = entry.wait_ms { span.wait { "+" (duration(ms)) } " " }
            a.line href={ "#" (id) } aria-label={ "line " (entry.at.line) } { (entry.at.line) }
        }
    }
}

fn text(text: &PageText, entry: &PageEntry, number: u64) -> Markup {
    html! {
        li.text.abandoned[text.is_abandoned] #{ "e" (number) } data-kind="text" {
            (at(entry, &format!("e{number}")))
            div.said {
                (MarkdownText(&text.text))
                @if text.is_abandoned { p.cut { "The agent abandoned this text." } }
            }
        }
    }
}

fn thought(text: &PageText, entry: &PageEntry, number: u64) -> Markup {
    let first = first_line(text.text.head());
    html! {
        li.thought #{ "e" (number) } data-kind="thought" {
            (at(entry, &format!("e{number}")))
            details {
                summary { span.what { "Reasoning" } " " span.detail { (OneLine(first)) } }
                div.said { (MarkdownText(&text.text)) }
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.trim_matches(|it: char| it.is_whitespace() || matches!(it, '*' | '#' | '_' | '`'))
}

fn notice(kind: NoticeKind, text: &Excerpt, entry: &PageEntry, number: u64) -> Markup {
    let title = html! { strong { (kind.title()) } };
    html! {
        li.notice.error[kind == NoticeKind::Error] #{ "e" (number) } data-kind="notice" {
            (at(entry, &format!("e{number}")))
            div {
                @if text.is_blank() { p { (title) } }
                @else { p { (title) ": " } (folded(text, push_text)) }
            }
        }
    }
}

fn finding(finding: &PageFinding, headline: &Headline, number: u64) -> Markup {
    let diagnostic = &finding.diagnostic;
    let severity = diagnostic.severity.name();
    html! {
        li.finding.(severity) #{ "f" (number) } data-kind="finding" {
            p.at {
                @if let Some(line) = diagnostic.line {
                    a.line href={ "#f" (number) } aria-label={ "line " (line) } { (line) }
                }
            }
            p {
                strong { (severity) } " "
                a href=(page_url(diagnostic.rule)) { (diagnostic.rule.name()) } ": "
                (WithCode(&diagnostic.message))
                @if let Some(note) = headline.note_of(diagnostic) { " (" (WithCode(&note)) ")" }
                @if let Some(line) = diagnostic.related_line { " (see line " (line) ")" }
            }
        }
    }
}

/// What is left out of a transcript, with the count of each kind.
fn in_words(recording: &Recording) -> String {
    let (omitted, counts) = (recording.entries.omitted(), recording.summary.call_counts);
    // A call that was left out while it was open may have ended well.
    let bad = counts.total.saturating_sub(counts.succeeded + counts.unknown);
    let shown = recording.entries.calls().filter(|call| class(call.outcome) != "good").count();
    let bad_calls = bad.saturating_sub(shown as u64).min(omitted.calls);
    let kinds = [
        (bad_calls, "tool call that did not succeed", "tool calls that did not succeed"),
        (omitted.calls - bad_calls, "other tool call", "other tool calls"),
        (omitted.errors, "error of the agent", "errors of the agent"),
        (omitted.others, "other entry", "other entries"),
    ];
    let kinds = kinds.iter().filter(|(count, ..)| *count > 0);
    let kinds = kinds.map(|(count, one, many)| {
        format!("{} {}", grouped(*count), if *count == 1 { one } else { many })
    });
    kinds.collect::<Vec<_>>().join(", ")
}

/// Entries that are left out in one place; `is_first` if no others are before.
fn left_out(count: u64, is_first: bool) -> Markup {
    let entries = if count == 1 { "entry" } else { "entries" };
    html! {
        li.omitted id=[is_first.then_some("omitted")] data-kind="omitted" {
            p.at {}
            p { (grouped(count)) " " (entries) " left out. The recording has them all." }
        }
    }
}
