//! `events`: the events of the run, one on each line.

use ndjson_check_core::Event;

#[derive(Default)]
pub(super) struct EventLines {
    /// The next line; its memory is used again.
    line: Vec<u8>,
}

impl EventLines {
    pub(super) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        self.line.clear();
        // Strings, numbers and maps with names as keys can always be written.
        let written = serde_json::to_writer(&mut self.line, event).is_ok();
        if let Some(line) = str::from_utf8(&self.line).ok().filter(|_| written) {
            out.push_str(line);
            out.push('\n');
        }
    }
}
