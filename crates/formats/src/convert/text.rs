//! `text`: one line for each action, as it happens (contract T1).

use ndjson_check_core::{Event, WantedEvents, Wordings};

use super::log::FormStyle;
use super::log_lines::LogLines;
use crate::Output;

pub(super) struct TextFormatter {
    lines: LogLines,
}

impl TextFormatter {
    pub(super) fn new(wordings: Wordings, style: &FormStyle) -> Self {
        Self { lines: LogLines::new(wordings, style) }
    }
}

impl Output for TextFormatter {
    fn wants(&self) -> WantedEvents {
        self.lines.style.wants()
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut String) {
        for event in events {
            for line in self.lines.of(&event.kind) {
                self.lines.style.write(&line, ("", ""), out);
            }
        }
    }
}
