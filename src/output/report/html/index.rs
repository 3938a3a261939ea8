//! The index of the pages of several streams.

use maud::{Markup, html};

use super::page::{document, name};
use super::words::{OneLine, duration};
use crate::check::{Outcome, StreamSummary, Verdict, counted};
use crate::limits::PAGES_MAX;
use crate::output::report::Totals;
use crate::output::report::figures::{self, dollars, grouped};
use crate::rules::escape::clipped;

/// The streams in the index, and what could not be checked.
#[derive(Debug, Default)]
pub(super) struct Index {
    rows: Vec<IndexRow>,
    errors: Vec<String>,
    omitted: u64,
    omitted_errors: u64,
}

#[derive(Debug)]
struct IndexRow {
    stream: String,
    page: String,
    is_good: bool,
    profile: String,
    outcome: String,
    verdict: &'static str,
    /// Why it is not good.
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

    pub(super) fn add(&mut self, summary: &StreamSummary, page: &str) {
        let (facts, usage) = (&summary.facts, &summary.facts.usage);
        let conforms = summary.verdict == Verdict::Conforming;
        let found = [(summary.errors, "error"), (summary.warnings, "warning")];
        let found = found.iter().filter(|(count, _)| *count > 0);
        let found = found.map(|(count, what)| counted(*count, what));
        let reasons = figures::reasons(summary).into_iter().take(1);
        let reason = found.chain(reasons).collect::<Vec<_>>().join("; ");
        self.rows.push(IndexRow {
            stream: clipped(&summary.name, 500).into_owned(),
            page: page.to_owned(),
            is_good: conforms && summary.outcome == Outcome::Succeeded,
            profile: summary.profile.clone(),
            outcome: figures::outcome(summary),
            verdict: summary.verdict.name(),
            reason: clipped(&reason, 300).into_owned(),
            calls: summary.call_counts.total,
            duration: facts.duration_ms,
            tokens: usage.tokens_in().zip(usage.output_tokens).map(|(a, b)| a.saturating_add(b)),
            cost: facts.cost_usd,
        });
    }

    /// A stream that has no page.
    pub(super) fn omit(&mut self) {
        self.omitted += 1;
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

    pub(super) fn page(&self, totals: &Totals) -> String {
        let bad: Vec<_> = self.rows.iter().filter(|row| !row.is_good).collect();
        let good: Vec<_> = self.rows.iter().filter(|row| row.is_good).collect();
        let body = html! {
            header {
                h1 { "Streams" }
                p.verdict { (figures::sum(totals)) }
            }
            main.index {
                @if !self.errors.is_empty() {
                    section {
                        h2 { "Not checked" }
                        ul.errors { @for error in &self.errors { li { (OneLine(error)) } } }
                        @if self.omitted_errors > 0 { p { (self.omitted_errors) " more." } }
                    }
                }
                (table("Need a look", &bad))
                (table("Good", &good))
                @if self.omitted > 0 {
                    p { (counted(self.omitted, "more stream")) " have no page." }
                }
            }
            footer { p { "Written by ndjson-check " (env!("CARGO_PKG_VERSION")) "." } }
        };
        document("ndjson-check: streams", &body)
    }
}

fn table(title: &str, rows: &[&IndexRow]) -> Markup {
    #[expect(clippy::cast_precision_loss, reason = "to show it")]
    let time = |ms: u64| duration(ms as f64);
    html! {
        @if !rows.is_empty() {
            section {
                table {
                    caption { (title) " (" (rows.len()) ")" }
                    thead {
                        tr {
                            th scope="col" { "stream" }
                            th scope="col" { "outcome" }
                            th scope="col" { "agent" }
                            th.number scope="col" { "calls" }
                            th.number scope="col" { "time" }
                            th.number scope="col" { "tokens" }
                            th.number scope="col" { "cost" }
                        }
                    }
                    tbody {
                        @for row in rows {
                            tr {
                                th scope="row" { a href=(row.page) { (name(&row.stream)) } }
                                td {
                                    @if !row.is_good { strong { (row.outcome) ", " (row.verdict) } }
                                    @else { (row.outcome) }
                                    @if !row.reason.is_empty() {
                                        " " span.reason { (OneLine(&row.reason)) }
                                    }
                                }
                                td { (row.profile) }
                                td.number { @if row.calls > 0 { (grouped(row.calls)) } }
                                td.number { @if let Some(ms) = row.duration { (time(ms)) } }
                                td.number { @if let Some(it) = row.tokens { (grouped(it)) } }
                                td.number { @if let Some(it) = row.cost { (dollars(it)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
