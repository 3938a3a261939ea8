//! How many calls of a sort there are, and how the last of them ended.

use serde_json::Value;

use super::compiled;
use super::seen_call::SeenCall;
use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::{EventCall, ExpectedCalls};
use crate::profile::CallKind;
use crate::profile::pattern::LazyRegex;
use crate::rules::escape::shown;

/// Which calls are expected.
#[derive(Debug)]
pub(super) struct CallPattern {
    calls: ExpectedCalls,
    matches: Option<LazyRegex>,
}

/// The calls that fit.
#[derive(Debug)]
pub(super) struct CallTally {
    /// Those that may have been carried out, at least in part.
    tried: Tally,
    succeeded: Tally,
    /// Whether the last one succeeded.
    last: Truth,
}

impl Default for CallTally {
    fn default() -> Self {
        Self { tried: Tally::default(), succeeded: Tally::default(), last: Truth::No }
    }
}

/// Whether a pattern is in one of these arguments, or in the words of a list of them.
fn is_in_any(pattern: &LazyRegex, arguments: &Value) -> bool {
    match arguments {
        Value::String(text) => pattern.is_in(text),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            pattern.is_in(&words.join(" ")) || items.iter().any(|item| is_in_any(pattern, item))
        }
        Value::Object(members) => members.values().any(|member| is_in_any(pattern, member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether arguments show a pattern outside of the detail of a command. Of an object only lists
/// count: they have further words or commands, and other texts only describe the command.
fn is_in_rest(pattern: &LazyRegex, arguments: &Value) -> bool {
    match arguments {
        Value::Object(members) => {
            let mut lists = members.values().filter(|member| member.is_array());
            lists.any(|list| is_in_any(pattern, list))
        }
        // An object in a string that cannot be read: another reader may find more in it.
        Value::String(text) => text.trim_start().starts_with('{'),
        _ => is_in_any(pattern, arguments),
    }
}

impl CallPattern {
    /// # Errors
    ///
    /// When the pattern does not compile.
    pub(super) fn new(calls: ExpectedCalls) -> Result<Self, String> {
        let matches = calls.matches.as_deref().map(compiled).transpose()?;
        Ok(Self { calls, matches })
    }

    /// Whether the detail matches, if this half of a call has one and a pattern is set. It is
    /// unclear for a call that has more to search than its detail: a command with further words,
    /// or a tool that the profile does not know.
    pub(super) fn judge(&self, call: &EventCall<'_>, arguments: Option<&Value>) -> Option<Truth> {
        let pattern = self.matches.as_ref().filter(|_| call.shows_detail)?;
        if pattern.is_in(call.detail.as_deref().unwrap_or_default()) {
            return Some(Truth::Yes);
        }
        let is_unclear = match call.kind {
            Some(CallKind::Command) => arguments.is_some_and(|all| is_in_rest(pattern, all)),
            Some(_) => false,
            None => arguments.is_none_or(|all| is_in_any(pattern, all)),
        };
        Some(if is_unclear { Truth::Unknown } else { Truth::No })
    }

    pub(super) fn needs_arguments(&self) -> bool {
        self.matches.is_some()
    }

    /// Whether this call is expected; `shown` says whether its detail matches.
    fn fits(&self, call: &SeenCall, shown: Truth) -> Truth {
        let ExpectedCalls { kind, tool, .. } = &self.calls;
        let kind = kind.map_or(Truth::Yes, |kind| call.is_of(kind));
        let tool = tool.as_ref().map_or(Truth::Yes, |tool| call.is_of_tool(tool));
        let detail = self.matches.as_ref().map_or(Truth::Yes, |_| shown);
        kind.min(tool).min(detail)
    }

    pub(super) fn count(&self, call: &SeenCall, shown: Truth, tally: &mut CallTally) {
        let (fits, succeeded) = (self.fits(call, shown), call.succeeded());
        if !call.was_refused() {
            tally.tried.add(fits, call.line);
        }
        tally.succeeded.add(fits.min(succeeded), call.line);
        tally.last = match fits {
            Truth::Yes => succeeded,
            Truth::Unknown if tally.last != succeeded => Truth::Unknown,
            Truth::Unknown | Truth::No => tally.last,
        };
    }

    /// The answers to the questions that are asked. What must succeed is asked only if the run
    /// succeeded.
    pub(super) fn answers(&self, tally: &CallTally, context: Context) -> Vec<Answered> {
        let ExpectedCalls { at_least, at_most, last_succeeded, .. } = self.calls;
        let CallTally { tried, succeeded, last } = tally;
        let mut answers = Vec::new();
        if let Some(most) = at_most {
            answers.push(Answered {
                truth: tried.stays_within(most, context.hidden_calls()),
                fact: format!(
                    "at most {most} {} may come, but {} did",
                    self.name(most),
                    tried.sure
                ),
                question: format!("at most {most} {} came", self.name(most)),
                tally: tried.clone(),
            });
        }
        if let Some(least) = at_least.filter(|_| context.has_succeeded) {
            answers.push(Answered {
                truth: succeeded.reaches(least, context.hidden_calls()),
                fact: format!(
                    "at least {least} {} must succeed, but {} did",
                    self.name(least),
                    succeeded.sure
                ),
                question: format!("at least {least} {} succeeded", self.name(least)),
                tally: tried.clone(),
            });
        }
        if last_succeeded && context.has_succeeded {
            let is_hidden = context.hidden_calls() > 0;
            let came = if tried.sure > 0 { "it did not" } else { "there was none" };
            answers.push(Answered {
                truth: if is_hidden { Truth::Unknown } else { *last },
                fact: format!("the last of the {} must succeed, but {came}", self.name(0)),
                question: format!("the last of the {} succeeded", self.name(0)),
                tally: tried.clone(),
            });
        }
        answers
    }

    /// So many of the calls, as a message names them.
    fn name(&self, count: u64) -> String {
        let ExpectedCalls { kind, tool, matches, .. } = &self.calls;
        let kind = kind.map(|kind| format!("{} ", kind.name())).unwrap_or_default();
        let tool = tool.as_ref().map(|tool| format!(" of the tool {}", shown(tool)));
        let matches = matches.as_ref().map(|pattern| format!(" with {}", shown(pattern)));
        let plural = if count == 1 { "" } else { "s" };
        format!("{kind}call{plural}{}{}", tool.unwrap_or_default(), matches.unwrap_or_default())
    }
}
