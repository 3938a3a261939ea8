//! `stream-json` with `--only-valid`: the events that satisfy the schemas, byte for byte. An
//! element
//! of an array loses its white space.

use super::Formatter;
use crate::check::CheckedEvent;
use crate::json::compact;
use crate::stream::Ending;

pub(super) struct ValidEventsFormatter;

impl Formatter for ValidEventsFormatter {
    fn event(&mut self, event: &CheckedEvent<'_>, out: &mut Vec<u8>) {
        if event.is_valid() {
            match event.line.ending {
                Ending::Element => out.extend(compact(event.bytes())),
                _ => out.extend_from_slice(event.bytes()),
            }
            out.extend_from_slice(event.line.ending.bytes());
        }
    }
}
