//! `stream-json` with `--only-valid`: the events that satisfy the schemas, byte for byte.

use super::Formatter;
use crate::check::CheckedEvent;

pub(super) struct ValidEventsFormatter;

impl Formatter for ValidEventsFormatter {
    fn event(&mut self, event: &CheckedEvent<'_>, out: &mut Vec<u8>) {
        if event.is_valid() {
            out.extend_from_slice(event.bytes());
            out.extend_from_slice(event.line.ending.bytes());
        }
    }
}
