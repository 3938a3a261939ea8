//! The index of the pages of several streams.

use maud::{Markup, html};
use ndjson_check_core::{Outcome, Rule, StreamSummary, Verdict, counted, escape::clipped};

use super::page::{document, in_short, name};
use super::stats::{of_all, sums};
use super::words::{OneLine, duration};
use crate::limits::PAGES_MAX;
use crate::report::stats::StatsTotals;
use crate::report::summary_text::{self, dollars, grouped};
use crate::report::{Answers, Headline, RunTotals};

/// Longest name of a stream in the index, in bytes.
const STREAM_BYTES_MAX: usize = 500;

const COLUMNS: [&str; 4] = ["calls", "time", "tokens", "cost"];

/// The streams in the index, and what could not be checked.
#[derive(Debug, Default)]
pub(super) struct Index {
    rows: Vec<IndexRow>,
    errors: Vec<String>,
    omitted_bad: u64,
    omitted_good: u64,
    stats: StatsTotals,
    answers: Answers,
    omitted_errors: u64,
}

#[derive(Debug)]
struct IndexRow {
    stream: String,
    page: String,
    is_good: bool,
    profile: String,
    outcome: &'static str,
    /// The rest of the headline.
    reason: String,
    calls: u64,
    duration: Option<u64>,
    tokens: Option<u64>,
    cost: Option<f64>,
}

impl Index {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.errors.is_empty()
    }

    pub(super) fn add(&mut self, summary: &StreamSummary, headline: &Headline, page: &str) {
        self.stats.add(&summary.into());
        self.answers.add(headline);
        let (facts, usage) = (&summary.facts, &summary.facts.usage);
        let elapsed = summary.stats.as_ref().and_then(|stats| stats.elapsed_ms);
        self.rows.push(IndexRow {
            stream: clipped(&summary.name, STREAM_BYTES_MAX).into_owned(),
            page: page.to_owned(),
            is_good: is_good(summary),
            profile: summary.profile.clone(),
            outcome: headline.reason,
            reason: headline.detail().to_owned(),
            calls: summary.call_counts.total,
            duration: facts.duration_ms.or(elapsed),
            tokens: usage.tokens_in().zip(usage.output_tokens).map(|(a, b)| a.saturating_add(b)),
            cost: facts.cost_usd,
        });
    }

    /// A stream that has no page.
    pub(super) fn omit(&mut self, summary: &StreamSummary, headline: &Headline) {
        self.stats.add(&summary.into());
        self.answers.add(headline);
        let is_good = is_good(summary);
        self.omitted_good += u64::from(is_good);
        self.omitted_bad += u64::from(!is_good);
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

    pub(super) fn page(&self, totals: &RunTotals) -> String {
        let bad: Vec<_> = self.rows.iter().filter(|row| !row.is_good).collect();
        let good: Vec<_> = self.rows.iter().filter(|row| row.is_good).collect();
        let folder = self.common_folder();
        let all = totals.streams + totals.not_checked;
        let not_checked = self.errors.len() as u64 + self.omitted_errors;
        let bad_count = bad.len() as u64 + self.omitted_bad + not_checked;
        let sums = sums(&self.stats.sum);
        let body = html! {
            header {
                h1 { @if folder.is_empty() { "Streams" } @else { (OneLine(folder)) } }
                p.verdict {
                    @if bad_count == 0 { "No stream needs a look" }
                    @else if bad_count == all { "All streams need a look" }
                    @else { (bad_count) " of " (counted(all, "stream")) " need a look" }
                }
                p { (self.answers.text(totals)) (summary_text::found(totals)) }
                (in_short(&sums))
            }
            main.index {
                @if !self.errors.is_empty() {
                    section {
                        h2 { "Not checked" }
                        ul.errors { @for error in &self.errors { li { (OneLine(error)) } } }
                        @if self.omitted_errors > 0 { p { (self.omitted_errors) " more." } }
                    }
                }
                (of_all(&self.stats, |stream| self.page_of(stream)))
                (self.table("Need a look", &bad, folder))
                (without_page(self.omitted_bad))
                (self.table("Good", &good, folder))
                (without_page(self.omitted_good))
            }
            footer { p { "Written by ndjson-check " (env!("CARGO_PKG_VERSION")) "." } }
        };
        document("ndjson-check: streams", &body)
    }

    fn page_of(&self, stream: &str) -> Option<&str> {
        let stream = clipped(stream, STREAM_BYTES_MAX);
        let row = self.rows.iter().find(|row| row.stream == stream);
        row.map(|row| row.page.as_str())
    }

    /// The folder that the names of all streams begin with.
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

    fn table(&self, title: &str, rows: &[&IndexRow], folder: &str) -> Markup {
        let any = |has: fn(&IndexRow) -> bool| self.rows.iter().any(has);
        let columns = [
            any(|row| row.calls > 0),
            any(|row| row.duration.is_some()),
            any(|row| row.tokens.is_some()),
            any(|row| row.cost.is_some()),
        ];
        html! {
            @if !rows.is_empty() {
                table {
                    caption { (title) " (" (rows.len()) ")" }
                    thead {
                        tr {
                            th.name scope="col" { "stream" }
                            th scope="col" { "outcome" }
                            th.agent scope="col" { "agent" }
                            @for (name, _) in COLUMNS.iter().zip(columns).filter(|it| it.1) {
                                th.number scope="col" { (name) }
                            }
                        }
                    }
                    tbody { @for row in rows { (row.markup(columns, folder)) } }
                }
            }
        }
    }
}

impl IndexRow {
    fn markup(&self, columns: [bool; 4], folder: &str) -> Markup {
        #[expect(clippy::cast_precision_loss, reason = "to show it")]
        let time = self.duration.map(|ms| duration(ms as f64));
        let numbers = [
            (self.calls > 0).then(|| grouped(self.calls)),
            time,
            self.tokens.map(grouped),
            self.cost.map(dollars),
        ];
        let numbers = numbers.iter().zip(COLUMNS);
        let shown = self.stream.strip_prefix(folder).unwrap_or(&self.stream);
        html! {
            tr {
                th.name scope="row" { a href=(self.page) { (name(shown)) } }
                td {
                    @if self.is_good { (self.outcome) } @else { strong { (self.outcome) } }
                    @if !self.reason.is_empty() { p.reason { (OneLine(&self.reason)) } }
                }
                td { (self.profile) }
                @for ((number, name), _) in numbers.zip(columns).filter(|it| it.1) {
                    td.number data-name=(name) { @if let Some(number) = number { (number) } }
                }
            }
        }
    }
}

/// Streams of one table that are not in it.
fn without_page(count: u64) -> Markup {
    html! { @if count > 0 { p { (counted(count, "more stream")) " without a page." } } }
}

/// Whether a stream needs no look: the run succeeded, and did something of what it was asked for.
pub(super) fn is_good(summary: &StreamSummary) -> bool {
    summary.outcome == Outcome::Succeeded
        && summary.verdict == Verdict::Conforming
        && !summary.rule_counts.contains_key(&Rule::AllCallsRefused)
}

fn folder_of(name: &str) -> &str {
    &name[..name.rfind('/').map_or(0, |at| at + 1)]
}
