//! How a turn ended, where its terminal event says so.

use super::Run;
use crate::check::TurnResult;
use crate::check::end_of_run::{EndOfRun, LastLine, ProducerExit, StreamEnd, TerminalState};
use crate::check::stage::terminal::Place;
use crate::check::why::Why;
use crate::facts::Facts;
use crate::rules::diagnostic::Diagnostic;

impl Run<'_> {
    /// How the turn ended that this event ends.
    pub(super) fn turn_end(&self, facts: &Facts<'_>, place: Place) -> Option<Box<TurnResult>> {
        let is_end = place.is_in_run() && self.terminal.terminal_line() == Some(facts.line);
        if is_end { self.turn_result() } else { None }
    }

    /// How the last turn ended, if only the next one, which begins, shows that it did.
    pub(super) fn last_turn_end(&mut self, found: &mut Vec<Diagnostic>) -> Option<Box<TurnResult>> {
        if self.terminal.confirm_end(found) { self.turn_result() } else { None }
    }

    /// As far as the stream says.
    fn turn_result(&self) -> Option<Box<TurnResult>> {
        let turn = self.model.as_ref()?.turn();
        let stream = StreamEnd {
            has_events: true,
            needs_terminal: true,
            terminal: TerminalState::Came,
            reported_outcome: self.terminal.reported_outcome(),
            text_says_failed: false,
            has_fatal_error: self.terminal.has_fatal_error(),
            is_midway: false,
            last_line: LastLine::Whole,
        };
        let exit = ProducerExit::default();
        let end = EndOfRun::decide(stream, &exit, None);
        let why = Why::decide(&end, &self.facts, &exit, self.contract.profile());
        Some(TurnResult::new(turn, end.outcome, why, &self.facts).into())
    }
}
