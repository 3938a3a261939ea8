//! `text`: one line for each action, as it happens (contract T1).

use ndjson_check_core::{Event, WantedEvents, Wordings};

use super::actions::Actions;
use super::details::DetailLines;
use super::log::{Log, LogLine};
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

    fn write(&self, lines: &[LogLine], out: &mut Vec<u8>) {
        let mut text = String::new();
        for line in lines {
            self.log.write(line, ("", ""), &mut text);
        }
        out.extend_from_slice(text.as_bytes());
    }
}

impl Output for TextFormatter {
    fn wants(&self) -> WantedEvents {
        self.log.wants()
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut Vec<u8>) {
        let mut lines = Vec::new();
        for event in events {
            if let Some(details) = &mut self.details {
                details.event(&event.kind, &mut lines);
            }
            lines.extend(self.actions.line_of(&event.kind));
        }
        self.write(&lines, out);
    }
}
