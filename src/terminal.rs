//! Stage: the terminal event, nothing after it, and what it says of the run.

use crate::diagnostic::Diagnostic;
use crate::end::Status;
use crate::facts::{Fact, Facts, Last, Subject};
use crate::profile::{RunOutcome, Word};
use crate::rule::Rule;
use crate::verdict::Outcome;

/// Watches for the end of the run.
#[derive(Debug, Default)]
pub struct Terminal {
    /// Line of the terminal event, and what it says.
    end: Option<(u64, Last)>,
    /// The verdict of a producer that has no terminal event: failed if it ever said so.
    running: Option<Last>,
    /// Line and offset of the latest event before the end.
    last_event: Option<(u64, u64)>,
}

impl Terminal {
    /// Whether the terminal event has come.
    pub fn is_closed(&self) -> bool {
        self.end.is_some()
    }

    /// Takes an event into account.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    pub fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if let Some((line, _)) = self.end {
            let message = format!("the event {} follows the terminal event", facts.named());
            let diagnostic = Diagnostic::new(Rule::EventAfterTerminal, message).related(line);
            found.push(diagnostic.at(facts.line, facts.offset));
            return;
        }
        let list = if facts.are_about(Subject::End) { facts.list() } else { &[] };
        for fact in list {
            match fact {
                Fact::Terminal(end) => {
                    self.end = Some((facts.line, **end));
                    if end.outcome == RunOutcome::Failure {
                        let message = "the terminal event says that the run failed";
                        let diagnostic = Diagnostic::new(Rule::ErrorResult, message);
                        found.push(diagnostic.at(facts.line, facts.offset));
                    }
                }
                Fact::Outcome(end)
                    if self.running.is_none_or(|it| it.outcome == RunOutcome::Success) =>
                {
                    self.running = Some(**end);
                }
                _ => {}
            }
        }
        self.last_event = Some((facts.line, facts.offset));
    }

    /// What the producer said at the end, if it did.
    pub fn end(&self) -> Option<Last> {
        self.end.map(|(_, end)| end).or(self.running)
    }

    /// Line and offset of the latest event before the end.
    pub fn last_event(&self) -> Option<(u64, u64)> {
        self.last_event
    }

    /// Holds what the stream said against the exit status of the producer, where it is known.
    pub fn contradiction(&self, word: Option<Word<'_>>) -> Option<Diagnostic> {
        let (word, end) = (word?, self.end()?);
        if word.agrees(end.outcome) {
            return None;
        }
        let said = match end.outcome {
            RunOutcome::Failure => "failed",
            RunOutcome::Success => "succeeded",
        };
        let status = match word.status {
            Status::Code(code) => format!("the exit status is {code}"),
            Status::Signal(signal) => format!("signal {signal} ended the command"),
        };
        let message = format!("the stream says the run {said}, and {status}");
        let mut diagnostic = Diagnostic::new(Rule::ExitStatusContradictsResult, message);
        if let Some(meaning) = word.meaning {
            diagnostic = diagnostic.note(format!("the status means: {meaning}"));
        }
        Some(match self.end {
            Some((line, _)) => diagnostic.related(line),
            None => diagnostic,
        })
    }

    /// The outcome of the run. `cut` says that the stream ended before the run did.
    pub fn outcome(&self, cut: bool, word: Option<Word<'_>>) -> Outcome {
        let says_failed = self.end().is_some_and(|end| end.outcome == RunOutcome::Failure);
        if says_failed || word.is_some_and(|word| !word.is_success()) {
            Outcome::Failed
        } else if cut {
            Outcome::Truncated
        } else {
            Outcome::Succeeded
        }
    }
}
