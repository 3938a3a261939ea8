//! The normal form: what happens in a run, in one vocabulary for all agents.

use serde::Serialize;
use serde_json::Value;

use crate::check::{CallUpdate, Outcome, StreamSummary};
use crate::facts::{CommandCounts, RunFacts};
use crate::profile::{ActionKind, NoticeKind, Reason};
use crate::rules::diagnostic::Diagnostic;

/// The value of `format` in the first event.
pub(super) const FORMAT: &str = "ndjson-check/1";

/// One thing that happened. `src/profile/builtin/events/schema.json` describes each as JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum NormalEvent<'a> {
    /// Comes first, and once.
    Session {
        format: &'static str,
        profile: &'a str,
        #[serde(flatten)]
        session: SessionFacts<'a>,
    },
    /// The session's id or directory becomes known, or changes.
    SessionChanged(SessionFacts<'a>),
    /// Another turn begins; the first is 1.
    Turn {
        turn: u64,
    },
    /// More text of a segment.
    TextDelta {
        segment: u64,
        text: &'a str,
    },
    /// A segment is complete. It has no text if deltas have given it and it is very long.
    Text {
        segment: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        bytes: u64,
        /// The text, or its start if it is very long.
        #[serde(skip)]
        start: &'a str,
        /// Whether deltas have given the text.
        #[serde(skip)]
        is_repeated: bool,
    },
    /// The segment is no part of the answer.
    TextAbandoned {
        segment: u64,
    },
    /// The text of the answer, which the agent repeats at the end.
    Answer {
        text: &'a str,
    },
    CallStarted(NormalCall<'a>),
    /// The start came again.
    CallUpdated(NormalCall<'a>),
    CallCompleted {
        #[serde(flatten)]
        call: NormalCall<'a>,
        outcome: &'static str,
        /// The text of its result.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a str>,
        /// How long it took, as the agent says.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// The call has completed, and now the agent says that it ended in another way.
    CallCorrected {
        #[serde(flatten)]
        call: NormalCall<'a>,
        outcome: &'static str,
    },
    /// The turn or the run is over, and the call has not completed.
    CallUnfinished(NormalCall<'a>),
    /// More of the agent's reasoning.
    ThinkingDelta {
        block: u64,
        text: &'a str,
    },
    /// The block is complete.
    ThinkingEnd {
        block: u64,
    },
    /// What a reader of a log wants to see, such as a retry.
    Notice {
        kind: NoticeKind,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'a str>,
    },
    Error {
        severity: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    },
    /// What is known of the run so far.
    Usage(NormalFigures<'a>),
    /// The stream does not keep its contract.
    Defect {
        rule: &'static str,
        severity: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        related_line: Option<u64>,
    },
    /// The run is over.
    End(RunResult<'a>),
    /// The stream is over, and the run was not.
    Cut(RunResult<'a>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct SessionFacts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) directory: Option<&'a str>,
}

/// A tool call, as far as this event and those before it show it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct NormalCall<'a> {
    /// Its number in the stream, from 1.
    pub(super) call: u64,
    /// The agent's id, which it may use again.
    pub(super) id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<ActionKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Value>,
}

impl<'a> NormalCall<'a> {
    /// Without its arguments.
    pub(super) fn new(update: &'a CallUpdate<'_>) -> Self {
        Self {
            call: update.number,
            id: update.id(),
            tool: Some(&*update.action.tool).filter(|tool| !tool.is_empty()),
            kind: update.action.is_kind_known.then_some(update.action.kind),
            detail: update.detail(),
            files: &update.action.files,
            arguments: None,
        }
    }
}

impl<'a> NormalEvent<'a> {
    pub(super) fn defect(diagnostic: &'a Diagnostic) -> Self {
        Self::Defect {
            rule: diagnostic.rule.name(),
            severity: diagnostic.severity.name(),
            message: &diagnostic.message,
            note: diagnostic.note.as_deref(),
            related_line: diagnostic.related_line,
        }
    }
}

/// What an agent reports in numbers, and its model. What it does not report is absent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct NormalFigures<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_write_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_tokens: Option<u64>,
}

impl<'a> NormalFigures<'a> {
    pub(super) fn new(facts: &'a RunFacts) -> Self {
        let usage = &facts.usage;
        Self {
            model: facts.model.as_deref(),
            cost_usd: facts.cost_usd.filter(|cost| cost.is_finite()),
            turns: facts.turns,
            duration_ms: facts.duration_ms,
            input_tokens: usage.input_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
        }
    }

    /// All tokens sent to the model, from a cache or not.
    pub(super) fn tokens_in(&self) -> Option<u64> {
        let cached = [self.cache_read_tokens, self.cache_write_tokens];
        let cached = cached.into_iter().flatten();
        Some(cached.fold(self.input_tokens?, u64::saturating_add))
    }
}

/// How the run, or its stream, ended, and all that is known of it then.
#[derive(Debug, Serialize)]
pub(super) struct RunResult<'a> {
    pub(super) outcome: &'static str,
    pub(super) verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error_text: Option<&'a str>,
    /// The answer as a value, where the agent was asked for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_version: Option<&'a str>,
    #[serde(flatten)]
    pub(super) figures: NormalFigures<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<CommandCounts>,
    errors: u64,
    warnings: u64,
    #[serde(skip)]
    pub(super) has_succeeded: bool,
    /// The start of a text that was cut, and its size in bytes. Deltas have given it.
    #[serde(skip)]
    pub(super) cut_text: Option<(&'a str, u64)>,
}

impl<'a> RunResult<'a> {
    pub(super) fn new(summary: &'a StreamSummary, cut_text: Option<(&'a str, u64)>) -> Self {
        let facts = &summary.facts;
        Self {
            outcome: summary.outcome.name(),
            verdict: summary.verdict.name(),
            reason: facts.reason,
            error_text: facts.error_text.as_deref(),
            structured: facts.structured.as_ref(),
            agent_version: facts.agent_version.as_deref(),
            figures: NormalFigures::new(facts),
            files: facts.files.as_deref(),
            commands: facts.commands,
            errors: summary.errors,
            warnings: summary.warnings,
            has_succeeded: summary.outcome == Outcome::Succeeded,
            cut_text,
        }
    }

    /// What went wrong, in the agent's words if there are any.
    pub(super) fn failure(&self) -> String {
        let outcome = match self.outcome {
            "failed" => "the run failed",
            "timed-out" => "the run did not end in time",
            _ => "the stream ended before the run did",
        };
        match self.error_text {
            Some(text) => format!("{outcome}: {text}"),
            None => outcome.to_owned(),
        }
    }
}
