//! The numbers in reports that a person reads.

use ndjson_check_core::{EndReason, Note, Outcome, StreamSummary, counted};

use super::RunTotals;

/// The outcome of a stream, with the reason for one that is not a success.
pub(crate) fn outcome(summary: &StreamSummary) -> String {
    let reason = match (summary.outcome, summary.facts.reason) {
        (Outcome::Failed | Outcome::Truncated, Some(reason)) if reason != EndReason::Unknown => {
            format!(" ({})", reason.name())
        }
        _ => String::new(),
    };
    format!("{}{reason}", summary.outcome.name())
}

/// What is known of why a run did not succeed: the agent's own words, how its process ended, what
/// the check noted about the end, and the last line of standard error. Not escaped.
pub(super) fn reasons(summary: &StreamSummary) -> Vec<String> {
    let mut reasons: Vec<String> = summary.facts.error_text.iter().cloned().collect();
    // After a timeout we ended it.
    let status = summary.exit_status.filter(|_| summary.outcome != Outcome::TimedOut);
    reasons.extend(status.filter(|status| !status.is_success()).map(|it| it.to_string()));
    let explains = |note: &&Note| match note {
        Note::TimedOut(_) | Note::CutShort { .. } | Note::ExitStatusMeaning(_) => true,
        Note::FailureReported { .. } => summary.facts.error_text.is_none(),
        _ => false,
    };
    reasons.extend(summary.notes.iter().filter(explains).map(Note::to_string));
    reasons.extend(summary.stderr.last().map(|line| format!("stderr: {line}")));
    reasons
}

/// The sum of all streams, on one line.
pub(super) fn sum(totals: &RunTotals) -> String {
    let verdicts = [
        (totals.conforming, "conforming"),
        (totals.non_conforming, "non-conforming"),
        (totals.not_checked, "not checked"),
    ];
    let outcomes = [
        (totals.succeeded, "succeeded"),
        (totals.failed, "failed"),
        (totals.truncated, "truncated"),
        (totals.timed_out, "timed out"),
    ];
    let (errors, warnings) = (counted(totals.errors, "error"), counted(totals.warnings, "warning"));
    let known = if totals.known > 0 { format!(", {} known", totals.known) } else { String::new() };
    let found = format!("{errors}, {warnings}{known}");
    let mut parts = vec![listed(&verdicts), listed(&outcomes), found];
    parts.retain(|part| !part.is_empty());
    let streams = counted(totals.streams + totals.not_checked, "stream");
    format!("{streams}: {}", parts.join("; "))
}

/// The most useful numbers of one stream, in the same order for every agent.
pub(super) fn numbers(summary: &StreamSummary) -> Vec<String> {
    let mut numbers = Vec::new();
    for (count, what) in [(summary.errors, "error"), (summary.warnings, "warning")] {
        if count > 0 {
            numbers.push(counted(count, what));
        }
    }
    if summary.known > 0 {
        numbers.push(format!("{} known", summary.known));
    }
    numbers.push(counted(summary.events, "event"));
    let facts = &summary.facts;
    numbers.extend(facts.turns.map(|turns| counted(turns, "turn")));
    let calls = summary.call_counts;
    if calls.total > 0 {
        let others = [
            (calls.failed, "failed"),
            (calls.rejected, "rejected"),
            (calls.denied, "denied"),
            (calls.unfinished, "unfinished"),
        ];
        numbers.push(format!("{}{}", counted(calls.total, "tool call"), aside(listed(&others))));
    }
    numbers.extend(summary.exit_status.map(|status| status.to_string()));
    numbers.extend(facts.cost_usd.map(dollars));
    if let Some(tokens) = facts.usage.tokens_in() {
        let cached = facts.usage.cache_read_tokens.filter(|cached| *cached > 0);
        let cached = cached.map(|cached| format!("{} cached", grouped(cached)));
        numbers.push(format!("{} tokens in{}", grouped(tokens), aside(cached.unwrap_or_default())));
    }
    if let Some(tokens) = facts.usage.output_tokens {
        let unit = if facts.usage.tokens_in().is_some() { "out" } else { "tokens out" };
        numbers.push(format!("{} {unit}", grouped(tokens)));
    }
    numbers.extend(facts.duration_ms.map(|ms| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)));
    numbers
}

/// In parentheses, with a space before them; nothing for nothing.
fn aside(text: String) -> String {
    if text.is_empty() { text } else { format!(" ({text})") }
}

/// Cents, and more digits of what is less than ten cents.
pub(crate) fn dollars(cost: f64) -> String {
    if cost == 0.0 || cost >= 0.1 { format!("${cost:.2}") } else { format!("${cost:.4}") }
}

/// With a space between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(" ")
}

/// The counts that are not zero.
fn listed(counts: &[(u64, &str)]) -> String {
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}
