//! What is said of the calls that an expectation is about.

use super::calls::{CallPattern, CallTally, LastFault};
use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::ExpectedCalls;
use crate::profile::CallKind;
use crate::rules::escape::{clipped, shown, visible};

/// Longest pattern in a message, in bytes.
const PATTERN_BYTES_MAX: usize = 60;

fn short(pattern: &str) -> String {
    shown(&clipped(pattern, PATTERN_BYTES_MAX))
}

impl CallPattern {
    /// The answers to the questions that are asked. What must succeed is asked only if the run
    /// succeeded.
    pub(super) fn answers(&self, tally: &CallTally, context: Context) -> Vec<Answered> {
        let ExpectedCalls { at_least, at_most, last_must_succeed, requires, .. } = self.calls;
        let at_least = at_least.filter(|_| context.has_succeeded);
        let last = last_must_succeed && context.has_succeeded;
        let answers = [
            at_most.map(|most| self.at_most(most, tally, context)),
            at_least.map(|least| self.at_least(least, tally, context)),
            last.then(|| self.last(tally, context)),
            requires.map(|kind| self.requires(kind, tally, context)),
        ];
        answers.into_iter().flatten().collect()
    }

    fn at_most(&self, most: u64, tally: &CallTally, context: Context) -> Answered {
        let (name, place, met) = (self.name(most.max(1)), self.conditions(), &tally.met);
        let (allowed, is_more) = match most {
            0 => (format!("no {name} is allowed"), format!("there was no {name}")),
            1 => (format!("only 1 {name} is allowed"), format!("there was only 1 {name}")),
            _ => (
                format!("at most {most} {name} are allowed"),
                format!("there were at most {most} {name}"),
            ),
        };
        let verb = if met.sure == 1 { "was" } else { "were" };
        Answered {
            truth: met.stays_within(most, context.hidden_calls()),
            fact: format!("{allowed}{place}, but there {verb} {}", met.sure),
            question: format!("{is_more}{place}"),
            tally: met.clone(),
            doubt: None,
        }
    }

    fn at_least(&self, least: u64, tally: &CallTally, context: Context) -> Answered {
        let (name, place) = (self.name(least), self.conditions());
        let CallTally { tried, succeeded, .. } = tally;
        let count = if succeeded.sure == 0 { "none".into() } else { succeeded.sure.to_string() };
        Answered {
            truth: succeeded.reaches(least, context.hidden_calls()),
            fact: format!("at least {least} {name} must succeed{place}, but {count} did"),
            question: format!("at least {least} {name} succeeded{place}"),
            tally: Tally {
                unsure: succeeded.unsure,
                unsure_lines: succeeded.unsure_lines.clone(),
                ..tried.clone()
            },
            doubt: None,
        }
    }

    fn last(&self, tally: &CallTally, context: Context) -> Answered {
        let (name, line, place) = (self.name(1), tally.last_line, self.conditions());
        let other = |kind: Option<CallKind>| kind.map_or("", CallKind::name);
        let fault = match tally.last_fault {
            LastFault::Failed => "failed".to_owned(),
            LastFault::NeverEnded => "never ended".to_owned(),
            LastFault::Refused => "was refused".to_owned(),
            LastFault::Nothing => "printed that it did nothing".to_owned(),
            LastFault::Output => match (&self.calls.output_matches, &self.calls.output_never) {
                (Some(_), None) => "did not print what `output.matches` demands",
                (None, Some(_)) => "printed what `output.never` forbids",
                _ => "did not print what `output` demands",
            }
            .to_owned(),
            LastFault::TooEarly(end) if end < line => format!(
                "started before the last {} call (line {end}) had ended",
                other(self.calls.after)
            ),
            LastFault::TooEarly(end) => {
                format!("came before the last {} call (line {end})", other(self.calls.after))
            }
            LastFault::TooLate(start) => {
                format!("came after the first {} call (line {start})", other(self.calls.before))
            }
        };
        let fact = if tally.tried.sure == 0 && tally.last_line == 0 {
            format!("the last {name} must succeed{place}, but there was none")
        } else {
            format!("the last {name} (line {line}) {fault}")
        };
        let doubt = tally.last_hides_exit.then(|| {
            format!(
                "the exit status in line {line} is not that of the {name}: it is in a pipe, in \
                     the background, or other commands follow"
            )
        });
        Answered {
            truth: if context.hidden_calls() > 0 { Truth::Unknown } else { tally.last },
            fact,
            question: format!("the last {name} succeeded{place}"),
            tally: Tally { sure: 0, lines: Vec::new(), ..tally.tried.clone() },
            doubt,
        }
    }

    fn requires(&self, kind: CallKind, tally: &CallTally, context: Context) -> Answered {
        let (name, kind, unprepared) = (self.name(1), kind.name(), &tally.unprepared);
        Answered {
            truth: unprepared.stays_within(0, context.hidden_calls()),
            fact: format!(
                "each {name} must come after a {kind} call with the same path, but {} did not",
                unprepared.sure
            ),
            question: format!("each {name} came after a {kind} call with the same path"),
            tally: unprepared.clone(),
            doubt: None,
        }
    }

    /// Where the calls must come and what they must print, as a message says it.
    fn conditions(&self) -> String {
        let ExpectedCalls { after, before, output_matches, output_never, .. } = &self.calls;
        let place = |word, kind: &Option<CallKind>| {
            kind.map(|kind| format!(" {word} {} call", kind.name())).unwrap_or_default()
        };
        let (after, before) = (place("after the last", after), place("before the first", before));
        let is_named = self.calls.name.is_some();
        let prints = output_matches.as_ref().filter(|_| !is_named);
        let prints = prints.map(|it| format!(", with {} in the output", short(it)));
        let prints_not = output_never.as_ref().filter(|_| !is_named);
        let prints_not = prints_not.map(|it| format!(", without {} in the output", short(it)));
        let output = prints.unwrap_or_default() + &prints_not.unwrap_or_default();
        format!("{after}{before}{output}")
    }

    /// So many of the calls, as a message names them.
    fn name(&self, count: u64) -> String {
        let ExpectedCalls { kind, tool, matches, runs, name, .. } = &self.calls;
        let plural = if count == 1 { "" } else { "s" };
        if let Some(name) = name {
            return format!("{}{plural}", visible(name));
        }
        let kind = kind.map(|kind| format!("{} ", kind.name()));
        let kind = kind.or(runs.as_ref().map(|_| "command ".to_owned())).unwrap_or_default();
        let tool = tool.as_ref().map(|tool| format!(" of the tool {}", shown(tool)));
        let text = |word, pattern: &Option<String>| {
            pattern.as_ref().map(|it| format!(" {word} {}", short(it))).unwrap_or_default()
        };
        let (runs, matches) = (text("of", runs), text("with", matches));
        format!("{kind}call{plural}{}{runs}{matches}", tool.unwrap_or_default())
    }
}
