//! What the stream reports about the run as a whole: model, cost, tokens, the reason for its end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Objects;
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
    pub reason: Option<Reason>,
}

/// The facts that a rule can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunFact {
    Model,
    ErrorText,
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
            Some(path) => (path.to_owned(), true),
            None => (text, false),
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

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// The agent finished.
    Completed,
    /// It reached its limit of turns.
    MaxTurns,
    /// It reached its limit of cost or tokens.
    MaxBudget,
    /// The conversation no longer fits the model.
    ContextExhausted,
    /// The model, or a filter, refused to answer.
    Refused,
    /// It is not signed in, or not allowed to use the model.
    Auth,
    /// The provider allows no more requests for now.
    RateLimit,
    /// The provider failed.
    ProviderError,
    /// A user or a signal ended it.
    Interrupted,
    /// A timeout ended it.
    TimedOut,
    /// The stream does not say.
    Unknown,
}

impl Reason {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::MaxTurns => "max-turns",
            Self::MaxBudget => "max-budget",
            Self::ContextExhausted => "context-exhausted",
            Self::Refused => "refused",
            Self::Auth => "auth",
            Self::RateLimit => "rate-limit",
            Self::ProviderError => "provider-error",
            Self::Interrupted => "interrupted",
            Self::TimedOut => "timed-out",
            Self::Unknown => "unknown",
        }
    }
}
