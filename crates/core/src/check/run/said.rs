//! What plain text says of the run, in the stream or on standard error.

use super::Run;
use crate::check::Observer;
use crate::check::end_of_run::{EndCause, EndOfRun, ProducerExit};
use crate::check::run_model::Events;
use crate::check::stage::lines::{FailureLine, SaidLine};
use crate::profile::{CallOutcome, ExitStatus, NoiseMeaning};
use crate::rules::diagnostic::Diagnostic;

impl Run<'_> {
    pub(in crate::check) fn observe_said(
        &mut self,
        said: &SaidLine,
        found: &mut Vec<Diagnostic>,
        out: &mut dyn Observer,
    ) {
        let outcome = match said.meaning {
            NoiseMeaning::DeniedCall => CallOutcome::Denied,
            NoiseMeaning::FailedCall => CallOutcome::Failed,
            NoiseMeaning::BackgroundWorkLost => return self.background.lost_unknown(),
            NoiseMeaning::ToolServerUnavailable => return self.servers.said(said, found),
        };
        let line = said.at.map(|(line, _)| line);
        let (update, new) = self.calls.observe_said(outcome, &said.text, line);
        found.extend(new.map(|it| match said.at {
            Some((line, offset)) => it.at(line, offset),
            None => it,
        }));
        let (updates, mut events) = ([update], Events::new());
        if let Some(model) = &self.model {
            model.said(&updates, line, &mut events);
        }
        self.pass_on_others(&events, out);
    }

    /// Reads the lines of standard error that the profile knows. Returns the first that says that
    /// the run failed, unless the exit status says it. The order of lines and events is unknown:
    /// if the agent may recover, and there are events, it did.
    pub(in crate::check) fn observe_stderr(
        &mut self,
        exit: &ProducerExit,
        found: &mut Vec<Diagnostic>,
        out: &mut dyn Observer,
    ) -> Option<FailureLine> {
        let mut failure = None;
        let is_success = exit.status.is_none_or(ExitStatus::is_success);
        for line in &exit.stderr_lines {
            let Some(rule) = self.contract.profile().known_stderr(line) else { continue };
            if let Some(said) = SaidLine::of(rule, line, None) {
                self.observe_said(&said, found, out);
            }
            let has_failed = rule.failed && !(rule.may_recover && self.events > 0);
            if has_failed && is_success && failure.is_none() {
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
