//! The figures of runs as a person reads them.

use std::fmt::Write as _;

use ndjson_check_core::{
    IdlePeriod, RunStats, SlowCall, StreamSummary, SubAgentStats, ToolStats, counted,
    escape::{clipped, visible},
};

use unicode_width::UnicodeWidthStr as _;

use super::bounded::{Bounded, worst};
use super::stats::{Agent, InStream, StatsSum, StatsTotals, in_dollars};
use super::summary_text::{dollars, grouped};
use super::unknown_text;
use crate::limits::STATS_ROWS_MAX;

/// Longest name of a tool or a version in a table, in bytes.
const NAME_BYTES_MAX: usize = 40;

const DETAIL_BYTES_MAX: usize = 80;

/// Slowest calls, and longest silences, in a list. The json report has more.
pub(super) const LONGEST_SHOWN_MAX: usize = 5;

/// A table: the first column is text, and the others are numbers.
#[derive(Debug)]
pub(crate) struct TextTable {
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) omitted: usize,
}

/// What one stream did, on one line.
pub(super) fn row(summary: &StreamSummary, stats: &RunStats) -> String {
    let calls = summary.call_counts.total;
    let mut parts = vec![counted(calls, "call")];
    let without = match stats.timed_events {
        0 => "the stream has no times",
        _ => "only one event has a time",
    };
    parts.push(times(summary, stats).unwrap_or_else(|| without.to_owned()));
    if let Some(call) = stats.slowest_calls.first() {
        parts.push(format!("slowest call {}, line {}", slow(call), call.started_line));
    }
    if let Some(silence) = stats.silences.first() {
        let IdlePeriod { duration_ms, before_line, .. } = silence;
        parts
            .push(format!("longest silence {}, before line {before_line}", duration(*duration_ms)));
    }
    let of_bytes = |count, what, bytes| {
        (count > 0).then(|| format!("{}, {} bytes", counted(count, what), grouped(bytes)))
    };
    parts.extend(of_bytes(stats.texts, "text", stats.text_bytes));
    parts.extend(of_bytes(stats.reasoning_blocks, "reasoning block", stats.reasoning_bytes));
    parts.join("; ")
}

/// Where the time went, if the stream has times.
pub(super) fn times(summary: &StreamSummary, stats: &RunStats) -> Option<String> {
    let elapsed = format!("{} from the first event to the last", duration(stats.elapsed_ms?));
    Some(match (stats.calls_ms, stats.other_ms) {
        (Some(in_calls), Some(other)) if summary.call_counts.total > 0 => {
            let (in_calls, other) = (duration(in_calls), duration(other));
            format!("{elapsed}: {in_calls} with an open call, {other} without")
        }
        _ => elapsed,
    })
}

fn slow(call: &SlowCall) -> String {
    format!("{} {}", name(call.tool.as_deref()), duration(call.duration_ms))
}

pub(super) fn agent(profile: &str, version: Option<&str>) -> String {
    format!("{} {}", short(profile), short(version.unwrap_or("(no version)")))
}

/// A row for each version of an agent.
pub(super) fn agents(of: &Bounded<Agent, StatsSum>) -> TextTable {
    let head = [
        "agent",
        "runs",
        "failed runs",
        "cut runs",
        "calls",
        "failed",
        "refused",
        "open",
        "time",
        "in calls",
        "tokens in",
        "out",
        "cost",
    ];
    let named =
        of.named.iter().map(|((profile, version), sum)| (agent(profile, version.as_deref()), sum));
    let others = of.others.iter().map(|sum| ("others".to_owned(), sum));
    let row = |(agent, sum): (String, &StatsSum)| {
        let calls = sum.calls;
        let counts = [
            sum.streams,
            sum.failed,
            sum.truncated + sum.timed_out,
            calls.total,
            calls.failed,
            calls.rejected + calls.denied,
            calls.unfinished,
        ];
        let mut row = vec![agent];
        row.extend(counts.map(grouped));
        row.extend([sum.elapsed_ms, sum.calls_ms].map(|ms| known(ms.map(duration))));
        row.extend([sum.tokens_in, sum.tokens_out].map(|tokens| known(tokens.map(grouped))));
        row.push(known(sum.cost.map(|cost| dollars(in_dollars(cost)))));
        (counts[1] + counts[2] > 0 || counts[4..] != [0; 3], row)
    };
    TextTable::worst_of(head.to_vec(), named.chain(others).map(row).collect())
}

/// A row for each tool. Several streams have no median.
pub(super) fn tools(tools: &[ToolStats], is_single: bool) -> TextTable {
    let mut head = vec!["tool", "calls", "failed", "refused", "open", "timed", "total"];
    head.extend([if is_single { "median" } else { "mean" }, "longest"]);
    let row = |tool: &ToolStats| {
        let refused = tool.rejected + tool.denied;
        let counts = [tool.calls, tool.failed, refused, tool.unfinished, tool.timed];
        let mean = tool.total_ms.and_then(|total| total.checked_div(tool.timed));
        let middle = if is_single { tool.median_ms } else { mean };
        let mut row = vec![name(tool.tool.as_deref())];
        row.extend(counts.map(grouped));
        row.extend([tool.total_ms, middle, tool.longest_ms].map(|ms| known(ms.map(duration))));
        (tool.failed + refused + tool.unfinished > 0, row)
    };
    TextTable::worst_of(head, tools.iter().map(row).collect())
}

/// A row for each sub-agent of a stream.
pub(super) fn sub_agents(sub_agents: &[SubAgentStats]) -> TextTable {
    let head = vec!["sub-agent", "model", "calls", "tokens in"];
    let row = |of: &SubAgentStats| {
        let mut row = vec![name(of.detail.as_deref().or(of.tool.as_deref()))];
        row.extend([known(of.model.as_deref().map(short)), grouped(of.calls)]);
        row.push(known(of.input_tokens.map(grouped)));
        row
    };
    TextTable::new(head, sub_agents.iter().map(row).collect())
}

impl TextTable {
    pub(crate) fn new(head: Vec<&'static str>, rows: Vec<Vec<String>>) -> Self {
        Self::worst_of(head, rows.into_iter().map(|row| (false, row)).collect())
    }

    /// Of rows that show a failure, or do not.
    fn worst_of(head: Vec<&'static str>, rows: Vec<(bool, Vec<String>)>) -> Self {
        let omitted = rows.len().saturating_sub(STATS_ROWS_MAX);
        let rows = worst(rows, STATS_ROWS_MAX, |row| row.0).into_iter().map(|row| row.1).collect();
        Self { head, rows, omitted }
    }

    /// As lines of text, in columns; nothing for an empty table.
    pub(crate) fn text(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].width());
            cells.chain([self.head[column].len()]).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let head = self.head.iter().map(|it| (*it).to_owned()).collect();
        let mut text = String::new();
        for row in std::iter::once(&head).chain(&self.rows) {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                let pad = " ".repeat(width - cell.width());
                if column == 0 { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
            });
            text += "  ";
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        if self.omitted > 0 {
            let _ = writeln!(text, "  and {} more", self.omitted);
        }
        text
    }
}

/// The slowest calls, a line each. `place` says in which stream.
pub(super) fn slowest(
    calls: &[InStream<SlowCall>],
    place: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let line = |call: &InStream<SlowCall>| {
        let SlowCall { started_line, completed_line, outcome, .. } = call.it;
        let outcome = match outcome.name() {
            "succeeded" | "unknown" => String::new(),
            name => format!(" ({name})"),
        };
        let place = place(&call.path).map(|it| format!("{it}, ")).unwrap_or_default();
        let says_more = |detail: &&str| Some(*detail) != call.it.tool.as_deref();
        let detail =
            call.it.detail.as_deref().filter(says_more).map(|it| format!(": {}", brief(it)));
        let lines = if started_line == completed_line {
            format!("line {started_line}")
        } else {
            format!("lines {started_line} to {completed_line}")
        };
        format!("{}{outcome}, {place}{lines}{}", slow(&call.it), detail.unwrap_or_default())
    };
    calls.iter().take(LONGEST_SHOWN_MAX).map(line).collect()
}

pub(super) fn silences(
    silences: &[InStream<IdlePeriod>],
    place: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let line = |silence: &InStream<IdlePeriod>| {
        let IdlePeriod { duration_ms, after_line, before_line, .. } = silence.it;
        let place = place(&silence.path).map(|it| format!("{it}, ")).unwrap_or_default();
        format!("{}, {place}lines {after_line} to {before_line}", duration(duration_ms))
    };
    silences.iter().take(LONGEST_SHOWN_MAX).map(line).collect()
}

/// All figures, for the end of the human report.
pub(super) fn block(totals: &StatsTotals, single: Option<&RunStats>) -> String {
    let mut text = String::new();
    let is_single = totals.sum.streams == 1;
    let tools = match single {
        Some(stats) => tools(&stats.tools, true),
        None => tools(&totals.tools.rows(), false),
    };
    let agents = if is_single { String::new() } else { agents(&totals.agents).text() };
    let sub_agents = single.map_or_else(String::new, |stats| sub_agents(&stats.sub_agents).text());
    for table in [agents, tools.text(), sub_agents] {
        if !table.is_empty() {
            let _ = write!(text, "\n{table}");
        }
    }
    let place = |path: &str| (!is_single).then(|| visible(path).into_owned());
    let lists = [
        ("slowest calls", slowest(&totals.slowest_calls, place)),
        ("longest silences", silences(&totals.silences, place)),
        ("not in the profile", unknown_text::all(totals)),
    ];
    for (title, lines) in lists {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}:");
        }
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    if !text.is_empty() && !is_single {
        text.push('\n');
    }
    text
}

fn known(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "-".to_owned())
}

fn name(tool: Option<&str>) -> String {
    tool.map_or_else(|| "(no name)".to_owned(), short)
}

pub(super) fn short(name: &str) -> String {
    clipped(&visible(name), NAME_BYTES_MAX).into_owned()
}

pub(super) fn brief(detail: &str) -> String {
    clipped(&visible(detail), DETAIL_BYTES_MAX).into_owned()
}

/// With three digits or so: `230 ms`, `2.31 s`, `40.1 s`, `12 m 05 s`, `1 h 02 m`, `12 d 03 h`.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 => format!("{seconds}.{:02} s", ms % 1_000 / 10),
        10_000..60_000 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        3_600_000..=172_800_000 => format!("{} h {:02} m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}
