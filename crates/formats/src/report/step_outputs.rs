//! Outputs of a GitHub workflow's step: lines `name=value` for the steps that follow.
//!
//! Every value is a number or a word of this program: nothing of a stream is in it.

use std::io;

use ndjson_check_core::{Outcome, StreamSummary};

use super::RunTotals;
use crate::output::Output;

/// Writes the outputs.
pub struct StepOutputs {
    cost_usd: Option<f64>,
    tokens: Option<u64>,
    turns: Option<u64>,
    /// Calls that a person or a rule refused.
    denied: u64,
    outcome: Option<Outcome>,
}

impl Default for StepOutputs {
    fn default() -> Self {
        Self { cost_usd: Some(0.0), tokens: Some(0), turns: Some(0), denied: 0, outcome: None }
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
        let worse = |outcome: &Outcome| badness(summary.outcome) < badness(*outcome);
        self.outcome = self.outcome.filter(worse).or(Some(summary.outcome));
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
        let outputs = [
            ("verdict", verdict.to_owned()),
            ("outcome", self.outcome.map_or("", Outcome::name).to_owned()),
            ("exit-code", exit_code.to_string()),
            ("cost-usd", sum(self.cost_usd.map(amount))),
            ("tokens", sum(self.tokens.map(|tokens| tokens.to_string()))),
            ("turns", sum(self.turns.map(|turns| turns.to_string()))),
            ("denied", sum(Some(self.denied.to_string()))),
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

/// The order of the exit codes: a timeout decides before a failure.
fn badness(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Succeeded => 0,
        Outcome::Truncated => 1,
        Outcome::Failed => 2,
        // Also what a later version may add: it is no success.
        _ => 3,
    }
}
