//! What the stream reports about the run as a whole: model, cost, tokens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::Objects;
use super::reason::{EndReason, ReasonSource};
use crate::json::JsonRef;
use crate::profile::path::{Conditions, Path, Scope};

/// Events that report facts of the run. All rules that match apply.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunFactRule {
    pub when: Conditions,
    /// The objects with the values; the paths below begin there.
    #[serde(flatten)]
    pub of: Objects,
    /// Values that replace what was known.
    pub set: BTreeMap<RunFact, FactValue>,
    /// Numbers that are added to what was known.
    pub add: BTreeMap<RunFact, FactValue>,
    /// Why the run ended.
    pub reason: Option<ReasonSource>,
    /// The reasons for which the time of a retry counts; none: for all.
    pub retry_for: Vec<EndReason>,
}

/// Events that say what one message of the model used. All rules that match apply.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MessageUsageRule {
    pub when: Conditions,
    /// Where the id of the message is. An event that says it so far, without an id, is about the
    /// message that is open.
    pub message: Option<Path>,
    pub model: Option<Path>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunFact {
    Model,
    ErrorText,
    RetryAfter,
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
