//! What plain text says of the run, in the stream or on standard error.

use super::Run;
use crate::check::end_of_run::{EndCause, EndOfRun, ProducerExit};
use crate::check::stage::lines::{FailureLine, LineCheck, SaidLine};
use crate::profile::{CallOutcome, ExitStatus, NoiseMeaning};
use crate::rules::diagnostic::Diagnostic;

impl Run<'_> {
    pub(in crate::check) fn observe_said(&mut self, said: &SaidLine, found: &mut Vec<Diagnostic>) {
        let outcome = match said.meaning {
            NoiseMeaning::DeniedCall => CallOutcome::Denied,
            NoiseMeaning::FailedCall => CallOutcome::Failed,
            NoiseMeaning::BackgroundWorkLost => return self.background.lost_unknown(),
        };
        let line = said.at.map(|(line, _)| line);
        let new = self.calls.observe_said(outcome, &said.text, line);
        found.extend(new.map(|it| match said.at {
            Some((line, offset)) => it.at(line, offset),
            None => it,
        }));
    }

    /// The line of the stream that says that the run failed.
    pub(super) fn failure_in(
        &self,
        lines: &mut LineCheck<'_>,
        exit: &ProducerExit,
    ) -> Option<FailureLine> {
        // A command that succeeds without an event may have written its answer as text.
        let may_be_answer = self.events == 0 && matches!(exit.status, Some(it) if it.is_success());
        lines.failure.take().filter(|it| it.reason.is_some() || !may_be_answer)
    }

    /// The lines of standard error that the profile knows. Returns the first that says that the
    /// run failed, if the exit status does not. Whether an event followed is not known: if the
    /// agent may have gone on, it did.
    pub(super) fn observe_stderr(
        &mut self,
        exit: &ProducerExit,
        found: &mut Vec<Diagnostic>,
    ) -> Option<FailureLine> {
        let mut failure = None;
        for line in &exit.stderr_lines {
            let Some(rule) = self.contract.profile().known_stderr(line) else { continue };
            if let Some(said) = SaidLine::of(rule, line, None) {
                self.observe_said(&said, found);
            }
            let says_failed = rule.failed && !(rule.may_recover && self.events > 0);
            if says_failed && failure.is_none() && exit.status.is_none_or(ExitStatus::is_success) {
                failure = Some(FailureLine::of(rule, line, None));
            }
        }
        failure
    }

    /// What a command that failed wrote in place of events and standard error says why.
    pub(super) fn text_explains(
        &mut self,
        end: &EndOfRun<'_>,
        exit: &ProducerExit,
        text: Option<&String>,
    ) {
        let has_no_output = self.events == 0 && exit.stderr.iter().flatten().next().is_none();
        let Some(text) = text.filter(|_| has_no_output && end.cause == EndCause::Failed) else {
            return;
        };
        if self.facts.error_text.is_none() {
            let (reason, _) = self.contract.profile().reason_in(text);
            self.facts.reason = self.facts.reason.or(reason);
            self.facts.error_text = Some(text.clone());
        }
    }
}
