//! Stage: what a user expects of the run.

mod answer;
mod calls;
mod seen_call;
mod truth;
mod verdict;
mod writes;

use std::collections::BTreeMap;

use super::actions::Action;
use crate::check::answer::Answer;
use crate::check::{CallChange, CallUpdate, Expectation, TextUpdate};
use crate::error::Error;
use crate::facts::Facts;
use crate::profile::CallOutcome;
use crate::profile::pattern::LazyRegex;
use crate::rules::diagnostic::Diagnostic;

use answer::AnswerPattern;
use calls::{CallPattern, CallTally};
use seen_call::SeenCall;
use truth::Tally;
use verdict::diagnostic;
use writes::WritePattern;

pub(crate) use verdict::Context;

/// An expectation that can be checked.
#[derive(Debug)]
pub(crate) struct Expected {
    /// Where it is stated.
    place: String,
    pattern: Question,
}

#[derive(Debug)]
enum Question {
    Answer(AnswerPattern),
    Calls(CallPattern),
    Writes(WritePattern),
}

impl Expected {
    /// # Errors
    ///
    /// When a pattern, a glob or a schema does not compile.
    pub(crate) fn new(place: &str, expectation: Expectation) -> Result<Self, Error> {
        let pattern = match expectation {
            Expectation::AnswerMatches(pattern) => {
                AnswerPattern::matches(&pattern).map(Question::Answer)
            }
            Expectation::AnswerSatisfies(schema) => {
                AnswerPattern::satisfies(place, &schema).map(Question::Answer)
            }
            Expectation::Calls(calls) => CallPattern::new(calls).map(Question::Calls),
            Expectation::WritesWithin(globs) => {
                WritePattern::new(&globs, true).map(Question::Writes)
            }
            Expectation::WritesNever(globs) => {
                WritePattern::new(&globs, false).map(Question::Writes)
            }
        };
        let place = place.to_owned();
        match pattern {
            Ok(pattern) => Ok(Self { place, pattern }),
            Err(message) => Err(Error::Expectation { place, message }),
        }
    }
}

/// A regular expression that compiles.
fn compiled(pattern: &str) -> Result<LazyRegex, String> {
    match LazyRegex::syntax_error(pattern) {
        Some(error) => Err(format!("not a regular expression: {error}")),
        None => Ok(pattern.to_owned().into()),
    }
}

/// Follows the calls and the answer. It counts, and keeps no list of calls that have ended.
#[derive(Debug)]
pub(crate) struct ExpectCheck<'c> {
    expected: Vec<(&'c Expected, Tallied)>,
    /// The answer so far, if something is expected of it.
    answer: Option<Answer>,
    /// The open calls with the lines of their starts, by their numbers.
    open: BTreeMap<u64, (u64, Action)>,
    /// Calls that were seen.
    seen: u64,
    /// Whether the stream says in which directory the agent works.
    knows_directory: bool,
}

/// What was counted for an expectation.
#[derive(Debug)]
enum Tallied {
    Nothing,
    Calls(CallTally),
    Writes(Tally),
}

impl<'c> ExpectCheck<'c> {
    pub(crate) fn new(expected: &'c [Expected]) -> Self {
        let needs_answer = expected.iter().any(|it| matches!(it.pattern, Question::Answer(_)));
        let with_counts = expected.iter().map(|it| match it.pattern {
            Question::Answer(_) => (it, Tallied::Nothing),
            Question::Calls(_) => (it, Tallied::Calls(CallTally::default())),
            Question::Writes(_) => (it, Tallied::Writes(Tally::default())),
        });
        Self {
            expected: with_counts.collect(),
            answer: needs_answer.then(Answer::default),
            open: BTreeMap::new(),
            seen: 0,
            knows_directory: false,
        }
    }

    /// A new turn begins: calls that are open will not end any more.
    pub(crate) fn new_turn(&mut self) {
        for (_, (line, action)) in std::mem::take(&mut self.open) {
            self.call(&action, line, None);
        }
    }

    /// Observes what an event adds.
    #[inline]
    pub(crate) fn observe(
        &mut self,
        facts: &Facts<'_>,
        calls: &[CallUpdate<'_>],
        text: &[TextUpdate<'_>],
    ) {
        if self.expected.is_empty() {
            return;
        }
        self.knows_directory |= facts.rare.as_ref().is_some_and(|rare| rare.directory.is_some());
        if let Some(answer) = &mut self.answer {
            answer.observe(text);
        }
        for update in calls {
            let action = &update.action;
            match update.change {
                CallChange::Started => {
                    self.seen += 1;
                    self.open.insert(update.number, (facts.line, action.clone()));
                }
                CallChange::StartedAgain => {
                    if let Some((_, known)) = self.open.get_mut(&update.number) {
                        *known = action.clone();
                    }
                }
                CallChange::Completed(outcome) => {
                    let started = self.open.remove(&update.number);
                    self.seen += u64::from(started.is_none());
                    let line = started.map_or(facts.line, |(line, _)| line);
                    self.call(action, line, Some(outcome));
                }
            }
        }
    }

    fn call(&mut self, action: &Action, line: u64, outcome: Option<CallOutcome>) {
        let call = SeenCall { action, line, outcome, knows_directory: self.knows_directory };
        for (expected, counted) in &mut self.expected {
            match (&expected.pattern, counted) {
                (Question::Calls(pattern), Tallied::Calls(tally)) => pattern.observe(&call, tally),
                (Question::Writes(pattern), Tallied::Writes(tally)) => {
                    pattern.observe(&call, tally);
                }
                _ => {}
            }
        }
    }

    /// The end of the stream, in which there were `total` calls.
    pub(crate) fn finish(&mut self, total: u64, context: Context, found: &mut Vec<Diagnostic>) {
        self.new_turn();
        let context = Context { untracked_calls: total.saturating_sub(self.seen), ..context };
        for (expected, counted) in &self.expected {
            let answers = match (&expected.pattern, counted, &self.answer) {
                (Question::Calls(pattern), Tallied::Calls(tally), _) => {
                    pattern.answers(tally, context)
                }
                (Question::Writes(pattern), Tallied::Writes(tally), _) => {
                    vec![pattern.answer(tally, context)]
                }
                (Question::Answer(pattern), _, Some(answer)) => {
                    pattern.answer(answer, context).into_iter().collect()
                }
                _ => Vec::new(),
            };
            found.extend(diagnostic(&expected.place, answers, context));
        }
    }
}
