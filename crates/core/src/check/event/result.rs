//! What an agent reports in numbers, and how a run ended.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::why::Why;
use crate::check::{Outcome, StreamSummary, Verdict};
use crate::facts::{CommandCounts, RetryAfter, RunFacts, Usage};
use crate::profile::{EndReason, ExitStatus, Retryable};

/// What an agent reports in numbers, and its model. What it does not report is absent.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct Figures {
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the run cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Turns, as the agent counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// How long the run took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens.
    #[serde(flatten)]
    pub usage: Usage,
}

impl Figures {
    pub(in crate::check) fn new(facts: &RunFacts) -> Self {
        Self {
            model: facts.model.clone(),
            cost_usd: facts.cost_usd.filter(|cost| cost.is_finite()),
            turns: facts.turns,
            duration_ms: facts.duration_ms,
            usage: facts.usage,
        }
    }
}

/// How a turn ended, by its terminal event.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct TurnResult {
    /// The number of the turn.
    pub turn: u64,
    /// How it ended: `succeeded` or `failed`.
    pub outcome: Outcome,
    /// Why it ended so.
    pub reason: EndReason,
    /// Whether a retry is worth it, if the turn failed and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<Retryable>,
    /// When a retry is worth it, if the agent or its provider says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<RetryAfter>,
    /// What the agent says of a turn that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The answer as a value, where the agent was asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
}

impl TurnResult {
    /// The run model knows the number of the turn.
    pub(in crate::check) fn new(outcome: Outcome, why: Why, facts: &RunFacts) -> Self {
        let Why { reason, retryable, retry_after } = why;
        let has_failed = outcome != Outcome::Succeeded;
        let error_text = facts.error_text.clone().filter(|_| has_failed);
        let structured = facts.structured.clone();
        Self { turn: 0, outcome, reason, retryable, retry_after, error_text, structured }
    }
}

/// How the run, or its stream, ended, and all that is known of it then.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// How the run ended.
    pub outcome: Outcome,
    /// Whether the stream keeps its contract.
    pub verdict: Verdict,
    /// Why it ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Whether a retry is worth it, if the run did not succeed and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<Retryable>,
    /// When a retry is worth it, if the agent or its provider says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<RetryAfter>,
    /// What the agent says of a run that did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The answer as a value, where the agent was asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The id of the session: the first, or the latest if the agent announces that it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The version of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// Model, cost and tokens.
    #[serde(flatten)]
    pub figures: Figures,
    /// The files that successful calls wrote or deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// The commands that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandCounts>,
    /// How the process ended, if that is known.
    #[serde(flatten)]
    pub exit_status: Option<ExitStatus>,
    /// The end of the standard error of a run that did not succeed.
    #[serde(rename = "stderr_tail", default, skip_serializing_if = "<[_]>::is_empty")]
    pub stderr: Vec<String>,
    /// Defects that are errors.
    pub errors: u64,
    /// Defects that are warnings.
    pub warnings: u64,
    /// The start of a text that was cut, and its size in bytes. Deltas have given it.
    #[serde(skip)]
    pub cut_text: Option<(String, u64)>,
}

impl RunResult {
    pub(in crate::check) fn new(summary: &StreamSummary, cut_text: Option<(&str, u64)>) -> Self {
        let facts = &summary.facts;
        Self {
            outcome: summary.outcome,
            verdict: summary.verdict,
            reason: facts.reason,
            retryable: facts.retryable,
            retry_after: facts.retry_after,
            error_text: facts.error_text.clone(),
            structured: facts.structured.clone(),
            session_id: summary.session_id.clone(),
            agent_version: facts.agent_version.clone(),
            figures: Figures::new(facts),
            files: facts.files.clone(),
            commands: facts.commands,
            exit_status: summary.exit_status,
            stderr: summary.stderr.clone(),
            errors: summary.errors,
            warnings: summary.warnings,
            cut_text: cut_text.map(|(text, bytes)| (text.into(), bytes)),
        }
    }

    /// What went wrong, in the agent's words if there are any.
    pub fn failure(&self) -> String {
        let outcome = match self.outcome {
            Outcome::Failed => "the run failed",
            Outcome::TimedOut => "the run did not end in time",
            Outcome::Succeeded | Outcome::Truncated => "the stream ended before the run did",
        };
        match &self.error_text {
            Some(text) => format!("{outcome}: {text}"),
            None => outcome.to_owned(),
        }
    }
}
