//! The transcript of a run: its entries, each finding in its place, and the filter.

use std::collections::BTreeMap;
use std::iter::Peekable;

use maud::{Markup, html};
use ndjson_check_core::NoticeKind;

use super::clock::Moment;
use super::excerpt::Excerpt;
use super::recording::{EntryKind, PageCall, PageEntry, PageFinding, PageText, Recording};
use super::timeline::{class, outcome};
use super::words::{Lines, OneLine, duration, offset};
use crate::report::page_url;
use crate::report::summary_text::grouped;

/// The findings that have no place yet, with their numbers.
type Rest<'f> =
    Peekable<std::iter::Zip<std::slice::Iter<'f, PageFinding>, std::ops::RangeFrom<u64>>>;

pub(super) fn transcript(recording: &Recording) -> Markup {
    let (entries, has_bars) = (&recording.entries, recording.bars.is_some());
    let omitted = entries.omitted();
    let mut findings: Rest<'_> = recording.findings.iter().zip(1..).peekable();
    let (mut next, mut is_first) = (0, true);
    let items = entries.numbered().map(|(entry, number)| {
        let gap = number - next;
        next = number + 1;
        html! {
            @if gap > 0 { (left_out(gap, std::mem::take(&mut is_first))) }
            (before(&mut findings, entry.at.line)) (item(entry, number, has_bars))
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
                        div.said { (Lines(answer)) }
                    }
                }
                (before(&mut findings, u64::MAX))
                (rest(findings))
            }
        }
    }
}

/// The findings in lines before this one.
fn before(findings: &mut Rest<'_>, line: u64) -> Markup {
    let mut found = Vec::new();
    while let Some((finding, number)) =
        findings.next_if(|(it, _)| it.diagnostic.line.is_some_and(|at| at < line))
    {
        found.push(self::finding(finding, number));
    }
    html! { @for finding in &found { (finding) } }
}

/// Those of the stream as a whole.
fn rest(findings: Rest<'_>) -> Markup {
    html! { @for (finding, number) in findings { (self::finding(finding, number)) } }
}

fn item(entry: &PageEntry, number: u64, has_bars: bool) -> Markup {
    if entry.is_blank() {
        return html! {};
    }
    match &entry.kind {
        EntryKind::Text(text) => self::text(text, &entry.at, number),
        EntryKind::Thought(text) => thought(text, &entry.at, number),
        EntryKind::Notice(kind, text) => notice(*kind, text, &entry.at, number),
        EntryKind::Call(call) => self::call(call, &entry.at, has_bars),
        EntryKind::Turn(turn) => html! {
            li.turn data-kind="turn" { (at(&entry.at)) h3 { "Turn " (turn) } }
        },
        EntryKind::Silence(ms) => html! {
            li.silence #{ "e" (number) } data-kind="silence" {
                p.at {}
                p { "No event for " (duration(*ms)) }
            }
        },
        EntryKind::End(tag) => html! {
            li.end data-kind="end" {
                (at(&entry.at))
                p { "Terminal event " code { (OneLine(tag)) } }
            }
        },
    }
}

/// The time and the line of an entry.
fn at(moment: &Moment) -> Markup {
    html! {
        p.at {
            @if let Some(ms) = moment.ms() { time { (offset(ms, true)) } " " }
            span.line { "line " (moment.line) }
        }
    }
}

fn text(text: &PageText, moment: &Moment, number: u64) -> Markup {
    html! {
        li.abandoned[text.is_abandoned] #{ "e" (number) } data-kind="text" {
            (at(moment))
            div.said {
                (Lines(&text.text))
                @if text.is_abandoned { span.cut { "The agent abandoned this text." } }
            }
        }
    }
}

fn thought(text: &PageText, moment: &Moment, number: u64) -> Markup {
    html! {
        li.thought #{ "e" (number) } data-kind="thought" {
            (at(moment))
            details {
                summary {
                    span.what { "Reasoning" } " "
                    span.detail { (OneLine(first_line(text.text.head()))) }
                }
                div.said { (Lines(&text.text)) }
            }
        }
    }
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default()
}

fn notice(kind: NoticeKind, text: &Excerpt, moment: &Moment, number: u64) -> Markup {
    html! {
        li.notice.error[kind == NoticeKind::Error] #{ "e" (number) } data-kind="notice" {
            (at(moment))
            p { strong { (kind.title()) } @if !text.is_blank() { ": " (Lines(text)) } }
        }
    }
}

fn call(call: &PageCall, moment: &Moment, has_bars: bool) -> Markup {
    let tool = if call.tool.is_empty() { "no name" } else { &call.tool };
    let needs_look = class(call.outcome) != "good";
    html! {
        li.call.(class(call.outcome)) #{ "c" (call.number) } data-kind="call"
            data-tool=(OneLine(tool)) data-outcome=(outcome(call.outcome)) {
            (at(moment))
            details open[needs_look] {
                summary {
                    b.tool { (OneLine(tool)) } " "
                    span.detail { (OneLine(&call.detail)) } " "
                    span.how {
                        @if needs_look { strong { (outcome(call.outcome)) } " " }
                        @if let Some(ms) = call.took_ms { (duration(ms)) }
                    }
                }
                dl {
                    @for (name, value) in &call.arguments {
                        dt { @if name.is_empty() { "arguments" } @else { (OneLine(name)) } }
                        dd { pre { (Lines(value)) } }
                    }
                    @if let Some(result) = &call.result {
                        dt { "result" }
                        dd { pre.result { (Lines(result)) } }
                    }
                }
                p.about {
                    "Call " (call.number) ", " (outcome(call.outcome)) ". "
                    @match (&call.end, call.has_start) {
                        (Some(end), true) => { "Completed in line " (end.line) ". " }
                        (Some(_), false) => { "The stream shows only its completion. " }
                        (None, _) => { "It was never completed. " }
                    }
                    @if has_bars { a href={ "#b" (call.number) } { "Show in the timeline" } }
                }
            }
        }
    }
}

fn finding(finding: &PageFinding, number: u64) -> Markup {
    let diagnostic = &finding.diagnostic;
    let severity = diagnostic.severity.name();
    html! {
        li.finding.(severity) #{ "f" (number) } data-kind="finding" {
            p.at {
                @if let Some(line) = diagnostic.line { span.line { "line " (line) } }
            }
            p {
                strong { (severity) } " "
                a href=(page_url(diagnostic.rule)) { (diagnostic.rule.name()) } ": "
                (OneLine(&diagnostic.message))
                @if let Some(note) = &diagnostic.note { " (" (OneLine(note)) ")" }
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

/// The filter: hidden without the script.
pub(super) fn filter(recording: &Recording) -> Markup {
    let mut tools: BTreeMap<&str, u64> = BTreeMap::new();
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    let entries = &recording.entries;
    let has =
        |wanted: fn(&EntryKind) -> bool| entries.all().any(|it| !it.is_blank() && wanted(&it.kind));
    let others = [
        (has(|it| matches!(it, EntryKind::Text(_))), "text", "text"),
        (has(|it| matches!(it, EntryKind::Call(_))), "call", "tool calls"),
        (has(|it| matches!(it, EntryKind::Thought(_))), "thought", "reasoning"),
        (has(|it| matches!(it, EntryKind::Notice(..))), "notice", "notices"),
        (!recording.findings.is_empty(), "finding", "findings"),
    ];
    let others = others.iter().filter(|it| it.0).map(|(_, kind, words)| (kind, words));
    for call in recording.entries.calls() {
        *tools.entry(&call.tool).or_default() += 1;
        *outcomes.entry(outcome(call.outcome)).or_default() += 1;
    }
    html! {
        form #filter hidden role="search" {
            label { "Search " input type="search" name="search" autocomplete="off"; }
            label { "Show "
                select name="show" {
                    option value="" { "everything" }
                    @for (kind, words) in others { option value=(kind) { (words) } }
                    @if !tools.is_empty() {
                        optgroup label="Calls of one tool" {
                            @for (tool, count) in &tools {
                                option value={ "tool:" (tool_name(tool)) } {
                                    (tool_name(tool)) " (" (count) ")"
                                }
                            }
                        }
                    }
                }
            }
            @if outcomes.len() > 1 {
                label { "Outcome "
                    select name="outcome" {
                        option value="" { "any" }
                        @for (outcome, count) in &outcomes {
                            option value=(outcome) { (outcome) " (" (count) ")" }
                        }
                    }
                }
            }
            p { output {} " " button type="button" name="fold" { "Unfold all" } }
        }
    }
}

fn tool_name(tool: &str) -> OneLine<'_> {
    OneLine(if tool.is_empty() { "no name" } else { tool })
}
