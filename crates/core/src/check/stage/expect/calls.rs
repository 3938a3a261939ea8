//! How many calls of a sort there are, and how the last of them ended.

use serde_json::Value;

use super::compiled;
use super::kinds::KindHistories;
use super::seen_call::SeenCall;
use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::{CompletedCall, EventCall, ExpectedCalls};
use crate::profile::CallKind;
use crate::profile::pattern::LazyRegex;
use crate::rules::escape::{clipped, shown, visible};

/// Which calls are expected.
#[derive(Debug)]
pub(super) struct CallPattern {
    calls: ExpectedCalls,
    matches: Option<LazyRegex>,
    /// What the result must show, and must not show.
    prints: Option<LazyRegex>,
    prints_not: Option<LazyRegex>,
}

/// The calls that fit.
#[derive(Debug)]
pub(super) struct CallTally {
    /// Those that may have been carried out, at least in part.
    tried: Tally,
    /// Those of them that come where they are looked for, and print what they are looked for.
    met: Tally,
    /// Those that succeeded, too.
    succeeded: Tally,
    /// Whether the last one succeeded, and meets the conditions.
    last: Truth,
    /// What is wrong with it, if it does not.
    last_fault: &'static str,
    /// Those without the call that they require.
    unprepared: Tally,
}

impl Default for CallTally {
    fn default() -> Self {
        let none = Tally::default;
        Self {
            tried: none(),
            met: none(),
            succeeded: none(),
            last: Truth::No,
            last_fault: FAILED,
            unprepared: none(),
        }
    }
}

const FAILED: &str = "it did not";
const TOO_EARLY: &str = "it came earlier";
const TOO_LATE: &str = "it came later";
const PRINTED_OTHERWISE: &str = "its output is another";

/// Longest pattern in a message, in bytes.
const PATTERN_BYTES_MAX: usize = 60;

/// A pattern as a message shows it.
fn short(pattern: &str) -> String {
    shown(&clipped(pattern, PATTERN_BYTES_MAX))
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
    /// When a pattern does not compile.
    pub(super) fn new(calls: ExpectedCalls) -> Result<Self, String> {
        let pattern = |text: &Option<String>| text.as_deref().map(compiled).transpose();
        let matches = pattern(&calls.matches)?;
        let (prints, prints_not) = (pattern(&calls.output_matches)?, pattern(&calls.output_never)?);
        Ok(Self { calls, matches, prints, prints_not })
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

    /// Whether the result is as it must be; nothing, if the stream does not show it.
    pub(super) fn judge_output(&self, call: &CompletedCall<'_>) -> Option<Truth> {
        let texts = [&call.result, &call.stdout, &call.stderr];
        let texts: Vec<&str> = texts.into_iter().flatten().map(|text| &**text).collect();
        let is_in = |pattern: &LazyRegex| texts.iter().any(|text| pattern.is_in(text));
        let is_met =
            self.prints.as_ref().is_none_or(is_in) && !self.prints_not.as_ref().is_some_and(is_in);
        (!texts.is_empty()).then(|| is_met.into())
    }

    pub(super) fn needs_values(&self) -> bool {
        self.matches.is_some() || self.judges_output()
    }

    fn judges_output(&self) -> bool {
        self.prints.is_some() || self.prints_not.is_some()
    }

    pub(super) fn compares_paths(&self) -> bool {
        self.calls.requires.is_some()
    }

    /// The kinds of calls whose order matters.
    pub(super) fn kinds(&self) -> impl Iterator<Item = CallKind> {
        let ExpectedCalls { after, before, requires, .. } = self.calls;
        [after, before, requires].into_iter().flatten()
    }

    /// Whether this call is expected; `shown` says whether its detail matches.
    fn fits(&self, call: &SeenCall, shown: Truth) -> Truth {
        let ExpectedCalls { kind, tool, .. } = &self.calls;
        let kind = kind.map_or(Truth::Yes, |kind| call.is_of(kind));
        let tool = tool.as_ref().map_or(Truth::Yes, |tool| call.is_of_tool(tool));
        let detail = self.matches.as_ref().map_or(Truth::Yes, |_| shown);
        kind.min(tool).min(detail)
    }

    /// Counts a call; `number` is that of the expectation. `waiting` have not been counted.
    pub(super) fn count<'e>(
        &self,
        (call, number): (&SeenCall, usize),
        kinds: &KindHistories,
        waiting: impl Iterator<Item = &'e SeenCall>,
        tally: &mut CallTally,
    ) {
        let ExpectedCalls { after, before, requires, .. } = self.calls;
        let fits = self.fits(call, call.shown(number));
        let conditions = [
            (after.map(|kind| kinds.is_after(kind, call)), TOO_EARLY),
            (before.map(|kind| kinds.is_before(kind, call, waiting)), TOO_LATE),
            (self.judges_output().then(|| call.output(number)), PRINTED_OTHERWISE),
            (Some(call.succeeded()), FAILED),
        ];
        let conditions = conditions.map(|(truth, fault)| (truth.unwrap_or(Truth::Yes), fault));
        let [(after, _), (before, _), (output, _), (succeeded, _)] = conditions;
        let is_met = after.min(before).min(output);
        if !call.was_refused() {
            tally.tried.add(fits, call.line);
            tally.met.add(fits.min(is_met), call.line);
            if let Some(kind) = requires {
                let is_unprepared = kinds.has_same_path(kind, call).negated();
                tally.unprepared.add(fits.min(is_unprepared), call.line);
            }
        }
        tally.succeeded.add(fits.min(is_met).min(succeeded), call.line);
        let is_good = is_met.min(succeeded);
        tally.last = match fits {
            Truth::Yes => is_good,
            Truth::Unknown if tally.last != is_good => Truth::Unknown,
            Truth::Unknown | Truth::No => return self.spoil(call, tally),
        };
        let fault = conditions.iter().rev().find(|(truth, _)| *truth == Truth::No);
        tally.last_fault = fault.map_or(FAILED, |(_, fault)| fault);
        self.spoil(call, tally);
    }

    /// Calls before this one are not after the last call of its kind.
    fn spoil(&self, call: &SeenCall, tally: &mut CallTally) {
        let Some(kind) = self.calls.after.filter(|_| !call.was_refused()) else { return };
        let is_other = call.is_of(kind);
        for counted in [&mut tally.met, &mut tally.succeeded] {
            counted.spoil(is_other);
        }
        let most = is_other.negated();
        if most < tally.last {
            (tally.last, tally.last_fault) = (most, TOO_EARLY);
        }
    }

    /// The answers to the questions that are asked. What must succeed is asked only if the run
    /// succeeded.
    pub(super) fn answers(&self, tally: &CallTally, context: Context) -> Vec<Answered> {
        let ExpectedCalls { at_least, at_most, last_succeeded, requires, .. } = self.calls;
        let CallTally { tried, met, succeeded, last, last_fault, unprepared } = tally;
        let (is, was) = (self.conditions(false), self.conditions(true));
        let mut answers = Vec::new();
        if let Some(most) = at_most {
            answers.push(Answered {
                truth: met.stays_within(most, context.hidden_calls()),
                fact: format!(
                    "at most {most} {} may come{is}, but {} did",
                    self.name(most),
                    met.sure
                ),
                question: format!("at most {most} {} came{was}", self.name(most)),
                tally: met.clone(),
            });
        }
        if let Some(least) = at_least.filter(|_| context.has_succeeded) {
            answers.push(Answered {
                truth: succeeded.reaches(least, context.hidden_calls()),
                fact: format!(
                    "at least {least} {} must succeed{is}, but {} did",
                    self.name(least),
                    succeeded.sure
                ),
                question: format!("at least {least} {} succeeded{was}", self.name(least)),
                tally: tried.clone(),
            });
        }
        if last_succeeded && context.has_succeeded {
            let is_hidden = context.hidden_calls() > 0;
            let came = if tried.sure > 0 { last_fault } else { "there was none" };
            answers.push(Answered {
                truth: if is_hidden { Truth::Unknown } else { *last },
                fact: format!("the last of the {} must succeed{is}, but {came}", self.name(0)),
                question: format!("the last of the {} succeeded{was}", self.name(0)),
                tally: tried.clone(),
            });
        }
        if let Some(kind) = requires {
            let (name, kind) = (self.name(1), kind.name());
            answers.push(Answered {
                truth: unprepared.stays_within(0, context.hidden_calls()),
                fact: format!(
                    "each {name} must come after a {kind} call with the same path, but {} did not",
                    unprepared.sure
                ),
                question: format!("each {name} came after a {kind} call with the same path"),
                tally: unprepared.clone(),
            });
        }
        answers
    }

    /// Where the calls must come and what they must print, as a message says it.
    fn conditions(&self, is_past: bool) -> String {
        let ExpectedCalls { after, before, output_matches, output_never, .. } = &self.calls;
        let place = |word, kind: &Option<CallKind>| {
            kind.map(|kind| format!(" {word} {} call", kind.name())).unwrap_or_default()
        };
        let (prints, prints_not) =
            if is_past { ("printed", "did not print") } else { ("print", "not print") };
        let output = |word, pattern: &Option<String>| {
            pattern.as_ref().map(|it| format!(" and {word} {}", short(it))).unwrap_or_default()
        };
        let (after, before) = (place("after the last", after), place("before the first", before));
        let output = output(prints, output_matches) + &output(prints_not, output_never);
        format!("{after}{before}{output}")
    }

    /// So many of the calls, as a message names them.
    fn name(&self, count: u64) -> String {
        let ExpectedCalls { kind, tool, matches, name, .. } = &self.calls;
        if let Some(name) = name {
            let plural = if count == 1 { "" } else { "s" };
            return format!("{} call{plural}", visible(name));
        }
        let kind = kind.map(|kind| format!("{} ", kind.name())).unwrap_or_default();
        let tool = tool.as_ref().map(|tool| format!(" of the tool {}", shown(tool)));
        let matches = matches.as_ref().map(|pattern| format!(" with {}", short(pattern)));
        let plural = if count == 1 { "" } else { "s" };
        format!("{kind}call{plural}{}{}", tool.unwrap_or_default(), matches.unwrap_or_default())
    }
}
