//! `text`: one line for each action, as it happens (contract T1).

use ndjson_check_core::{Event, WantedEvents, Wordings};

use super::log::Log;
use super::log_lines::LogLines;
use crate::Output;

pub(super) struct TextFormatter {
    log: Log,
    lines: LogLines,
}

impl TextFormatter {
    pub(super) fn new(wordings: Wordings, log: &Log) -> Self {
        Self { log: log.clone(), lines: LogLines::new(wordings, log) }
    }
}

impl Output for TextFormatter {
    fn wants(&self) -> WantedEvents {
        self.log.wants()
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut String) {
        for event in events {
            for line in self.lines.of(&event.kind) {
                self.log.write(&line, ("", ""), out);
            }
        }
    }
}
