//! `stream-json` with `--only-valid`: the events that satisfy the schemas, byte for byte. An
//! element
//! of an array loses its white space.

use ndjson_check_core::CheckedEvent;

use crate::Output;

pub(super) struct ValidEventsFormatter;

impl Output for ValidEventsFormatter {
    fn event(&mut self, event: &CheckedEvent<'_>, out: &mut Vec<u8>) {
        if event.is_valid() {
            out.extend_from_slice(&event.json_line());
        }
    }
}
