//! Stage: the terminal event, nothing after it, and what it says of the run.

use crate::rules::diagnostic::Diagnostic;
use crate::check::producer_exit::Status;
use crate::facts::{Fact, Facts, Last, Subject};
use crate::profile::{RunOutcome, StatusMeaning};
use crate::rules::Rule;
use crate::check::verdict::Outcome;

/// Watches for the end of the run.
///
/// A run has one turn or several. All that is known here is of the latest.
#[derive(Debug, Default)]
pub struct Terminal {
    /// The terminal event.
    end: Option<End>,
    /// An event that is the terminal one if nothing follows.
    suspect: Option<End>,
    /// The verdict of a producer that has no terminal event: failed if it ever said so.
    running: Option<Last>,
    /// How the run goes, by the latest event that tells.
    verdict: Option<RunOutcome>,
    /// Line of the first error with which the run cannot have succeeded.
    fatal: Option<u64>,
    /// Errors that are none of those, in all turns.
    warnings: u64,
    /// How many turns have ended.
    turns: u64,
    /// Line and offset of the latest event before the end.
    last_event: Option<(u64, u64)>,
}

/// A terminal event.
#[derive(Debug, Clone, Copy)]
struct End {
    line: u64,
    offset: u64,
    outcome: RunOutcome,
    last: Last,
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the run.
    Run,
    /// After the terminal event of a turn: it opens the next one.
    NewTurn,
    /// After the terminal event, where it may come.
    Epilogue,
    /// After the terminal event, where nothing may come.
    After,
}

/// What an event ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The run, and this is how.
    Sure(RunOutcome),
    /// The run, if nothing follows.
    Suspect,
}

impl Terminal {
    /// Whether the terminal event has come.
    pub fn is_closed(&self) -> bool {
        self.end.is_some()
    }

    /// Where an event stands that comes now.
    #[inline]
    pub fn place(&self, facts: &Facts<'_>) -> Place {
        if self.end.is_none() && self.suspect.is_none() {
            return Place::Run;
        }
        let tells = |wanted: fn(&Fact<'_>) -> bool| facts.list().iter().any(wanted);
        if tells(|fact| matches!(fact, Fact::Reopen)) {
            Place::NewTurn
        } else if self.end.is_none() {
            Place::Run
        } else if tells(|fact| matches!(fact, Fact::Epilogue)) {
            Place::Epilogue
        } else {
            Place::After
        }
    }

    /// A new turn begins: what looked like the end of the last one was it.
    pub fn reopen(&mut self, found: &mut Vec<Diagnostic>) {
        if let Some(end) = self.suspect.take() {
            self.close(end, found);
        }
        let Self { warnings, turns, last_event, .. } = *self;
        *self = Self { warnings, turns, last_event, ..Self::default() };
    }

    /// What an event of the run ends, if it is a terminal one.
    #[inline]
    pub fn ending(&self, facts: &Facts<'_>) -> Option<Ending> {
        if !facts.are_about(Subject::End) {
            return None;
        }
        let mut told = facts.list().iter();
        let terminal =
            told.find_map(|it| if let Fact::Terminal(it) = it { Some(it) } else { None })?;
        if terminal.suspect {
            return Some(Ending::Suspect);
        }
        Some(Ending::Sure(self.outcome_of(terminal, facts)))
    }

    /// The outcome of a terminal event; one that does not tell follows the latest verdict.
    fn outcome_of(&self, terminal: &Last, facts: &Facts<'_>) -> RunOutcome {
        let mut told = facts.list().iter();
        let of_event =
            told.find_map(|it| if let Fact::Verdict(it) = it { Some(*it) } else { None });
        let is_fatal = |fact: &Fact<'_>| matches!(fact, Fact::Error { fatal: true });
        let fatal = self.fatal.is_some() || facts.list().iter().any(is_fatal);
        let untold = if fatal { RunOutcome::Failure } else { RunOutcome::Success };
        terminal.outcome.or(of_event).or(self.verdict).unwrap_or(untold)
    }

    /// Takes an event into account.
    #[inline]
    pub fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if let Some(End { line, .. }) = self.end {
            let is_start = facts.list().iter().any(|it| matches!(it, Fact::SessionStart));
            let message = if is_start {
                "another session starts after the terminal event: are these two runs?".to_owned()
            } else {
                format!("the event {} follows the terminal event", facts.named())
            };
            let diagnostic = Diagnostic::new(Rule::EventAfterTerminal, message).related(line);
            found.push(diagnostic.at(facts.line, facts.offset));
            return;
        }
        let may_follow = |fact: &Fact<'_>| matches!(fact, Fact::Epilogue);
        if self.suspect.is_some() && !facts.list().iter().any(may_follow) {
            self.suspect = None;
        }
        if facts.are_about(Subject::End) {
            self.follow(facts, found);
        }
        self.last_event = Some((facts.line, facts.offset));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    fn follow(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let (line, offset) = (facts.line, facts.offset);
        for fact in facts.list() {
            match fact {
                Fact::Error { fatal: true } => {
                    self.fatal.get_or_insert(line);
                }
                Fact::Error { fatal: false } => self.warnings += 1,
                Fact::Verdict(outcome) => self.verdict = Some(*outcome),
                Fact::Terminal(last) => {
                    let outcome = self.outcome_of(last, facts);
                    let end = End { line, offset, outcome, last: **last };
                    if last.suspect {
                        self.suspect = Some(end);
                    } else {
                        self.close(end, found);
                    }
                }
                Fact::Outcome(last)
                    if self.running.is_none_or(|it| it.outcome != Some(RunOutcome::Failure)) =>
                {
                    self.running = Some(**last);
                }
                _ => {}
            }
        }
    }

    fn close(&mut self, end: End, found: &mut Vec<Diagnostic>) {
        self.end = Some(end);
        self.turns += 1;
        let diagnostic = match end.outcome {
            RunOutcome::Failure => {
                let message = "the terminal event says that the run failed";
                Some(Diagnostic::new(Rule::ErrorResult, message))
            }
            RunOutcome::Success => self.denied(),
        };
        found.extend(diagnostic.map(|it| it.at(end.line, end.offset)));
    }

    /// The stream has ended: what looked like the end of the run was it. `required` says that
    /// without a terminal event nothing is known of how it ended.
    pub fn finish(&mut self, required: bool, found: &mut Vec<Diagnostic>) {
        if let Some(end) = self.suspect.take() {
            self.close(end, found);
        }
        if self.end.is_some() || required {
            return;
        }
        let untold = self.fatal.map(|_| RunOutcome::Failure);
        if let Some(outcome) = self.verdict.or(untold) {
            self.running.get_or_insert_default().outcome.get_or_insert(outcome);
        }
        if self.says() == Some(RunOutcome::Success) {
            let (line, offset) = self.last_event.unwrap_or_default();
            found.extend(self.denied().map(|it| it.at(line, offset)));
        }
    }

    /// Whether there was an error in the turn with which it cannot have succeeded.
    pub fn is_denied(&self) -> bool {
        self.fatal.is_some()
    }

    /// A success is told although there was an error that forbids it.
    fn denied(&self) -> Option<Diagnostic> {
        let line = self.fatal?;
        let message = "the run is called a success in spite of a fatal error";
        Some(Diagnostic::new(Rule::SuccessAfterFatalError, message).related(line))
    }

    /// What the producer said at the end, if it did.
    pub fn end(&self) -> Option<Last> {
        self.end.map(|end| end.last).or(self.running)
    }

    /// What the producer says of the run.
    fn says(&self) -> Option<RunOutcome> {
        let running = self.running.and_then(|it| it.outcome);
        self.end.map(|end| end.outcome).or(running)
    }

    /// Whether the stream has anything to say of why the run failed.
    pub fn tells_of_failure(&self) -> bool {
        self.says() == Some(RunOutcome::Failure) || self.fatal.is_some()
    }

    /// The line that says that the run failed, and what it is.
    pub fn failure(&self) -> Option<(u64, &'static str)> {
        let end = self.end.filter(|it| it.outcome == RunOutcome::Failure);
        let end = end.map(|end| (end.line, "the terminal event"));
        self.fatal.map(|line| (line, "an error")).or(end)
    }

    /// How many turns have ended.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Errors that the producer told of and the run could go on with.
    pub fn warnings(&self) -> u64 {
        self.warnings
    }

    /// Line and offset of the latest event before the end.
    pub fn last_event(&self) -> Option<(u64, u64)> {
        self.last_event
    }

    /// Holds what the stream said against the exit status of the producer, where it is known.
    pub fn contradiction(&self, word: Option<StatusMeaning<'_>>) -> Option<Diagnostic> {
        let (word, says) = (word?, self.says()?);
        if word.is_consistent_with(says) {
            return None;
        }
        let said = match says {
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
            Some(End { line, .. }) => diagnostic.related(line),
            None => diagnostic,
        })
    }

    /// The outcome of the run. `cut` says that the stream ended before the run did.
    pub fn outcome(&self, cut: bool, word: Option<StatusMeaning<'_>>) -> Outcome {
        let says_failed = self.says() == Some(RunOutcome::Failure);
        if says_failed || word.is_some_and(|word| !word.is_success()) {
            Outcome::Failed
        } else if cut {
            Outcome::Truncated
        } else if self.fatal.is_some() {
            Outcome::Failed
        } else {
            Outcome::Succeeded
        }
    }
}
