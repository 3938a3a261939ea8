//! The page of one stream.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, SystemTime};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use ndjson_check_core::{Bound, Diagnostic, Note, Severity, StreamSummary, counted};

use super::recording::Recording;
use super::timeline::timeline;
use super::transcript::{filter, transcript};
use super::words::OneLine;
use super::{policy, stats, words};
use crate::report::Headline;
use crate::report::summary_text::{self, dollars, grouped};
use crate::report::worst::SeverityCounts;

/// The years 2000 to 2999, in milliseconds since 1970.
const DATES: Range<f64> = 946_684_800_000.0..32_503_680_000_000.0;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Rules whose findings are below the verdict.
const WORST_MAX: usize = 3;

/// Changed files that a page names; the others are counted.
const FILES_NAMED_MAX: usize = 10;

/// A whole document. Its policy allows this style and this script, and nothing else.
pub(super) fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::of(STYLE, SCRIPT));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "ndjson-check " (env!("CARGO_PKG_VERSION")) };
                title { (OneLine(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The page of a stream; `index` is the link to the page of all streams.
pub(super) fn page(recording: &Recording, index: Option<&str>) -> String {
    let summary = &recording.summary;
    let title = format!("{} – {}", recording.headline.text(), file_name(&summary.name));
    let body = html! {
        a.skip href="#transcript" { "Skip to the transcript" }
        header {
            @if let Some(index) = index { p.back { a href=(index) { "All streams" } } }
            h1 { (name(&summary.name)) }
            (verdict(summary, &recording.headline))
            (worst_findings(recording))
            (facts(recording))
            (notes(summary))
        }
        main {
            (timeline(recording))
            (stats::of_run(recording))
            div.columns {
                aside {
                    (filter(recording))
                    (findings(recording))
                }
                (transcript(recording))
            }
        }
        footer {
            p {
                "Written by ndjson-check " (env!("CARGO_PKG_VERSION")) ", profile "
                (OneLine(&summary.profile)) ". This page loads nothing."
            }
        }
    };
    document(&title, &body)
}

/// The name of a stream, its folder set apart.
pub(super) fn name(stream: &str) -> Markup {
    let file = file_name(stream);
    let folder = stream.strip_suffix(file).unwrap_or_default();
    html! { @if !folder.is_empty() { span.folder { (OneLine(folder)) } wbr; } (OneLine(file)) }
}

fn file_name(stream: &str) -> &str {
    if stream == "-" {
        return "standard input";
    }
    stream.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(stream)
}

/// The headline; below it what it does not say.
fn verdict(summary: &StreamSummary, headline: &Headline) -> Markup {
    let found = [(summary.errors, "error"), (summary.warnings, "warning")];
    let found = found.iter().filter(|(count, _)| *count > 0);
    let mut found: Vec<String> = found.map(|(count, what)| counted(*count, what)).collect();
    if summary.known > 0 {
        found.push(format!("{} known", summary.known));
    }
    let found = if found.is_empty() { found.concat() } else { format!(": {}", found.join(", ")) };
    let reasons = summary_text::more_reasons(summary, headline);
    html! {
        p.verdict {
            span.(if headline.passed { "good" } else { "bad" }) { (headline.reason) }
            (headline.rest)
        }
        @for reason in reasons {
            p.reason { (OneLine(&reason)) }
        }
        p.found { (summary_text::outcome(summary)) ", " (summary.verdict.name()) (found) }
    }
}

/// The first finding of each rule: errors first, and what the end of the stream shows first.
fn worst_findings(recording: &Recording) -> Markup {
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
                    @let Diagnostic { rule, severity, message, .. } = found(*at);
                    li.(severity.name()) {
                        a href={ "#f" (at + 1) } { strong { (rule.name()) } } ": "
                        (OneLine(message))
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

/// What is known about the run: the figures, then what explains them.
fn facts(recording: &Recording) -> Markup {
    let summary = &recording.summary;
    let (facts, calls) = (&summary.facts, summary.call_counts);
    let bad = [
        (calls.failed, "failed"),
        (calls.rejected + calls.denied, "refused"),
        (calls.unfinished, "unfinished"),
    ];
    let bad = bad.iter().filter(|(count, _)| *count > 0);
    let bad: Vec<String> = bad.map(|(count, what)| format!("{count} {what}")).collect();
    let turn_noun = if facts.turns == Some(1) { "turn" } else { "turns" };
    let call_noun = if calls.total == 1 { "tool call" } else { "tool calls" };
    let call_count = (calls.total > 0).then(|| grouped(calls.total));
    let usage = &facts.usage;
    let cached = usage.cache_read_tokens.filter(|it| *it > 0 && usage.tokens_in().is_some());
    let cached = cached.map(|it| format!("{} cached", grouped(it))).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "to show it")]
    let duration = facts.duration_ms.map(|ms| ms as f64);
    let axis = recording.clock.axis();
    // Both, where they are not the same.
    let seen = axis.by_time.then_some(axis.length);
    let seen = seen.filter(|seen| duration.is_none_or(|duration| differ(*seen, duration)));
    let is_alone = seen.is_none();
    let seen_noun =
        if axis.early > 0.0 { "first call to last event" } else { "first to last event" };
    let (duration, seen) = (duration.map(words::duration), seen.map(words::duration));
    let figures = [
        (if is_alone { "duration" } else { "agent's duration" }, duration, String::new()),
        (seen_noun, seen, String::new()),
        ("cost", facts.cost_usd.map(dollars), String::new()),
        (
            "cost by your prices",
            facts.estimated_cost_usd.map(|cost| format!("about {}", dollars(cost))),
            String::new(),
        ),
        (turn_noun, facts.turns.map(grouped), String::new()),
        (call_noun, call_count, bad.join(", ")),
        ("tokens in", usage.tokens_in().map(grouped), cached),
        ("tokens out", usage.output_tokens.map(grouped), String::new()),
    ];
    let version = facts.agent_version.as_deref().unwrap_or_default();
    let events = if summary.events == 1 { "event" } else { "events" };
    let (count, bytes) = (grouped(summary.events), words::size(summary.bytes));
    let size = format!("{count} {events}, {bytes}");
    let details = [
        ("agent", Some(format!("{} {version}", summary.profile))),
        ("began", recording.clock.first().and_then(date)),
        ("model", facts.model.clone()),
        ("command", summary.exit_status.map(|status| status.to_string())),
        ("stream", Some(size)),
        ("session", summary.session_id.clone()),
        ("changed files", files(summary)),
    ];
    html! {
        (in_short(&figures))
        dl.details {
            @for (label, value) in &details {
                @if let Some(value) = value {
                    div { dt { (label) } dd { (OneLine(value.trim())) } }
                }
            }
        }
    }
}

/// Figures in large letters: name, value, and what else to know of it.
pub(super) fn in_short(figures: &[(&str, Option<String>, String)]) -> Markup {
    html! {
        dl.figures {
            @for (label, value, more) in figures {
                @if let Some(value) = value {
                    div {
                        dt { (label) }
                        dd { (value) @if !more.is_empty() { small { " " (more) } } }
                    }
                }
            }
        }
    }
}

/// A time since 1970 in milliseconds, as a person reads it.
fn date(ms: f64) -> Option<String> {
    // Some agents count from the start of the computer.
    let seconds = DATES.contains(&ms).then(|| words::whole(ms) / 1_000)?;
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    let date = humantime::format_rfc3339_seconds(time).to_string();
    Some(date.replace('T', " ").replace('Z', " UTC"))
}

/// Whether two durations are not the same but for what surrounds a run.
fn differ(one: f64, other: f64) -> bool {
    (one - other).abs() > (one.max(other) / 10.0).max(1_000.0)
}

fn files(summary: &StreamSummary) -> Option<String> {
    let files = summary.facts.files.as_ref().filter(|files| !files.is_empty())?;
    let named = files.iter().take(FILES_NAMED_MAX).map(String::as_str);
    let mut named = named.collect::<Vec<_>>().join(", ");
    if files.len() > FILES_NAMED_MAX {
        let _ = write!(named, " and {} more", files.len() - FILES_NAMED_MAX);
    }
    Some(named)
}

/// What a reader should know besides, if the reasons do not say it.
fn notes(summary: &StreamSummary) -> Markup {
    let reasons = summary_text::reasons(summary);
    // The page has other bounds for its list of calls.
    let notes = summary.notes.iter().filter(|note| **note != Note::LimitReached(Bound::ToolCalls));
    let notes = notes.map(Note::to_string);
    let notes: Vec<String> = notes.filter(|note| !reasons.contains(note)).collect();
    html! {
        @if !notes.is_empty() {
            ul.notes { @for note in &notes { li { (OneLine(note)) } } }
        }
    }
}

/// The findings, each with a link to its place.
fn findings(recording: &Recording) -> Markup {
    let summary = &recording.summary;
    let mut listed = SeverityCounts::default();
    for finding in &recording.findings {
        listed.add(finding.diagnostic.severity);
    }
    let more = SeverityCounts::of(summary).without(listed).more();
    html! {
        @if !recording.findings.is_empty() || more.is_some() {
            section.findings aria-labelledby="findings" {
                h2 #findings { "Findings" }
                ol {
                    @for (finding, number) in recording.findings.iter().zip(1_u64..) {
                        @let diagnostic = &finding.diagnostic;
                        li.(diagnostic.severity.name()) {
                            a href={ "#f" (number) } {
                                (diagnostic.rule.name())
                                @if let Some(line) = diagnostic.line { ", line " (line) }
                            }
                        }
                    }
                }
                @if let Some(more) = more { p { (more) " not shown." } }
            }
        }
    }
}
