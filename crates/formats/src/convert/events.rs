//! `events`: the events of the run, one on each line.

use ndjson_check_core::Event;

use super::normal_target::NormalTarget;

pub(super) struct EventLines;

impl NormalTarget for EventLines {
    fn event(&mut self, event: &Event<'_>, out: &mut String) {
        // Strings, numbers and maps with names as keys can always be written.
        if let Ok(line) = serde_json::to_string(event) {
            out.push_str(&line);
            out.push('\n');
        }
    }
}
