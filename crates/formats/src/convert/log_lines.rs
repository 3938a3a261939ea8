//! The lines for an event: reasoning, notices, and what became of a call.

use ndjson_check_core::{EventKind, Wordings};

use super::actions::Actions;
use super::details::DetailLines;
use super::log::{Log, LogLine};

pub(super) struct LogLines {
    actions: Actions,
    details: Option<DetailLines>,
}

impl LogLines {
    pub(super) fn new(wordings: Wordings, log: &Log) -> Self {
        Self { actions: Actions::new(wordings, log), details: DetailLines::new(log) }
    }

    pub(super) fn of(&mut self, event: &EventKind<'_>) -> Vec<LogLine> {
        let mut lines = Vec::new();
        if let Some(details) = &mut self.details {
            details.event(event, &mut lines);
        }
        if let Some(action) = self.actions.line_of(event) {
            self.interrupted();
            lines.push(action);
        }
        lines
    }

    /// Something else is written between two lines of reasoning.
    pub(super) fn interrupted(&mut self) {
        self.details.iter_mut().for_each(DetailLines::interrupted);
    }
}
