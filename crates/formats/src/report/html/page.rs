//! The page of one stream.

use std::ops::Range;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use ndjson_check_core::Note;

use super::filter::filter;
use super::recording::Recording;
use super::timeline::timeline;
use super::title::file_name;
use super::transcript::transcript;
use super::words::OneLine;
use super::{policy, stats, title, words};
use crate::report::summary_text::{self, dollars, grouped};

/// The years 2000 to 2999, in milliseconds since 1970.
const DATES: Range<f64> = 946_684_800_000.0..32_503_680_000_000.0;

/// The style and the script of every page, without indentation and comments.
static STYLE: LazyLock<String> =
    LazyLock::new(|| compact(&[include_str!("style.css"), include_str!("text.css")]));
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    compact(&[include_str!("script.js"), include_str!("timeline.js"), include_str!("index.js")])
});

fn compact(parts: &[&str]) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Its policy allows this style and this script, and nothing else.
pub(super) fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::of(&STYLE, &SCRIPT));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "ndjson-check " (env!("CARGO_PKG_VERSION")) };
                title { (OneLine(title)) }
                style { (PreEscaped(&*STYLE)) }
            }
            body {
                (body)
                script { (PreEscaped(&*SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// `index` is the link to the page of all streams.
pub(super) fn page(recording: &Recording, index: Option<&str>) -> String {
    let summary = &recording.summary;
    let title = format!("{} – {}", recording.headline.text(), file_name(&summary.name));
    let body = html! {
        a.skip href="#transcript" { "Skip to the transcript" }
        header {
            @if let Some(index) = index { p.back { a href=(index) { "All streams" } } }
            (title::title(recording))
            (title::worst_findings(recording))
            (facts(recording))
            (recording.files.list(summary, |call| recording.entries.has_call(call)))
            (notes(recording))
        }
        main {
            (timeline(recording))
            (stats::split(recording))
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
                "ndjson-check " (env!("CARGO_PKG_VERSION"))
                @if summary.events > 0 { ", profile " (OneLine(&summary.profile)) }
                ". This page loads nothing."
            }
        }
    };
    document(&title, &body)
}

fn facts(recording: &Recording) -> Markup {
    let summary = &recording.summary;
    let (facts, calls) = (&summary.facts, summary.call_counts);
    let bad = [
        (calls.failed, "failed"),
        (calls.rejected + calls.denied, "refused"),
        (calls.unfinished, "unfinished"),
    ];
    let bad = bad.iter().filter(|(count, _)| *count > 0);
    let bad: Vec<String> = bad
        .map(|(count, what)| {
            let is_all = *count == calls.total;
            if is_all { format!("all {what}") } else { format!("{} {what}", grouped(*count)) }
        })
        .collect();
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
        ("agent", (summary.events > 0).then(|| format!("{} {version}", recording.agent))),
        ("began", recording.clock.first().and_then(date)),
        ("model", facts.model.clone()),
        ("command", summary.exit_status.map(|status| status.to_string())),
        ("stream", Some(size)),
        ("session", summary.session_id.clone()),
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

/// Figures: name, value, and what else to know of it.
pub(super) fn in_short(figures: &[(&str, Option<String>, String)]) -> Markup {
    html! {
        dl.figures {
            @for (label, value, more) in figures {
                @if let Some(value) = value {
                    div {
                        dt { (label) }
                        dd { (value) }
                        @if !more.is_empty() { dd.more { (more) } }
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

/// What a reader should know besides, if the reasons do not say it.
fn notes(recording: &Recording) -> Markup {
    let (summary, headline) = (&recording.summary, &recording.headline);
    let reasons = summary_text::reasons(summary, headline);
    let notes = summary_text::news(summary, headline);
    let notes = notes.map(Note::to_string);
    let is_new = |note: &String| !(reasons.contains(note) || headline.says(note));
    let notes: Vec<String> = notes.filter(is_new).collect();
    html! {
        @if !notes.is_empty() {
            ul.notes { @for note in &notes { li { (OneLine(note)) } } }
        }
    }
}

fn findings(recording: &Recording) -> Markup {
    let more = &recording.not_shown;
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
                                @if let Some(call) = &finding.call { ": " (OneLine(call)) }
                                @else if let Some(it) = &diagnostic.demand { ": " (OneLine(it)) }
                            }
                        }
                    }
                }
                @if let Some(more) = more { p { (more) "." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a page stays small: all pages have this.
    #[test]
    fn style_and_script_are_small() {
        let bytes = STYLE.len() + SCRIPT.len();
        assert!(bytes < 40_000, "{bytes}");
    }
}
