//! Messages about the calls of an expectation.

use super::calls::{CallPattern, CallTally, LastFault};
use super::truth::{Tally, Truth, lines};
use super::verdict::{Answered, Context};
use crate::check::ExpectedCalls;
use crate::profile::CallKind;

impl CallPattern {
    /// The answers to the questions that are asked. What must succeed is asked only if the run
    /// succeeded.
    pub(super) fn answers(&self, tally: &CallTally, context: Context) -> Vec<Answered> {
        let ExpectedCalls { at_least, at_most, last_must_succeed, requires, .. } = self.calls;
        let at_least = at_least.filter(|_| context.has_succeeded);
        let last = last_must_succeed && context.has_succeeded;
        let named = |answered| tally.tools.judge(self.tool.as_ref(), answered);
        let answers = [
            at_most.map(|most| named(self.at_most(most, tally, context))),
            at_least.map(|least| self.at_least(least, tally, context)),
            last.then(|| self.last(tally, context)),
            requires.map(|kind| named(self.requires(kind, tally, context))),
        ];
        answers.into_iter().flatten().collect()
    }

    fn at_most(&self, most: u64, tally: &CallTally, context: Context) -> Answered {
        let (name, met) = (self.calls.named(most.max(1)), &tally.met);
        let allowed = match most {
            0 => format!("no {name} is allowed"),
            1 => format!("only 1 {name} is allowed"),
            _ => format!("at most {most} {name} are allowed"),
        };
        let place = self.calls.conditions();
        let verb = if met.sure == 1 { "was" } else { "were" };
        let is_inside = are_any(&tally.unseen);
        let hidden = if is_inside { u64::MAX } else { context.hidden_calls() };
        Answered {
            truth: met.stays_within(most, hidden),
            fact: format!("{allowed}{place}, but there {verb} {}", met.sure),
            question: Some(self.calls.at_most_statement(most)),
            tally: met.clone(),
            doubt: is_inside.then(|| doubt_of_sub_agents(&tally.unseen)).flatten(),
        }
    }

    fn at_least(&self, least: u64, tally: &CallTally, context: Context) -> Answered {
        let (name, place) = (self.calls.named(least), self.calls.conditions());
        let CallTally { tried, succeeded, sub_agents, .. } = tally;
        let is_inside = are_any(sub_agents);
        let hidden = if is_inside { u64::MAX } else { context.hidden_calls() };
        let count = if succeeded.sure == 0 { "none".into() } else { succeeded.sure.to_string() };
        Answered {
            truth: succeeded.reaches(least, hidden),
            fact: format!("at least {least} {name} must succeed{place}, but {count} did"),
            question: Some(self.calls.at_least_statement(least)),
            tally: Tally {
                unsure: succeeded.unsure,
                unsure_lines: succeeded.unsure_lines.clone(),
                ..tried.clone()
            },
            doubt: is_inside.then(|| doubt_of_sub_agents(sub_agents)).flatten(),
        }
    }

    fn last(&self, tally: &CallTally, context: Context) -> Answered {
        let (name, line, place) = (self.calls.named(1), tally.last_line, self.calls.conditions());
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
            LastFault::HiddenExit
            | LastFault::NotShown
            | LastFault::Contradicted
            | LastFault::Overlaps(_) => "ended in a way that is not shown".to_owned(),
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
        let is_none = tally.tried.sure == 0 && tally.last_line == 0;
        let fact = if is_none {
            let alike = tally.alike.lines.last();
            let alike = alike.map(|line| {
                format!("; the command in line {line} may be one: name it in `calls` with `runs`")
            });
            let alike = alike.unwrap_or_default();
            format!("the last {name} must succeed{place}, but there was none{alike}")
        } else {
            format!("the last {name} (line {line}) {fault}")
        };
        let may_be_later = is_none || matches!(tally.last_fault, LastFault::TooEarly(_));
        let is_inside = may_be_later && are_any(&tally.sub_agents);
        let is_hidden = context.hidden_calls() > 0 || is_inside && tally.last == Truth::No;
        let of_sub_agents = || doubt_of_sub_agents(&tally.sub_agents).filter(|_| is_inside);
        Answered {
            truth: if is_hidden { Truth::Unknown } else { tally.last },
            fact,
            question: Some(self.calls.last_statement()),
            tally: Tally {
                sure: 0,
                lines: Vec::new(),
                detail: tally.last_detail.clone(),
                ..tally.tried.clone()
            },
            doubt: of_sub_agents().or_else(|| self.doubt_of_last(tally)),
        }
    }

    /// Why the stream does not show whether the last call succeeded.
    fn doubt_of_last(&self, tally: &CallTally) -> Option<String> {
        let (name, line) = (self.calls.named(1), tally.last_line);
        match tally.last_fault {
            LastFault::HiddenExit => Some(format!(
                "the exit status in line {line} is not that of the {name}: it is in a pipe, in a \
                     block or in the background, other commands follow, or it may not have run \
                     (`exit`, `xargs`, `--if-present`)"
            )),
            LastFault::Contradicted => Some(format!(
                "the {name} in line {line} exited with 0, but its output shows a failure"
            )),
            LastFault::NotShown => {
                Some(format!("the stream does not show how the {name} in line {line} ended"))
            }
            LastFault::Overlaps(end) => {
                let kind = self.calls.after.map_or("", CallKind::name);
                Some(format!(
                    "the {kind} call in line {end} had not ended when the {name} in line {line} \
                     started"
                ))
            }
            LastFault::TooEarly(end) if end > 0 && tally.last == Truth::Unknown => Some(format!(
                "the call in line {end} may be a later {} call: it failed, its command edits \
                     files, its tool is unknown, or a sub-agent hides its calls",
                self.calls.after.map_or("", CallKind::name)
            )),
            _ => None,
        }
    }

    fn requires(&self, kind: CallKind, tally: &CallTally, context: Context) -> Answered {
        let (name, unprepared) = (self.calls.named(1), &tally.unprepared);
        Answered {
            truth: unprepared.stays_within(0, context.hidden_calls()),
            fact: format!(
                "each {name} must come after a {} call with the same path, but {} did not",
                kind.name(),
                unprepared.sure
            ),
            question: Some(self.calls.requires_statement(kind)),
            tally: unprepared.clone(),
            ..Answered::default()
        }
    }
}

fn are_any(sub_agents: &Tally) -> bool {
    sub_agents.sure + sub_agents.unsure > 0
}

fn doubt_of_sub_agents(sub_agents: &Tally) -> Option<String> {
    let seen = [&sub_agents.lines[..], &sub_agents.unsure_lines].concat();
    let seen = lines(&seen, sub_agents.sure + sub_agents.unsure)?;
    Some(format!("a sub-agent whose calls are not shown may have made it ({seen})"))
}
