//! Stage: the terminal event, nothing after it, and what it says about the run.

use crate::check::FailureSource;
use crate::check::end_of_run::{ProducerExit, TerminalState};
use crate::check::stage::lines::FailureLine;
use crate::check::stage::session::ONE_RUN;
use crate::facts::{Facts, RareFacts, RunEnd, RunFacts};
use crate::profile::{EndRules, ErrorSeverity, ExitStatus, RunOutcome, RunProgress, WithoutStatus};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// Watches for the end of the run. A run has one turn or several; all but the counters is about
/// the latest turn.
#[derive(Debug, Default)]
pub(crate) struct TerminalCheck {
    terminal: Option<TerminalEvent>,
    /// An event that is the terminal one if nothing follows.
    provisional: Option<TerminalEvent>,
    /// The result of an agent without terminal events: failed if it was ever reported.
    running: Option<RunOutcome>,
    /// How the run goes, by the latest event that says so.
    progress: Option<RunProgress>,
    /// The line of that event.
    progress_line: u64,
    /// Line of the first error with which the run cannot have succeeded.
    fatal_error: Option<u64>,
    /// Whether standard error says that the run failed.
    has_failed_on_stderr: bool,
    /// Whether an event said that the run failed, whatever the terminal event says.
    has_failed: bool,
    /// Other errors, in all turns.
    pub(crate) warnings: u64,
    pub(crate) turns: u64,
    /// Line and offset of the latest event before the end.
    last_event: Option<(u64, u64)>,
    /// Whether a turn that another one follows needs no terminal event.
    only_last_turn_ends: bool,
}

#[derive(Debug, Clone, Copy)]
struct TerminalEvent {
    line: u64,
    offset: u64,
    outcome: RunOutcome,
    without_status: Option<WithoutStatus>,
    expects_turn: bool,
    /// What shows a failure, and its line.
    sign: FailureSource,
    sign_line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Run,
    /// After the terminal event of a turn; it begins the next one.
    NewTurn,
    /// After the terminal event, where it may come.
    Epilogue,
    /// After the terminal event, where nothing may come.
    AfterEnd,
}

impl Place {
    pub(crate) fn is_in_run(self) -> bool {
        matches!(self, Self::Run | Self::NewTurn)
    }
}

impl TerminalCheck {
    pub(crate) fn new(rules: &EndRules) -> Self {
        Self { only_last_turn_ends: rules.only_last_turn_ends, ..Self::default() }
    }

    #[inline]
    pub(crate) fn place(&self, facts: &Facts<'_>) -> Place {
        let has_ended = self.terminal.is_some() || self.provisional.is_some();
        if facts.marks.starts_turn && (has_ended || self.only_last_turn_ends) {
            Place::NewTurn
        } else if self.terminal.is_none() {
            Place::Run
        } else if facts.marks.may_follow_end {
            Place::Epilogue
        } else {
            Place::AfterEnd
        }
    }

    /// A new turn begins: a provisional end was the end of the last one.
    pub(crate) fn new_turn(&mut self, found: &mut Vec<Diagnostic>) {
        if let Some(end) = self.provisional.take() {
            self.close(end, found);
        }
        let Self { warnings, turns, last_event, only_last_turn_ends, .. } = *self;
        *self = Self { warnings, turns, last_event, only_last_turn_ends, ..Self::default() };
    }

    /// Whether the event ends the run, for certain and successfully.
    #[inline]
    pub(crate) fn is_success(&self, facts: &Facts<'_>) -> bool {
        facts.terminal().is_some_and(|end| {
            !end.is_provisional && self.outcome(end, facts) == RunOutcome::Success
        })
    }

    /// The outcome of a terminal event; one without an outcome follows the latest progress.
    fn outcome(&self, end: &RunEnd<'_>, facts: &Facts<'_>) -> RunOutcome {
        let error = facts.rare.as_ref().and_then(|rare| rare.error);
        if self.has_failed || error == Some(ErrorSeverity::Failure) {
            return RunOutcome::Failure;
        }
        let is_fatal = self.fatal_error.is_some() || error == Some(ErrorSeverity::Fatal);
        let by_errors = if is_fatal { RunOutcome::Failure } else { RunOutcome::Success };
        let progress = self.progress_with(facts.marks.progress);
        // A run that ends in the middle of something has failed.
        let progress = progress.map(|it| it.outcome().unwrap_or(RunOutcome::Failure));
        end.outcome.or(progress).unwrap_or(by_errors)
    }

    /// The progress after an event that says this of it.
    fn progress_with(&self, said: Option<RunProgress>) -> Option<RunProgress> {
        match (said, self.progress) {
            (Some(RunProgress::Finished), Some(RunProgress::Unfinished)) => {
                Some(RunProgress::Success)
            }
            (Some(RunProgress::Finished) | None, before) => before,
            (said, _) => said,
        }
    }

    #[inline]
    pub(crate) fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if let Some(end) = self.terminal {
            let rule = Rule::EventAfterTerminal;
            let diagnostic = if facts.marks.starts_session && facts.terminal().is_none() {
                let message = "another session starts after the terminal event";
                Diagnostic::new(rule, message).note(ONE_RUN)
            } else {
                let message = format!("the event {} follows the terminal event", facts.name());
                Diagnostic::new(rule, message)
            };
            let diagnostic = diagnostic.related(end.line);
            found.push(diagnostic.at(facts.line, facts.offset));
            return;
        }
        if !facts.marks.may_follow_end || self.provisional_needs_status() {
            self.provisional = None;
        }
        if let Some(progress) = facts.marks.progress {
            self.progress = self.progress_with(Some(progress));
            if progress != RunProgress::Finished {
                self.progress_line = facts.line;
            }
        }
        if let Some(rare) = &facts.rare {
            self.observe_errors_and_end(rare, facts, found);
        }
        self.last_event = Some((facts.line, facts.offset));
    }

    /// Observes an event that may follow the terminal event: it may say that the run failed after
    /// all.
    pub(crate) fn observe_epilogue(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let error = facts.rare.as_ref().and_then(|rare| rare.error);
        let has_failed = matches!(error, Some(ErrorSeverity::Failure | ErrorSeverity::Fatal))
            || facts.terminal().is_some_and(|end| end.outcome == Some(RunOutcome::Failure));
        let succeeded = |end: &&mut TerminalEvent| end.outcome == RunOutcome::Success;
        let Some(end) = self.terminal.as_mut().filter(|end| has_failed && succeeded(end)) else {
            return;
        };
        let message = "an event after the terminal event says that the run failed";
        let diagnostic = Diagnostic::new(Rule::RunFailed, message).related(end.line);
        let Facts { line, offset, .. } = *facts;
        found.push(diagnostic.at(line, offset));
        let (outcome, sign) = (RunOutcome::Failure, FailureSource::TerminalEvent);
        *end = TerminalEvent { line, offset, outcome, sign, sign_line: line, ..*end };
    }

    fn observe_errors_and_end(
        &mut self,
        rare: &RareFacts<'_>,
        facts: &Facts<'_>,
        found: &mut Vec<Diagnostic>,
    ) {
        match rare.error {
            Some(severity @ (ErrorSeverity::Failure | ErrorSeverity::Fatal)) => {
                self.fatal_error = self.fatal_error.or(Some(facts.line));
                self.has_failed |= severity == ErrorSeverity::Failure;
            }
            Some(ErrorSeverity::Warning) => self.warnings += 1,
            None => {}
        }
        let Some(end) = &rare.end else { return };
        if !end.is_terminal {
            if self.running != Some(RunOutcome::Failure) {
                self.running = end.outcome;
            }
            return;
        }
        let outcome = self.outcome(end, facts);
        let Facts { line, offset, .. } = *facts;
        let progress = self.progress.filter(|_| end.outcome.is_none() && !self.has_failed);
        let (sign, sign_line) = match progress {
            _ if end.is_provisional => (FailureSource::LastEvent, line),
            Some(RunProgress::Unfinished) => (FailureSource::Unfinished, line),
            Some(RunProgress::Failure) if self.progress_line != line => {
                (FailureSource::EarlierEvent, self.progress_line)
            }
            _ => (FailureSource::TerminalEvent, line),
        };
        let RunEnd { without_status, expects_turn, .. } = *end;
        let event =
            TerminalEvent { line, offset, outcome, without_status, expects_turn, sign, sign_line };
        if end.is_provisional {
            self.provisional = Some(event);
        } else {
            self.close(event, found);
        }
    }

    fn close(&mut self, end: TerminalEvent, found: &mut Vec<Diagnostic>) {
        self.terminal = Some(end);
        self.turns += 1;
        let diagnostic = match end.outcome {
            RunOutcome::Failure => {
                let diagnostic = Diagnostic::new(Rule::RunFailed, failure(end.sign));
                let is_earlier = end.sign_line != end.line;
                Some(if is_earlier { diagnostic.related(end.sign_line) } else { diagnostic })
            }
            RunOutcome::Success => self.success_after_fatal_error(end.line),
        };
        found.extend(diagnostic.map(|diagnostic| diagnostic.at(end.line, end.offset)));
    }

    /// A line of plain text may say that the run failed, and why. It counts if no terminal event
    /// says how the run ended.
    pub(crate) fn note_failure_line(
        &mut self,
        failure: Option<FailureLine>,
        facts: &mut RunFacts,
    ) -> bool {
        let failure = failure.filter(|_| self.terminal.is_none());
        let Some(FailureLine { number, text, reason, .. }) = failure else { return false };
        self.fatal_error = self.fatal_error.or(number);
        self.has_failed_on_stderr = number.is_none();
        self.has_failed = true;
        facts.reason = facts.reason.or(reason);
        facts.error_text.get_or_insert(text);
        true
    }

    /// The stream has ended, and a provisional end was the end. `needs_terminal` says that nothing
    /// is known about a run without terminal event, `is_cut` that more had to follow: the last line
    /// is cut or looks like an event that cannot be read, or a turn has not ended.
    pub(crate) fn finish(
        &mut self,
        needs_terminal: bool,
        is_cut: bool,
        found: &mut Vec<Diagnostic>,
    ) -> TerminalState {
        if self.terminal.is_some() {
            return TerminalState::Came;
        }
        if let Some(end) = self.provisional.take().filter(|_| !is_cut) {
            self.close(end, found);
            return TerminalState::Provisional;
        }
        if needs_terminal {
            return TerminalState::Missing;
        }
        let by_errors = self.fatal_error.map(|_| RunOutcome::Failure);
        if self.has_failed {
            self.running = Some(RunOutcome::Failure);
        } else {
            let progress = self.progress.and_then(RunProgress::outcome);
            self.running = self.running.or(progress).or(by_errors);
        }
        if self.reported_outcome() == Some(RunOutcome::Success) {
            let (line, offset) = self.last_event();
            let diagnostic = self.success_after_fatal_error(line);
            found.extend(diagnostic.map(|diagnostic| diagnostic.at(line, offset)));
        }
        TerminalState::Missing
    }

    /// Whether another turn must follow the one that ended.
    pub(crate) fn expects_turn(&self) -> bool {
        self.terminal.is_some_and(|end| end.expects_turn)
    }

    /// Whether more had to follow a provisional end that reports success. `holds_back_ends` says
    /// that turns which began have not ended.
    pub(crate) fn misses_end(&self, exit: &ProducerExit, holds_back_ends: bool) -> bool {
        let has_succeeded = exit.status.is_some_and(ExitStatus::is_success)
            && exit.stop.is_none()
            && !exit.was_interrupted;
        let succeeded = |end: TerminalEvent| end.outcome == RunOutcome::Success;
        self.provisional.is_some_and(succeeded)
            && (holds_back_ends || self.provisional_needs_status() && !has_succeeded)
    }

    /// Whether the provisional end is one only if the exit status says so.
    fn provisional_needs_status(&self) -> bool {
        let without_status = self.provisional.and_then(|end| end.without_status);
        without_status == Some(WithoutStatus::CutShort)
    }

    /// What the terminal event is if the exit status is unknown.
    pub(crate) fn without_status(&self) -> Option<WithoutStatus> {
        self.terminal?.without_status
    }

    pub(crate) fn has_fatal_error(&self) -> bool {
        self.fatal_error.is_some()
    }

    fn success_after_fatal_error(&self, end: u64) -> Option<Diagnostic> {
        let message = match self.fatal_error {
            Some(line) if line == end => {
                "the event reports success, but also shows that the run failed"
            }
            Some(line) if line > end => "the stream reports success, but a fatal error follows",
            Some(_) => "the stream reports success although a fatal error came before",
            None if self.has_failed_on_stderr => {
                "the stream reports success although standard error says that the run failed"
            }
            None => return None,
        };
        Some(Diagnostic::new(Rule::SuccessAfterFatalError, message).related(self.fatal_error))
    }

    pub(crate) fn is_unfinished(&self) -> bool {
        self.terminal.is_none() && self.progress == Some(RunProgress::Unfinished)
    }

    pub(crate) fn reported_outcome(&self) -> Option<RunOutcome> {
        self.terminal.map(|end| end.outcome).or(self.running)
    }

    pub(crate) fn terminal_line(&self) -> Option<u64> {
        self.terminal.map(|end| end.line)
    }

    /// The line that says that the run failed, and what it is.
    pub(crate) fn failure(&self) -> Option<(u64, FailureSource)> {
        let end = self.terminal.filter(|end| end.outcome == RunOutcome::Failure);
        let of_end = end.map(|end| (end.sign_line, end.sign));
        self.fatal_error.map(|line| (line, FailureSource::Error)).or(of_end)
    }

    pub(crate) fn last_event(&self) -> (u64, u64) {
        self.last_event.unwrap_or_default()
    }
}

fn failure(sign: FailureSource) -> &'static str {
    match sign {
        FailureSource::LastEvent => {
            "the stream ends with this event, and no good run of this agent ends so early"
        }
        FailureSource::Unfinished => "the run ended in the middle of a turn",
        FailureSource::EarlierEvent => "no event shows that the run succeeded",
        FailureSource::TerminalEvent | FailureSource::Error => {
            "the terminal event says that the run failed"
        }
    }
}
