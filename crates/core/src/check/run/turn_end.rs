//! How a turn ended, where its terminal event says so.

use super::Run;
use crate::check::TurnResult;
use crate::check::end_of_run::{EndOfRun, LastLine, ProducerExit, StreamEnd, TerminalState};
use crate::check::stage::terminal::Place;
use crate::check::why::Why;
use crate::facts::Facts;

impl Run<'_> {
    /// How the turn ended that this event ends for certain, as far as the stream says.
    pub(super) fn turn_end(&self, facts: &Facts<'_>, place: Place) -> Option<Box<TurnResult>> {
        let is_end = place.is_in_run() && self.terminal.terminal_line() == Some(facts.line);
        self.model.as_ref().filter(|_| is_end)?;
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
        Some(TurnResult::new(end.outcome, why, &self.facts).into())
    }
}
