//! The index of the pages of several streams.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};
use ndjson_check_core::{StreamSummary, counted, escape::clipped};

use super::page::{document, in_short};
use super::recording::Recording;
use super::stats::{of_all, sums};
use super::title::{badge, name};
use super::words::{OneLine, WithCode, duration};
use crate::limits::PAGES_MAX;
use crate::report::headline::TRIED_AGAIN;
use crate::report::stats::StatsTotals;
use crate::report::summary_text::{self, dollars, grouped, short};
use crate::report::{Headline, RunTotals};

const STREAM_BYTES_MAX: usize = 500;

/// Inputs that could not be checked, and are listed without a fold.
const ERRORS_SHOWN: usize = 5;

const COLUMNS: [&str; 4] = ["calls", "time", "tokens", "cost"];

#[derive(Debug, Default)]
pub(super) struct Index {
    rows: Vec<IndexRow>,
    errors: Vec<String>,
    omitted_bad: u64,
    omitted_good: u64,
    stats: StatsTotals,
    time: TimeSum,
    omitted_errors: u64,
}

/// The sum of the times that rows show, and of how many streams it is.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct TimeSum {
    pub(super) ms: u64,
    pub(super) streams: u64,
}

#[derive(Debug)]
struct IndexRow {
    stream: String,
    page: String,
    agent: String,
    headline: Headline,
    calls: u64,
    duration: Option<u64>,
    tokens: Option<u64>,
    cost: Option<f64>,
}

impl Index {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.errors.is_empty()
    }

    pub(super) fn add(&mut self, recording: &Recording, page: &str) {
        let Recording { agent, summary, headline, .. } = recording;
        let duration = self.count(summary);
        let (facts, usage) = (&summary.facts, &summary.facts.usage);
        self.rows.push(IndexRow {
            stream: clipped(&summary.name, STREAM_BYTES_MAX).into_owned(),
            page: page.to_owned(),
            agent: if summary.events > 0 { agent.clone() } else { String::new() },
            headline: headline.clone(),
            calls: summary.call_counts.total,
            duration,
            tokens: usage.tokens_in().zip(usage.output_tokens).map(|(a, b)| a.saturating_add(b)),
            cost: facts.cost_usd,
        });
    }

    /// Adds to the sums; returns how long the run took.
    fn count(&mut self, summary: &StreamSummary) -> Option<u64> {
        self.stats.add(&summary.into());
        let elapsed = summary.stats.as_ref().and_then(|stats| stats.elapsed_ms);
        let duration = summary.facts.duration_ms.or(elapsed);
        self.time.ms = self.time.ms.saturating_add(duration.unwrap_or_default());
        self.time.streams += u64::from(duration.is_some());
        duration
    }

    pub(super) fn omit(&mut self, summary: &StreamSummary, headline: &Headline) {
        self.count(summary);
        self.omitted_good += u64::from(headline.passed);
        self.omitted_bad += u64::from(!(headline.passed || headline.reason == TRIED_AGAIN));
    }

    pub(super) fn error(&mut self, stream: Option<&str>, message: &str) {
        if self.errors.len() == PAGES_MAX {
            self.omitted_errors += 1;
            return;
        }
        let stream = stream.filter(|stream| !message.contains(stream));
        let stream = stream.map_or(String::new(), |stream| format!("{stream}: "));
        self.errors.push(clipped(&format!("{stream}{message}"), 500).into_owned());
    }

    pub(super) fn page(&self, totals: &RunTotals, exit_code: u8) -> String {
        let (folder, sums) = (self.common_folder(), sums(&self.stats.sum, self.time));
        let body = html! {
            header {
                (self.title(totals, exit_code))
                p.source {
                    @if !folder.is_empty() { span.name { (OneLine(folder)) } " " }
                    span.found { (summary_text::found(totals).trim_start_matches(" · ")) }
                }
                (in_short(&sums))
            }
            main.index {
                (self.errors(totals, folder))
                (of_all(&self.stats, |stream| self.page_of(stream)))
                (self.tools())
                (self.table(folder))
                (without_page(self.omitted_bad, "did not pass"))
                (without_page(self.omitted_good, "passed"))
            }
            footer {
                p { "ndjson-check " (env!("CARGO_PKG_VERSION")) ". This page loads nothing." }
            }
        };
        document("ndjson-check: streams", &body)
    }

    /// How many streams did not pass. An attempt that was tried again is not counted.
    fn title(&self, totals: &RunTotals, exit_code: u8) -> Markup {
        let is_bad = |row: &&IndexRow| !(row.headline.passed || row.headline.reason == TRIED_AGAIN);
        let bad = self.rows.iter().filter(is_bad).count() as u64;
        let bad = bad + self.omitted_bad;
        let all = totals.streams - totals.tried_again + totals.not_checked;
        let again = match totals.tried_again {
            0 => String::new(),
            count => format!(", after {}", counted(count, "failed attempt")),
        };
        let stale = match totals.stale {
            0 => String::new(),
            count => format!("; {count} stale in the baseline"),
        };
        let of_all = |count| format!("{count} of {}", counted(all, "stream"));
        let sentence = match (bad, totals.not_checked) {
            (0, 0) if all == 1 => "The stream passed".to_owned(),
            (0, 0) => format!("All {all} streams passed"),
            (0, not_checked) => format!("{} could not be checked", of_all(not_checked)),
            (_, 0) => format!("{} did not pass", of_all(bad)),
            (_, not_checked) => {
                format!("{} did not pass, {not_checked} could not be checked", of_all(bad))
            }
        };
        let is_good = exit_code == 0;
        let mark = if is_good { "✓" } else { "✗" };
        html! {
            h1 {
                span.badge.good[is_good].bad[!is_good] aria-hidden="true" { (mark) }
                span.sentence { (sentence) (again) (stale) }
            }
        }
    }

    /// What could not be checked, and stale entries of the baseline.
    fn errors(&self, totals: &RunTotals, folder: &str) -> Markup {
        let message = |error: &'_ String| {
            html! { li { (WithCode(error.strip_prefix(folder).unwrap_or(error))) } }
        };
        let heading = match (totals.not_checked, totals.stale) {
            (_, 0) => "Not checked",
            (0, _) => "Stale in the baseline",
            _ => "Not checked, or stale in the baseline",
        };
        let (first, rest) = self.errors.split_at(self.errors.len().min(ERRORS_SHOWN));
        html! {
            @if !self.errors.is_empty() {
                section.errors {
                    h2 { (heading) }
                    ul { @for error in first { (message(error)) } }
                    @if !rest.is_empty() {
                        details.more {
                            summary { "show " (rest.len()) " more" }
                            ul { @for error in rest { (message(error)) } }
                        }
                    }
                    @if self.omitted_errors > 0 { p { (self.omitted_errors) " more." } }
                }
            }
        }
    }

    /// The rows by their reasons: first those that did not pass, the most frequent reason first.
    fn groups(&self) -> Vec<(&'static str, Vec<&IndexRow>)> {
        let mut groups: BTreeMap<(bool, &'static str), Vec<&IndexRow>> = BTreeMap::new();
        for row in &self.rows {
            groups.entry((row.headline.passed, row.headline.group)).or_default().push(row);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|((passed, reason), rows)| (*passed, Reverse(rows.len()), *reason));
        groups.into_iter().map(|((_, reason), rows)| (reason, rows)).collect()
    }

    /// Search, order and filter: hidden without the script.
    fn tools(&self) -> Markup {
        let groups = self.groups();
        html! {
            form #streams hidden role="search" {
                input type="search" name="search" autocomplete="off" placeholder="Search"
                    aria-label="Search";
                label {
                    "Order "
                    select name="order" {
                        option value="" { "by reason" }
                        option value="name" { "by name" }
                        @for (name, _) in COLUMNS.iter().zip(self.columns()).filter(|it| it.1) {
                            option value=(name) { "by " (name) }
                        }
                    }
                }
                output {}
                @if groups.len() > 1 {
                    div.chips role="group" aria-label="reasons" {
                        @for (reason, rows) in &groups {
                            button type="button" name="reason" value=(reason) aria-pressed="false" {
                                (reason) " " small { (rows.len()) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn page_of(&self, stream: &str) -> Option<&str> {
        let stream = clipped(stream, STREAM_BYTES_MAX);
        let row = self.rows.iter().find(|row| row.stream == stream);
        row.map(|row| row.page.as_str())
    }

    fn common_folder(&self) -> &str {
        let mut rows = self.rows.iter().map(|row| row.stream.as_str());
        let Some(mut common) = rows.next().map(folder_of) else { return "" };
        for name in rows {
            while !name.starts_with(common) {
                common = folder_of(common.trim_end_matches('/'));
            }
        }
        common
    }

    /// Which of the columns say something.
    fn columns(&self) -> [bool; 4] {
        let any = |has: fn(&IndexRow) -> bool| self.rows.iter().any(has);
        [
            any(|row| row.calls > 0),
            any(|row| row.duration.is_some()),
            any(|row| row.tokens.is_some()),
            any(|row| row.cost.is_some()),
        ]
    }

    fn table(&self, folder: &str) -> Markup {
        let columns = self.columns();
        let width = 3 + columns.iter().filter(|it| **it).count();
        html! {
            @if !self.rows.is_empty() {
                table.streams {
                    thead {
                        tr {
                            th.name scope="col" { "stream" }
                            th scope="col" { "result" }
                            th.agent scope="col" { "agent" }
                            @for (name, _) in COLUMNS.iter().zip(columns).filter(|it| it.1) {
                                th.number scope="col" { (name) }
                            }
                        }
                    }
                    @for (reason, rows) in self.groups() {
                        tbody data-reason=(reason) {
                            tr.group {
                                th colspan=(width) scope="rowgroup" {
                                    @if let Some(row) = rows.first() {
                                        (badge(&row.headline))
                                    }
                                    (reason) " " small { (rows.len()) }
                                }
                            }
                            @for row in rows { (row.markup(columns, folder)) }
                        }
                    }
                }
            }
        }
    }
}

fn without_page(count: u64, what: &str) -> Markup {
    let have = if count == 1 { "has" } else { "have" };
    html! {
        @if count > 0 {
            p { (counted(count, "more stream")) " " (what) " and " (have) " no page." }
        }
    }
}

impl IndexRow {
    fn markup(&self, columns: [bool; 4], folder: &str) -> Markup {
        #[expect(clippy::cast_precision_loss, reason = "to show it")]
        let time = self.duration.map(|ms| duration(ms as f64));
        let numbers = [
            (self.calls > 0).then(|| (grouped(self.calls), self.calls.to_string())),
            time.map(|time| (time, self.duration.unwrap_or_default().to_string())),
            self.tokens.map(|tokens| (short(tokens), tokens.to_string())),
            self.cost.map(|cost| (dollars(cost), format!("{cost:.6}"))),
        ];
        let numbers = numbers.iter().zip(COLUMNS);
        let shown = self.stream.strip_prefix(folder).unwrap_or(&self.stream);
        let between = match &self.headline.rest {
            rest if rest.starts_with(": ") => ": ",
            rest if rest.is_empty() => "",
            _ => " · ",
        };
        html! {
            tr {
                th.name scope="row" { a href=(self.page) { (name(shown)) } }
                td.reason {
                    span.why { (self.headline.mark()) " " (self.headline.reason) (between) }
                    (WithCode(self.headline.detail()))
                }
                td { (self.agent) }
                @for ((number, name), _) in numbers.zip(columns).filter(|it| it.1) {
                    @match number {
                        Some((number, value)) => {
                            td.number data-name=(name) data-value=(value) { (number) }
                        }
                        None => td.number data-name=(name) {},
                    }
                }
            }
        }
    }
}

fn folder_of(name: &str) -> &str {
    &name[..name.rfind('/').map_or(0, |at| at + 1)]
}
