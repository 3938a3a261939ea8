//! The lines for an event: reasoning, notices, and what became of a call.

use ndjson_check_core::{EventKind, Wordings};

use super::log::{FormStyle, LogLine};

pub(super) struct LogLines {
    pub(super) style: FormStyle,
    pub(super) wordings: Wordings,
    /// The start of a line of reasoning, whose end has not come.
    pub(super) open: String,
    /// Whether the line above is one of the same reasoning.
    pub(super) is_continued: bool,
}

impl LogLines {
    pub(super) fn new(wordings: Wordings, style: &FormStyle) -> Self {
        Self { style: style.clone(), wordings, open: String::new(), is_continued: false }
    }

    pub(super) fn of(&mut self, event: &EventKind<'_>) -> Vec<LogLine> {
        let mut lines = Vec::new();
        if self.style.thinking {
            self.details(event, &mut lines);
        }
        if let Some(action) = self.action(event) {
            self.interrupted();
            lines.push(action);
        }
        lines
    }

    /// Something else is written between two lines of reasoning.
    pub(super) fn interrupted(&mut self) {
        self.is_continued = false;
    }
}
