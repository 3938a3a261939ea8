//! What the stream reports about the run as a whole: model, cost, tokens, the reason for its end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{IntoDeserializer, value};
use serde::{Deserialize, Serialize};

use super::{ExitStatus, Objects};
use crate::json::JsonRef;
use crate::profile::path::{Conditions, Path, Scope};

/// Events that report facts of the run. All rules that match apply.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RunFactRule {
    pub when: Conditions,
    /// The objects with the values; the paths below begin there.
    #[serde(flatten)]
    pub of: Objects,
    /// Values that replace what was known.
    #[serde(default)]
    pub set: BTreeMap<RunFact, FactValue>,
    /// Numbers that are added to what was known.
    #[serde(default)]
    pub add: BTreeMap<RunFact, FactValue>,
    /// Why the run ended.
    pub reason: Option<ReasonSource>,
}

/// Events that say what one message of the model used. All rules that match apply.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageUsageRule {
    pub when: Conditions,
    /// Where the id of the message is. An event that says it so far, without an id, is about the
    /// message that is open.
    pub message: Option<Path>,
    pub model: Option<Path>,
    #[serde(default)]
    pub mode: UsageMode,
    pub tokens: BTreeMap<RunFact, FactValue>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UsageMode {
    /// Each event is about one message.
    #[default]
    Whole,
    /// Several events are about one message: the last that says a number counts.
    SoFar,
}

/// The facts that a rule can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunFact {
    Model,
    ErrorText,
    Structured,
    CostUsd,
    Turns,
    DurationMs,
    InputTokens,
    CacheReadTokens,
    CacheWriteTokens,
    OutputTokens,
    ReasoningTokens,
}

impl RunFact {
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Model | Self::ErrorText)
    }
}

/// Where the value of a fact is.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum FactValue {
    /// This number.
    Number(f64),
    At(Term),
    /// The sum. Without the first term there is no value; other absent terms are 0.
    Sum(Vec<Term>),
}

impl FactValue {
    pub(crate) fn number(&self, scope: Scope<'_>) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::At(term) => term.number(scope),
            Self::Sum(terms) => {
                let (first, others) = terms.split_first()?;
                let others = others.iter().filter_map(|term| term.number(scope));
                Some(first.number(scope)? + others.sum::<f64>())
            }
        }
    }

    /// The text at the first of the paths that has one.
    pub(crate) fn text(&self, scope: Scope<'_>) -> Option<String> {
        let mut texts = self.values(scope).filter_map(JsonRef::scalar_text);
        texts.find(|text| !text.trim().is_empty()).map(Cow::into_owned)
    }

    /// The values at the paths.
    pub(crate) fn values<'e>(&self, scope: Scope<'e>) -> impl Iterator<Item = JsonRef<'e>> {
        let terms = match self {
            Self::Number(_) => &[][..],
            Self::At(term) => std::slice::from_ref(term),
            Self::Sum(terms) => terms,
        };
        terms.iter().filter_map(move |term| term.path.find(scope))
    }
}

/// A number at a path; with `-` in front, it is subtracted.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Term {
    path: Path,
    is_subtracted: bool,
}

impl TryFrom<String> for Term {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (path, is_subtracted) = match text.strip_prefix('-') {
            Some(path) => (path, true),
            None => (text.as_str(), false),
        };
        Ok(Self { path: Path::try_from(path)?, is_subtracted })
    }
}

impl Term {
    fn number(&self, scope: Scope<'_>) -> Option<f64> {
        let number = self.path.find(scope)?.as_f64()?;
        Some(if self.is_subtracted { -number } else { number })
    }
}

/// Where the reason of a rule comes from.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum ReasonSource {
    /// The event means this one.
    This(EndReason),
    /// The event names it there.
    At(Path),
}

impl TryFrom<String> for ReasonSource {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.starts_with('/') {
            return Ok(Self::At(Path::try_from(text.as_str())?));
        }
        EndReason::named(&text).map(Self::This).map_err(|error| error.to_string())
    }
}

impl ReasonSource {
    pub(crate) fn reason(&self, scope: Scope<'_>) -> Option<EndReason> {
        match self {
            Self::This(reason) => Some(*reason),
            Self::At(path) => EndReason::named(&path.find(scope)?.as_str()?).ok(),
        }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EndReason {
    /// The agent finished.
    Completed,
    /// It is not signed in, or not allowed to use the model.
    Auth,
    /// The account has no money, or no quota that comes back by itself.
    Billing,
    /// The provider allows no more requests for now.
    RateLimit,
    /// The provider failed, or has too much to do.
    Overloaded,
    /// The provider could not be reached, or the connection was lost.
    Network,
    /// The conversation no longer fits the model.
    ContextOverflow,
    /// The answer reached the limit of the model's output.
    OutputLimit,
    /// The model refused to answer.
    Refusal,
    /// A filter of the provider held the answer back.
    ContentFilter,
    /// It reached its limit of turns.
    MaxTurns,
    /// It reached its limit of cost or tokens.
    Budget,
    /// It was not allowed to do what it needed to.
    Permission,
    /// A tool failed, and the agent gave up.
    Tool,
    /// A user ended it, or a signal that asks for an end.
    Interrupted,
    /// A signal killed it that leaves no time to end, such as that of a system without memory.
    Killed,
    /// A time limit ended it.
    Timeout,
    /// The agent itself broke.
    Crash,
    /// Its configuration, or what it was called with, is wrong.
    Config,
    /// The provider does not have the model.
    ModelNotFound,
    /// Nothing says why.
    Unknown,
}

impl EndReason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::RateLimit => "rate-limit",
            Self::Overloaded => "overloaded",
            Self::Network => "network",
            Self::ContextOverflow => "context-overflow",
            Self::OutputLimit => "output-limit",
            Self::Refusal => "refusal",
            Self::ContentFilter => "content-filter",
            Self::MaxTurns => "max-turns",
            Self::Budget => "budget",
            Self::Permission => "permission",
            Self::Tool => "tool",
            Self::Interrupted => "interrupted",
            Self::Killed => "killed",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::Config => "config",
            Self::ModelNotFound => "model-not-found",
            Self::Unknown => "unknown",
        }
    }

    fn named(name: &str) -> Result<Self, value::Error> {
        Self::deserialize(name.into_deserializer())
    }

    /// Why a run ended whose process a signal ended, from the status that a shell reports. Other
    /// statuses say nothing.
    pub(crate) fn of_signal(status: ExitStatus) -> Option<Self> {
        const HANGUP: u8 = 1;
        const INTERRUPT: u8 = 2;
        const QUIT: u8 = 3;
        const KILL: u8 = 9;
        const TERMINATE: u8 = 15;
        // Illegal instruction, trap, abort, bus error, arithmetic, segmentation fault.
        const CRASHES: [u8; 6] = [4, 5, 6, 7, 8, 11];
        match status.shell_code().checked_sub(128)? {
            HANGUP | INTERRUPT | QUIT | TERMINATE => Some(Self::Interrupted),
            KILL => Some(Self::Killed),
            signal if CRASHES.contains(&signal) => Some(Self::Crash),
            _ => matches!(status, ExitStatus::Signal(_)).then_some(Self::Killed),
        }
    }
}
