//! Outputs of a GitHub workflow's step: lines `name=value` for the steps that follow.
//!
//! Every value is a number, a word of this program, or an id or a name of a model in harmless
//! characters: no other text of a stream is in it.

use std::cmp::Ordering;
use std::io;

use ndjson_check_core::{EndReason, Outcome, RetryAfter, Retryable, StreamSummary};

use super::RunTotals;
use crate::output::Output;

/// Writes the outputs.
pub struct StepOutputs {
    cost_usd: Option<f64>,
    tokens: Option<u64>,
    turns: Option<u64>,
    /// Calls that a person or a rule refused.
    denied: u64,
    /// Of the streams with the worst outcome.
    worst: Option<Worst>,
    session: Common,
    model: Common,
}

#[derive(Clone, Copy)]
struct Worst {
    outcome: Outcome,
    reason: Option<EndReason>,
    retryable: Option<Retryable>,
    retry_after: Option<RetryAfter>,
}

impl Worst {
    /// The worse of two; of equally bad ones, what both have.
    fn with(self, other: Self) -> Self {
        match badness(self.outcome).cmp(&badness(other.outcome)) {
            Ordering::Less => other,
            Ordering::Greater => self,
            Ordering::Equal => Self {
                reason: self.reason.filter(|_| self.reason == other.reason),
                retryable: self.retryable.filter(|_| self.retryable == other.retryable),
                retry_after: self.retry_after.filter(|_| self.retry_after == other.retry_after),
                outcome: self.outcome,
            },
        }
    }
}

/// A name that all streams have.
enum Common {
    None,
    All(String),
    Differs,
}

impl Common {
    fn add(&mut self, name: Option<&str>) {
        let name = name.filter(|name| is_harmless(name));
        *self = match (&*self, name) {
            (Self::None, Some(name)) => Self::All(name.to_owned()),
            (Self::All(known), Some(name)) if known == name => return,
            _ => Self::Differs,
        };
    }

    fn name(&self) -> String {
        match self {
            Self::All(name) => name.clone(),
            Self::None | Self::Differs => String::new(),
        }
    }
}

impl Default for StepOutputs {
    fn default() -> Self {
        Self {
            cost_usd: Some(0.0),
            tokens: Some(0),
            turns: Some(0),
            denied: 0,
            worst: None,
            session: Common::None,
            model: Common::None,
        }
    }
}

impl Output for StepOutputs {
    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        let (facts, usage) = (&summary.facts, &summary.facts.usage);
        let tokens = usage.tokens_in().zip(usage.output_tokens);
        let tokens = tokens.map(|(sent, received)| sent.saturating_add(received));
        self.cost_usd = self.cost_usd.zip(facts.cost_usd).map(|(sum, cost)| sum + cost);
        self.tokens = self.tokens.zip(tokens).map(|(sum, tokens)| sum.saturating_add(tokens));
        self.turns = self.turns.zip(facts.turns).map(|(sum, turns)| sum.saturating_add(turns));
        let calls = &summary.call_counts;
        self.denied = self.denied.saturating_add(calls.rejected).saturating_add(calls.denied);
        if summary.was_tried_again() {
            return;
        }
        let (reason, retryable) = (facts.reason, facts.retryable);
        let retry_after = facts.retry_after;
        let this = Worst { outcome: summary.outcome, reason, retryable, retry_after };
        self.worst = Some(self.worst.take().map_or(this, |worst| worst.with(this)));
        self.session.add(summary.session_id.as_deref());
        self.model.add(facts.model.as_deref());
    }

    fn end(&mut self, totals: &RunTotals, exit_code: u8, out: &mut String) -> io::Result<()> {
        let is_whole = totals.streams > 0 && totals.not_checked == 0;
        let verdict = match totals {
            _ if !is_whole => "not-checked",
            RunTotals { non_conforming: 1.., .. } => "non-conforming",
            _ => "conforming",
        };
        // What a stream does not report is unknown, and so is its sum.
        let sum = |sum: Option<String>| sum.filter(|_| is_whole).unwrap_or_default();
        let worst = self.worst.as_ref();
        let after = worst.and_then(|it| it.retry_after);
        let outputs = [
            ("verdict", verdict.to_owned()),
            ("outcome", worst.map_or("", |it| it.outcome.name()).to_owned()),
            ("exit-code", exit_code.to_string()),
            ("passed", (exit_code == 0).to_string()),
            ("cost-usd", sum(self.cost_usd.map(amount))),
            ("tokens", sum(self.tokens.map(|tokens| tokens.to_string()))),
            ("turns", sum(self.turns.map(|turns| turns.to_string()))),
            ("denied", sum(Some(self.denied.to_string()))),
            ("reason", worst.and_then(|it| it.reason).map_or("", EndReason::name).to_owned()),
            ("retryable", worst.and_then(|it| it.retryable).map_or("", Retryable::name).to_owned()),
            ("retry-after", after.map(|it| it.to_string()).unwrap_or_default()),
            ("session-id", self.session.name()),
            ("model", self.model.name()),
        ];
        let lines = outputs.map(|(name, value)| format!("{name}={value}\n"));
        out.push_str(&lines.concat());
        Ok(())
    }

    fn shows_exit_code(&self) -> bool {
        true
    }
}

/// Without digits that only the sum of fractions has.
fn amount(cost: f64) -> String {
    format!("{cost:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether a line `name=value` can have it, and a shell, too.
fn is_harmless(name: &str) -> bool {
    const NAME_BYTES_MAX: usize = 200;
    let is_harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@+#".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_harmless)
}

/// The order of the exit codes: a timeout decides before a failure.
fn badness(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Succeeded => 0,
        Outcome::Truncated => 1,
        Outcome::Failed => 2,
        // Also for a value that a later version adds: it is not a success.
        _ => 3,
    }
}
