//! A comparison as a person reads it.

use std::fmt::Write as _;

use ndjson_check_core::{
    ToolStats, counted,
    escape::{clipped, visible},
};

use super::outline::COMPARED_CALLS_MAX;
use super::{Changes, ComparedFigure, NOTHING, RunComparison};
use crate::report::{Change, ChangedItem, TextTable, duration, fenced, grouped, stream_name};

const COMPARED_ROWS_MAX: usize = 50;

const LINE_BYTES_MAX: usize = 200;

impl RunComparison<'_> {
    /// What is the same on one line, and then all that differs.
    pub fn text(&self) -> String {
        let [a, b] = [self.a, self.b].map(|it| stream_name(&it.name));
        let mut text = format!("- {}\n+ {}\n\n", visible(&a), visible(&b));
        let same = self.same();
        if !same.is_empty() {
            let _ = writeln!(text, "same: {}", same.join(", "));
        }
        if self.is_same() {
            text += "The runs did the same.\n";
        } else if !self.differs() {
            text += "What was compared is the same.\n";
        }
        for reason in &self.left_out {
            let _ = writeln!(text, "{reason}");
        }
        let differing: Vec<_> = self.results.iter().filter(|it| it.differs()).collect();
        text += &section("results", &figures_table(&differing));
        let differing: Vec<_> = self.figures.iter().filter(|it| it.differs()).collect();
        text += &section("figures, which do not count as a difference", &figures_table(&differing));
        text += &section("tools", &self.tools_table());
        let lists = [
            ("calls, in their order", &self.calls),
            ("text", &self.text),
            ("not in the profile", &self.unknown),
        ];
        for (title, changes) in lists {
            text += &section(title, &changes.text());
        }
        text
    }

    /// The text as a block of code, which no text of a stream can end.
    pub fn markdown(&self) -> String {
        let differs = match () {
            () if self.differs() => "the runs differ",
            () if self.is_same() => "the runs did the same",
            () => "what was compared is the same",
        };
        format!("## ndjson-check: {differs}\n\n{}", fenced("diff", &self.text()))
    }

    fn same(&self) -> Vec<String> {
        let equal = self.results.iter().filter(|it| !it.differs() && it.a != NOTHING);
        let mut same: Vec<String> =
            equal.map(|it| format!("{} {}", it.name, visible(&it.a))).collect();
        if self.calls.kept > 0 {
            let kept = counted(self.calls.kept as u64, "call");
            let first = grouped(COMPARED_CALLS_MAX as u64);
            same.push(if self.has_more_calls {
                format!("{kept} of the first {first}")
            } else {
                kept
            });
        }
        if self.text.kept > 0 {
            same.push(format!("{} of text", counted(self.text.kept as u64, "line")));
        }
        same
    }

    fn tools_table(&self) -> String {
        let head = vec!["", "calls -", "+", "failed -", "+", "median -", "+", "longest -", "+"];
        let mut rows = Vec::new();
        for (name, a, b) in self.tools() {
            let both = |of: fn(&ToolStats) -> String| {
                [a, b].map(|tool| tool.map_or_else(|| "-".to_owned(), of))
            };
            let cells = [
                both(|tool| grouped(tool.calls)),
                both(|tool| grouped(tool.failed)),
                both(|tool| known(tool.median_ms)),
                both(|tool| known(tool.longest_ms)),
            ];
            if cells.iter().any(|[a, b]| a != b) {
                let name = clipped(&visible(&name), LINE_BYTES_MAX).into_owned();
                rows.push([name].into_iter().chain(cells.into_iter().flatten()).collect());
            }
        }
        TextTable::new(head, rows).text()
    }
}

fn known(ms: Option<u64>) -> String {
    ms.map_or_else(|| "-".to_owned(), duration)
}

fn figures_table(figures: &[&ComparedFigure]) -> String {
    let short = |text: &str| clipped(&visible(text), LINE_BYTES_MAX).into_owned();
    let row = |it: &&ComparedFigure| vec![it.name.to_owned(), short(&it.a), short(&it.b)];
    TextTable::new(vec!["", "-", "+"], figures.iter().map(row).collect()).text()
}

fn section(title: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n{title}:\n{body}") }
}

impl Changes {
    fn text(&self) -> String {
        let mut text = String::new();
        for ChangedItem { change, item } in self.list.iter().take(COMPARED_ROWS_MAX) {
            let sign = if *change == Change::Removed { '-' } else { '+' };
            let _ = writeln!(text, "  {sign} {}", clipped(&visible(item), LINE_BYTES_MAX));
        }
        let omitted = self.list.len().saturating_sub(COMPARED_ROWS_MAX);
        if omitted > 0 {
            let _ = writeln!(text, "  and {omitted} more");
        }
        text
    }
}
