//! The figures of a run, and of several: what the tools did, and where the time went.

use maud::{Markup, html};
use ndjson_check_core::{IdlePeriod, RunStats, SlowCall, counted};

use super::index::TimeSum;
use super::recording::{EntryKind, Recording};
use super::timeline::class;
use super::words::{OneLine, size};
use crate::report::stats::{StatsSum, StatsTotals, in_dollars};
use crate::report::stats_text::{self, LONGEST_SHOWN_MAX, TextTable, brief, duration, short};
use crate::report::summary_text::{dollars, grouped};

pub(super) fn of_run(recording: &Recording) -> Markup {
    let summary = &recording.summary;
    let Some(stats) = &summary.stats else { return html! {} };
    let times = stats_text::times(summary, stats);
    let calls = stats.slowest_calls.iter().take(LONGEST_SHOWN_MAX);
    let calls: Vec<Markup> = calls.map(|call| slow_call(recording, call)).collect();
    let silences = stats.silences.iter().take(LONGEST_SHOWN_MAX);
    let silences: Vec<Markup> = silences.map(|it| silence(recording, it)).collect();
    let sizes = sizes(stats);
    let is_empty = stats.tools.is_empty() && silences.is_empty() && sizes.is_empty();
    html! {
        @if !is_empty {
            details.stats {
                (title(times.as_deref()))
                (table("tools", &stats_text::tools(&stats.tools, true)))
                (lists(&[
                    ("Slowest calls", calls), ("Longest silences", silences), ("Sizes", sizes)
                ]))
            }
        }
    }
}

/// Where the time went: the calls, and what is not in one, which is mostly the model.
pub(super) fn split(recording: &Recording) -> Markup {
    let stats = recording.summary.stats.as_ref();
    let parts = stats.and_then(|stats| stats.calls_ms.zip(stats.other_ms));
    let Some((calls, other)) = parts.filter(|(calls, other)| *calls > 0 && *other > 0) else {
        return html! {};
    };
    #[expect(clippy::cast_precision_loss, reason = "to draw it")]
    let percent = other as f64 * 100.0 / (calls.saturating_add(other)) as f64;
    html! {
        div.split {
            svg width="100%" height="6" aria-hidden="true" {
                rect.calls width="100%" height="6" {}
                rect.model width=(format!("{percent:.1}%")) height="6" {}
            }
            p {
                span.model { "model " (duration(other)) }
                " "
                span.calls { "tools " (duration(calls)) }
            }
        }
    }
}

/// `page` finds the page of a stream.
pub(super) fn of_all<'p>(totals: &StatsTotals, page: impl Fn(&str) -> Option<&'p str>) -> Markup {
    if totals.sum.streams < 2 {
        return html! {};
    }
    let stream = |path: &str| {
        // Many recordings have the same name, in folders of their agents.
        let folder = path.rmatch_indices(['/', '\\']).nth(1);
        let name = folder.map_or(path, |(at, _)| &path[at + 1..]);
        html! { a href=[page(path)] { (OneLine(name)) } }
    };
    let calls = totals.slowest_calls.iter().take(LONGEST_SHOWN_MAX);
    let calls = calls.map(|call| {
        let (row, tool) = (&call.it, tool(call.it.tool.as_deref()));
        row_of(row.duration_ms, &html! { b.tool { (tool) } " " (stream(&call.path)) })
    });
    let silences = totals.silences.iter().take(LONGEST_SHOWN_MAX);
    let silences = silences.map(|it| row_of(it.it.duration_ms, &stream(&it.path)));
    let (calls, silences): (Vec<_>, Vec<_>) = (calls.collect(), silences.collect());
    html! {
        details.stats {
            (title(None))
            (table("agents", &stats_text::agents(&totals.agents)))
            (table("tools", &stats_text::tools(&totals.tools.rows(), false)))
            (lists(&[("Slowest calls", calls), ("Longest silences", silences)]))
        }
    }
}

/// The sums of several runs, to read at a glance: name, value, and what it is of.
pub(super) fn sums(sum: &StatsSum, time: TimeSum) -> [(&'static str, Option<String>, String); 5] {
    let some = |count: u64| {
        let is_all = count == sum.streams;
        if is_all { String::new() } else { format!("in {}", counted(count, "stream")) }
    };
    [
        ("tool calls", (sum.calls.total > 0).then(|| grouped(sum.calls.total)), String::new()),
        ("time", (time.streams > 0).then(|| duration(time.ms)), some(time.streams)),
        ("tokens in", sum.tokens_in.map(grouped), some(sum.token_streams)),
        ("tokens out", sum.tokens_out.map(grouped), String::new()),
        ("cost", sum.cost.map(|cost| dollars(in_dollars(cost))), some(sum.cost_streams)),
    ]
}

fn title(more: Option<&str>) -> Markup {
    html! {
        summary {
            h2 { "Figures" }
            @if let Some(more) = more { span.how { (more) } }
        }
    }
}

fn slow_call(recording: &Recording, slow: &SlowCall) -> Markup {
    let calls = recording.entries.all().filter_map(|entry| match &entry.kind {
        EntryKind::Call(call) if entry.at.line == slow.started_line => Some(call),
        _ => None,
    });
    let number = calls.into_iter().find(|call| call.id == slow.id).map(|call| call.number);
    let entry = number.map(|number| format!("#c{number}"));
    let bar = number.filter(|_| recording.bars.is_some());
    let is_bad = class(Some(slow.outcome)) != "good";
    let what = html! {
        a href=[entry] { b.tool { (tool(slow.tool.as_deref())) } } " "
        @if is_bad { strong { (slow.outcome.name()) } " " }
        @if let Some(detail) = &slow.detail { span.detail { (brief(detail)) } " " }
        @if let Some(number) = bar { a href={ "#b" (number) } { "bar" } }
        @else { "line " (slow.started_line) }
    };
    row_of(slow.duration_ms, &what)
}

fn silence(recording: &Recording, silence: &IdlePeriod) -> Markup {
    let IdlePeriod { duration_ms, after_line, before_line, .. } = silence;
    let mut entries = recording.entries.numbered();
    let entry = entries.find(|(entry, _)| entry.at.line == *before_line && !entry.is_blank());
    let entry = entry.map(|(entry, number)| match &entry.kind {
        EntryKind::Call(call) => format!("#c{}", call.number),
        _ => format!("#e{number}"),
    });
    let lines = html! { "lines " (after_line) " to " (before_line) };
    let lines = match entry {
        Some(entry) => html! { a href=(entry) { (lines) } },
        None => lines,
    };
    row_of(*duration_ms, &lines)
}

/// Sizes of the assistant's text and reasoning.
fn sizes(stats: &RunStats) -> Vec<Markup> {
    let text = (stats.texts, "text", stats.text_bytes, stats.longest_text_bytes);
    let (blocks, bytes) = (stats.reasoning_blocks, stats.reasoning_bytes);
    let reasoning = (blocks, "reasoning block", bytes, stats.longest_reasoning_bytes);
    let shown = [text, reasoning].into_iter().filter(|(count, ..)| *count > 0);
    let row = |(count, what, bytes, longest)| {
        html! {
            li {
                (counted(count, what)) ", " (size(bytes))
                @if count > 1 { ", the longest " (size(longest)) }
            }
        }
    };
    shown.map(row).collect()
}

fn row_of(duration_ms: u64, what: &Markup) -> Markup {
    html! { li { span.number { (duration(duration_ms)) } span { (what) } } }
}

fn tool(name: Option<&str>) -> String {
    name.map_or_else(|| "no name".to_owned(), short)
}

/// Lists next to each other, without those that are empty.
fn lists(lists: &[(&str, Vec<Markup>)]) -> Markup {
    let shown = || lists.iter().filter(|(_, items)| !items.is_empty());
    html! {
        @if shown().next().is_some() {
            div.lists {
                @for (title, items) in shown() {
                    div { h3 { (title) } ul { @for item in items { (item) } } }
                }
            }
        }
    }
}

fn is_nil(cell: &str) -> bool {
    cell == "-" || cell == "0"
}

/// A table without the columns that say nothing.
fn table(title: &str, table: &TextTable) -> Markup {
    let says = |column: &usize| table.rows.iter().any(|row| *column < 2 || !is_nil(&row[*column]));
    let columns: Vec<usize> = (0..table.head.len()).filter(says).collect();
    html! {
        @if !table.rows.is_empty() {
            div.wide role="region" tabindex="0" aria-label=(title) {
                table {
                    thead {
                        tr {
                            th scope="col" { (table.head[0]) }
                            @for column in columns.iter().skip(1) {
                                th.number scope="col" { (table.head[*column]) }
                            }
                        }
                    }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                th scope="row" { (row[0]) }
                                @for column in columns.iter().skip(1) {
                                    td.number.nil[is_nil(&row[*column])] { (row[*column]) }
                                }
                            }
                        }
                    }
                }
                @if table.omitted > 0 { p { "and " (table.omitted) " more" } }
            }
        }
    }
}
