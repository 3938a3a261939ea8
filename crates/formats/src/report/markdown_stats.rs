//! The figures of runs in the Markdown report.

use std::fmt::Write as _;

use ndjson_check_core::{RunStats, StreamSummary};

use super::markdown_text::{cell, code, prose};
use super::stats::{InStream, StatsTotals};
use super::stats_text::{self, TextTable};
use super::unknown_text;

pub(super) fn of_stream(summary: &StreamSummary, stats: &RunStats) -> String {
    let mut text = format!("{}\n\n", prose(&stats_text::row(summary, stats)));
    text += &table(&stats_text::tools(&stats.tools, true));
    text += &table(&stats_text::sub_agents(&stats.sub_agents));
    let calls = stats.slowest_calls.iter().map(|it| InStream::new(&summary.name, it.clone()));
    let silences = stats.silences.iter().map(|it| InStream::new(&summary.name, *it));
    let (calls, silences): (Vec<_>, Vec<_>) = (calls.collect(), silences.collect());
    text += &list("Slowest calls", &stats_text::slowest(&calls, |_| None));
    text += &list("Longest silences", &stats_text::silences(&silences, |_| None));
    let mut alone = StatsTotals::default();
    alone.add(&summary.into());
    text + &list("Not in the profile", &unknown_text::all(&alone))
}

pub(super) fn of_all(totals: &StatsTotals) -> String {
    if totals.sum.streams < 2 {
        return String::new();
    }
    let mut text = table(&stats_text::agents(&totals.agents));
    text += &table(&stats_text::tools(&totals.tools.rows(), false));
    let place = |path: &str| Some(path.to_owned());
    text += &list("Slowest calls", &stats_text::slowest(&totals.slowest_calls, place));
    text += &list("Longest silences", &stats_text::silences(&totals.silences, place));
    text + &list("Not in the profile", &unknown_text::all(totals))
}

fn table(table: &TextTable) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let mut text =
        format!("| {} |\n|---{}|\n", table.head.join(" | "), "|---:".repeat(table.head.len() - 1));
    for row in &table.rows {
        let cells = row.iter().zip(&table.head).enumerate().map(|(column, (it, head))| {
            if column == 0 || *head == "model" {
                return cell(it);
            }
            // A cost begins with a sign that could begin a formula.
            it.replace(' ', "\u{a0}").replace('$', "\\$")
        });
        let _ = writeln!(text, "| {} |", cells.collect::<Vec<String>>().join(" | "));
    }
    if table.omitted > 0 {
        let _ =
            writeln!(text, "| and {} more |{}", table.omitted, " |".repeat(table.head.len() - 1));
    }
    text + "\n"
}

fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("- {}", code(line))).collect();
    format!("{title}:\n\n{}\n\n", lines.join("\n"))
}
