//! `text`: one line for each action, as it happens (contract T1).

use ndjson_check_core::{Event, WantedEvents, Wordings};

use super::actions::Actions;
use super::details::DetailLines;
use super::log::Log;
use crate::Output;

pub(super) struct TextFormatter {
    log: Log,
    actions: Actions,
    details: Option<DetailLines>,
}

impl TextFormatter {
    pub(super) fn new(wordings: Wordings, log: &Log) -> Self {
        let (actions, details) = (Actions::new(wordings, log), DetailLines::new(log));
        Self { log: log.clone(), actions, details }
    }
}

impl Output for TextFormatter {
    fn wants(&self) -> WantedEvents {
        self.log.wants()
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut String) {
        let mut lines = Vec::new();
        for event in events {
            if let Some(details) = &mut self.details {
                details.event(&event.kind, &mut lines);
            }
            if let Some(action) = self.actions.line_of(&event.kind) {
                self.details.iter_mut().for_each(DetailLines::interrupted);
                lines.push(action);
            }
        }
        for line in &lines {
            self.log.write(line, ("", ""), out);
        }
    }
}
