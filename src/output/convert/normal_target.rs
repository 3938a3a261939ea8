//! Where normal events go.

use super::normal::NormalEvent;

/// A form that is made of normal events.
pub(super) trait NormalTarget {
    /// Appends what must be written for an event.
    fn event(&mut self, at: EventTime, event: &NormalEvent<'_>, out: &mut String);
}

/// When something happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EventTime {
    /// The line of the stream, from 1; none for the end.
    pub(super) line: Option<u64>,
    /// The time of the stream, in milliseconds, if the event has one.
    pub(super) time_ms: Option<u64>,
}

/// Where the events of one line go.
pub(super) struct Emitter<'o> {
    pub(super) target: &'o mut dyn NormalTarget,
    pub(super) at: EventTime,
    pub(super) out: &'o mut String,
}

impl Emitter<'_> {
    pub(super) fn emit(&mut self, event: &NormalEvent<'_>) {
        self.target.event(self.at, event, self.out);
    }
}
