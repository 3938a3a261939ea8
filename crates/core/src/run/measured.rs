//! Our own outputs, measured: the supervisor must know when they block us.

use std::io::{self, Write};

use super::watch::Watch;
use crate::check::{CheckedLine, Event, Observer, StreamStart, StreamSummary, WantedEvents};
use crate::error::Error;
use crate::rules::diagnostic::Diagnostic;

/// An output of ours: the supervisor knows when it blocks us.
pub struct Measured<T> {
    pub(super) watch: Watch,
    pub(super) inner: T,
}

impl<W: Write> Write for Measured<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.watch.writes(|| self.inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.watch.writes(|| self.inner.flush())
    }
}

impl<O: Observer + ?Sized> Observer for Measured<&mut O> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.inner.begin(start)
    }

    fn undetected_events(&mut self, hides_open_calls: bool) {
        self.inner.undetected_events(hides_open_calls);
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        self.watch.writes(|| self.inner.event(event));
    }

    fn events(&mut self, events: &[Event<'_>]) {
        self.watch.writes(|| self.inner.events(events));
    }

    fn wants(&self) -> WantedEvents {
        self.inner.wants()
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.watch.writes(|| self.inner.diagnostic(diagnostic));
    }

    fn flush(&mut self) {
        self.watch.writes(|| self.inner.flush());
    }

    fn stream_ended(&mut self) {
        self.inner.stream_ended();
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.inner.summary(summary);
    }
}
