//! What is known about the run as a whole.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tag_rules::TagRules;
use super::{RareFacts, RetryAfter};
use crate::json::JsonRef;
use crate::limits::{ERROR_TEXT_BYTES_MAX, MESSAGE_BYTES_MAX, STRUCTURED_BYTES_MAX};
use crate::profile::path::Scope;
use crate::profile::{EndReason, FactValue, Profile, Retryable, RunFact};
use crate::rules::escape::clipped;

#[derive(Debug)]
pub(crate) enum FactUpdate {
    Set(RunFact, f64),
    Add(RunFact, f64),
    Text(RunFact, String),
    /// None if it is too long to be kept.
    Structured(Option<Value>),
    Reason(EndReason),
    /// The whole text of an error that no rule of the profile explains.
    Unexplained(String),
    /// Only for these reasons, if there are any.
    RetryAfter(RetryAfter, Vec<EndReason>),
}

/// What the agent reports about the run. What it does not report is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunFacts {
    /// The model, by the agent's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agent's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The cost in US dollars, as the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The cost in US dollars by the prices of the user, if the agent reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_cost_usd: Option<f64>,
    /// Turns of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// The duration in milliseconds, as the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The tokens used.
    #[serde(skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
    /// Why the run ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Whether a retry is worth it, if the run did not succeed and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<Retryable>,
    /// When a retry is worth it, if the agent or its provider says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<RetryAfter>,
    /// The reasons for which that time counts; none: for all.
    #[serde(skip)]
    pub(crate) retry_for: Vec<EndReason>,
    /// What the agent says about its failure; its start, if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The last text of an error that the profile does not explain.
    #[serde(skip)]
    pub(crate) unexplained: Option<String>,
    /// The answer as a value, where the agent was asked for one that fits a schema.
    #[serde(skip)]
    pub structured: Option<Value>,
    /// Whether there is such a value, and it was too long to be kept.
    #[serde(skip)]
    pub(crate) has_long_structured: bool,
    /// The files that successful tool calls wrote or deleted; a limited number. Commands may have
    /// changed others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// The tool calls that ran commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandCounts>,
    /// Whether a tool call that ended may have changed something: a file, or what a command, an
    /// agent or an unknown tool reaches. None if the profile does not know the kinds of calls.
    #[serde(skip)]
    pub may_have_written: Option<bool>,
}

/// How many tool calls ran a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct CommandCounts {
    /// Calls that ended.
    pub total: u64,
    /// Calls of these that failed.
    pub failed: u64,
}

/// Token counts, where the agent reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens sent to the model that were not read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens of these that the model wrote for its reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// All tokens sent to the model, from a cache or not. Unknown if the agent does not say how
    /// many were not from a cache.
    pub fn tokens_in(&self) -> Option<u64> {
        let cached = [self.cache_read_tokens, self.cache_write_tokens];
        let cached = cached.into_iter().flatten();
        Some(cached.fold(self.input_tokens?, u64::saturating_add))
    }

    /// All tokens that are known, in and out.
    pub fn known_tokens(&self) -> Option<u64> {
        let Self { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, .. } = self;
        let all = [input_tokens, cache_read_tokens, cache_write_tokens, output_tokens];
        all.into_iter().copied().flatten().reduce(u64::saturating_add)
    }

    /// The number that a fact names, if it is one of these.
    pub(super) fn member(&mut self, fact: RunFact) -> Option<&mut Option<u64>> {
        match fact {
            RunFact::InputTokens => Some(&mut self.input_tokens),
            RunFact::CacheReadTokens => Some(&mut self.cache_read_tokens),
            RunFact::CacheWriteTokens => Some(&mut self.cache_write_tokens),
            RunFact::OutputTokens => Some(&mut self.output_tokens),
            RunFact::ReasoningTokens => Some(&mut self.reasoning_tokens),
            RunFact::Model
            | RunFact::ErrorText
            | RunFact::RetryAfter
            | RunFact::Structured
            | RunFact::CostUsd
            | RunFact::Turns
            | RunFact::DurationMs => None,
        }
    }

    /// Whether no number says anything.
    pub(super) fn is_zero(&self) -> bool {
        self.known_tokens().into_iter().chain(self.reasoning_tokens).all(|number| number == 0)
    }

    /// The same, with the numbers that the other one has.
    pub(crate) fn or_newer(self, newer: Self) -> Self {
        Self {
            input_tokens: newer.input_tokens.or(self.input_tokens),
            cache_read_tokens: newer.cache_read_tokens.or(self.cache_read_tokens),
            cache_write_tokens: newer.cache_write_tokens.or(self.cache_write_tokens),
            output_tokens: newer.output_tokens.or(self.output_tokens),
            reasoning_tokens: newer.reasoning_tokens.or(self.reasoning_tokens),
        }
    }

    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

pub(super) fn read(profile: &Profile, rules: &TagRules, root: JsonRef<'_>) -> Vec<FactUpdate> {
    let mut updates = Vec::new();
    for rule in rules.run_facts(profile, root) {
        for scope in rule.of.objects(root) {
            for (fact, value) in &rule.set {
                let update = match fact {
                    RunFact::Structured => structured(value, scope),
                    RunFact::RetryAfter => retry_after(value, scope, &rule.retry_for),
                    RunFact::Model => value.text(scope).map(|text| FactUpdate::Text(*fact, text)),
                    RunFact::ErrorText => {
                        let text = value.text(scope);
                        text.map(|text| error_text(&text, profile, &mut updates))
                    }
                    _ => value.number(scope).map(|number| FactUpdate::Set(*fact, number)),
                };
                updates.extend(update);
            }
            for (fact, value) in &rule.add {
                let number = value.number(scope);
                updates.extend(number.map(|number| FactUpdate::Add(*fact, number)));
            }
            let reason = rule.reason.as_ref().and_then(|source| source.reason(scope));
            updates.extend(reason.map(FactUpdate::Reason));
        }
    }
    updates
}

/// The first of the values that is there.
fn structured(value: &FactValue, scope: Scope<'_>) -> Option<FactUpdate> {
    let value = value.values(scope).next()?.to_value();
    let is_short = value.to_string().len() <= STRUCTURED_BYTES_MAX;
    Some(FactUpdate::Structured(is_short.then_some(value)))
}

/// The first of the values that says when a retry is worth it.
fn retry_after(value: &FactValue, scope: Scope<'_>, only: &[EndReason]) -> Option<FactUpdate> {
    let after = value.values(scope).find_map(RetryAfter::of)?;
    Some(FactUpdate::RetryAfter(after, only.to_vec()))
}

/// The text of an error; adds what it says about the reason and a retry.
fn error_text(text: &str, profile: &Profile, updates: &mut Vec<FactUpdate>) -> FactUpdate {
    let message = message_in(text);
    let (reason, after) = match profile.reason_in(text) {
        (None, _) if message != text => profile.reason_in(&message),
        said => said,
    };
    let after = after.and_then(RetryAfter::named);
    let after = after.map(|after| FactUpdate::RetryAfter(after, Vec::new()));
    let said = reason.map_or_else(|| FactUpdate::Unexplained(text.to_owned()), FactUpdate::Reason);
    updates.extend([said].into_iter().chain(after));
    FactUpdate::Text(RunFact::ErrorText, message.into_owned())
}

/// The text with the innermost message in place of what a provider answered, if there is such an
/// object in it, or the text between two tags.
pub(crate) fn message_in(text: &str) -> Cow<'_, str> {
    let text = between_tags(text).unwrap_or(text);
    let Some((before, answer)) = text.find('{').map(|at| text.split_at(at)) else {
        return Cow::Borrowed(text);
    };
    let mut answers = serde_json::Deserializer::from_str(answer).into_iter::<Value>();
    let Some(Ok(object)) = answers.next() else { return Cow::Borrowed(text) };
    // A secret that is written with other escapes than this may not be redacted: it is not
    // unescaped here.
    let is_written = |message: &&str| answer.contains(&message.replace('"', "\\\""));
    let message = said_in(&object).map(str::trim).filter(is_written);
    let Some(message) = message else { return Cow::Borrowed(text) };
    let after = &answer[answers.byte_offset()..];
    // Words that the object kept apart stay apart.
    let is_word = |edge: Option<char>| edge.is_some_and(char::is_alphanumeric);
    let [gap_before, gap_after] = [is_word(before.chars().last()), is_word(after.chars().next())]
        .map(|is_word| if is_word { " " } else { "" });
    let message = message_in(message);
    Cow::Owned(format!("{before}{gap_before}{message}{gap_after}{after}").trim().to_owned())
}

fn said_in(answer: &Value) -> Option<&str> {
    let text = |name| answer.get(name)?.as_str().filter(|it| !it.trim().is_empty());
    let inner = answer.get("error").and_then(said_in);
    inner.or_else(|| ["message", "detail", "details", "error"].into_iter().find_map(text))
}

/// The text in `<some-tag>text</some-tag>`; a tag of HTML has no hyphen.
fn between_tags(text: &str) -> Option<&str> {
    let (tag, rest) = text.trim().strip_prefix('<')?.split_once('>')?;
    let tag = Some(tag).filter(|tag| tag.contains('-') && !tag.contains(' '))?;
    let message = rest.strip_suffix('>')?.strip_suffix(tag)?.strip_suffix("</")?.trim();
    (!message.is_empty()).then_some(message)
}

impl RunFacts {
    pub(crate) fn observe(&mut self, rare: &RareFacts<'_>) {
        for update in &rare.run_facts {
            match update {
                FactUpdate::Set(fact, number) => self.number(*fact, *number, false),
                FactUpdate::Add(fact, number) => self.number(*fact, *number, true),
                FactUpdate::Text(RunFact::Model, text) => {
                    self.model = Some(clipped(text, MESSAGE_BYTES_MAX).into_owned());
                }
                FactUpdate::Text(_, text) => {
                    self.error_text = Some(clipped(text, ERROR_TEXT_BYTES_MAX).into_owned());
                }
                FactUpdate::Structured(value) => {
                    self.structured.clone_from(value);
                    self.has_long_structured = value.is_none();
                }
                // `unknown` takes back what came before.
                FactUpdate::Reason(reason) => {
                    self.reason = Some(*reason).filter(|it| *it != EndReason::Unknown);
                }
                FactUpdate::Unexplained(text) => {
                    self.unexplained = Some(clipped(text, ERROR_TEXT_BYTES_MAX).into_owned());
                }
                FactUpdate::RetryAfter(after, only) => {
                    self.retry_after = Some(*after);
                    self.retry_for.clone_from(only);
                }
            }
        }
    }

    /// A new turn begins: the last one has not failed for good.
    pub(crate) fn new_turn(&mut self) {
        (self.reason, self.retry_after) = (None, None);
        (self.error_text, self.unexplained, self.structured) = (None, None, None);
        self.has_long_structured = false;
    }

    fn number(&mut self, fact: RunFact, number: f64, is_added: bool) {
        if !number.is_finite() || number < 0.0 {
            return;
        }
        let count = match fact {
            RunFact::CostUsd => {
                let known = self.cost_usd.filter(|_| is_added).unwrap_or_default();
                let sum = known + number;
                // In billionths: 0.1 and 0.2 are 0.3.
                let exact = (sum * 1e9).round() / 1e9;
                self.cost_usd = Some(if exact.is_finite() { exact } else { sum.min(f64::MAX) });
                return;
            }
            RunFact::Turns => &mut self.turns,
            RunFact::DurationMs => &mut self.duration_ms,
            tokens => {
                let Some(count) = self.usage.member(tokens) else { return };
                count
            }
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above; too large ones saturate"
        )]
        let number = number.round() as u64;
        *count = Some(count.filter(|_| is_added).unwrap_or_default().saturating_add(number));
    }
}
