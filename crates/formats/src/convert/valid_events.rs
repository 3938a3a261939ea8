//! `stream-json` with `--only-valid`: the events that satisfy the schemas, byte for byte. An
//! element of an array loses its white space.

use ndjson_check_core::CheckedLine;

use crate::Output;

pub(super) struct ValidEventsFormatter;

impl Output for ValidEventsFormatter {
    fn event(&mut self, event: &CheckedLine<'_>, out: &mut String) {
        if event.is_valid() {
            // A line that is not UTF-8 is not valid.
            out.push_str(&String::from_utf8_lossy(&event.json_line()));
        }
    }
}
