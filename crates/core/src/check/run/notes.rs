//! What a reader should know of a run besides its defects.

use super::Run;
use crate::check::end_of_run::{
    EndCause, EndOfRun, ProducerExit, StopReason, duration, what_is_missing,
};
use crate::check::how_to_call::STDERR_SAYS_WHY;
use crate::check::{Note, Outcome};
use crate::profile::TerminalPolicy;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

impl Run<'_> {
    pub(in crate::check) fn notes(&self, end: &EndOfRun<'_>, exit: &ProducerExit) -> Vec<Note> {
        let mut notes = self.drift.notes();
        let count = self.incomplete_events;
        notes.extend((count > 0).then_some(Note::EventsIncomplete { count }));
        notes.extend(self.calls.notes());
        notes.extend(self.calls.actions.note());
        notes.extend(self.text.notes());
        self.notes_on_outcome(end, exit, &mut notes);
        notes
    }

    /// How the outcome came about, if nothing else shows it.
    fn notes_on_outcome(&self, end: &EndOfRun<'_>, exit: &ProducerExit, notes: &mut Vec<Note>) {
        match end.outcome {
            Outcome::TimedOut => {
                let stop = exit.stop.as_ref();
                notes.extend(stop.map(|stop| Note::TimedOut(self.timeout(stop))));
            }
            Outcome::Failed => {
                if let Some((line, sign)) = self.terminal.failure() {
                    notes.push(Note::FailureReported { line, sign });
                } else if end.stream.ended_early() {
                    notes.extend(self.cut_short());
                }
            }
            Outcome::Succeeded => {
                let policy = self.contract.profile().end.policy;
                let is_silent = policy != TerminalPolicy::Required
                    && self.terminal.terminal_line().is_none()
                    && self.terminal.reported_outcome().is_none();
                let is_silent = is_silent || self.terminal.without_status().is_some();
                let count = self.terminal.warnings;
                if is_silent && end.status.is_none() {
                    notes.push(Note::OutcomeUnknown);
                } else if count > 0 {
                    notes.push(Note::ErrorsSurvived { count });
                }
            }
            Outcome::Truncated => {
                notes.extend(exit.was_interrupted.then(|| self.cut_short()).flatten());
            }
        }
        if let Some(meaning) = end.status.and_then(|status| status.meaning) {
            notes.push(Note::ExitStatusMeaning(meaning.to_owned()));
        }
        notes.extend(exit.status_is_lost.then_some(Note::ExitStatusLost));
        let profile = || self.contract.profile().name.clone();
        notes.extend(exit.had_no_idle_timeout.then(|| Note::NoIdleTimeout { profile: profile() }));
        notes.extend(exit.had_no_call_timeout.then(|| Note::NoCallTimeout { profile: profile() }));
        if exit.stop == Some(StopReason::Lingered) {
            notes.push(Note::Lingered { was_stopped: exit.status.is_some() });
        }
    }

    fn cut_short(&self) -> Option<Note> {
        let no_terminal_event = self.contract.needs_terminal();
        let open_calls = self.calls.open_summary();
        let is_open = self.events > 0 && (no_terminal_event || open_calls.is_some());
        is_open.then_some(Note::CutShort { no_terminal_event, open_calls })
    }

    /// Which limit was reached, and which calls were open for how long.
    fn timeout(&self, stop: &StopReason) -> String {
        let is_named = matches!(stop, StopReason::CallTimeout { .. });
        let (message, ages) = match stop {
            StopReason::Timeout { limit, open_calls } => {
                (format!("the run did not end within {}", duration(*limit)), &open_calls[..])
            }
            StopReason::IdleTimeout { limit } => {
                (format!("no event arrived for {}", duration(*limit)), &[][..])
            }
            StopReason::CallTimeout { limit, line } => {
                let call = self.calls.named_at(*line);
                (format!("{call} did not end within {}", duration(*limit)), &[][..])
            }
            StopReason::Lingered | StopReason::LimitExceeded | StopReason::WrongStart => {
                ("the command was still running".to_owned(), &[][..])
            }
        };
        let has_others = !is_named || self.calls.open_in_turn() > 1;
        let open = has_others.then(|| self.calls.open_summary_with(ages)).flatten();
        let ended = self.calls.ended_summary(ages);
        let work = self.background.open_summary(self.session.session_id(), &self.calls);
        let parts = [Some(message), open, ended, work];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// What the stream lacks. Nothing is reported if a signal ended the run.
    pub(super) fn missing_end(
        &self,
        end: &EndOfRun<'_>,
        exit: &ProducerExit,
        expects_turn: bool,
    ) -> Option<Diagnostic> {
        let (line, offset) = self.terminal.last_event();
        match end.cause {
            _ if exit.was_interrupted => None,
            EndCause::NoEvents => {
                Some(Diagnostic::new(Rule::EmptyStream, "the stream has no event"))
            }
            EndCause::NoTerminalEvent => {
                let message = what_is_missing(expects_turn, self.session.holds_back_ends());
                let missing = Diagnostic::new(Rule::MissingTerminalEvent, message);
                Some(Diagnostic { note: self.why_cut(exit), ..missing.at(line, offset) })
            }
            _ => None,
        }
    }

    /// What a cut run leaves open, and where to look for the reason.
    fn why_cut(&self, exit: &ProducerExit) -> Option<String> {
        let place = exit.stderr.is_none().then(|| STDERR_SAYS_WHY.to_owned());
        let parts: Vec<String> = self.missing(None).into_iter().chain(place).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// What a stream without its terminal event leaves open.
    pub(super) fn missing(&self, fact: Option<&str>) -> Option<String> {
        let work = self.background.open_summary(self.session.session_id(), &self.calls);
        let open = [self.calls.open_summary(), work];
        let open = open.iter().flatten().map(String::as_str);
        let parts: Vec<&str> = fact.into_iter().chain(open).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
