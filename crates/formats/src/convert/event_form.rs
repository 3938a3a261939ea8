//! Forms that are made of events.

use ndjson_check_core::{
    Diagnostic, Event, RunEvents, StreamStart, StreamSummary, WantedEvents,
    escape::escape_json_lines,
};

use crate::Output;

/// Passes the events of a stream to a form.
pub(super) struct EventForm<T> {
    form: T,
    write: WriteEvent<T>,
    is_raw: bool,
    run: RunEvents,
}

type WriteEvent<T> = fn(&mut T, &Event<'_>, &mut String);

impl<T> EventForm<T> {
    /// Unless `is_raw`, what misleads a terminal is escaped; the JSON stays equal.
    pub(super) fn new(
        start: &StreamStart<'_>,
        is_raw: bool,
        form: T,
        write: WriteEvent<T>,
    ) -> Self {
        Self { form, write, is_raw, run: RunEvents::new(start) }
    }

    fn with(
        &mut self,
        out: &mut String,
        tell: impl FnOnce(&mut RunEvents, &mut dyn FnMut(&Event<'_>)),
    ) {
        let Self { form, write, is_raw, run } = self;
        let start = out.len();
        tell(run, &mut |event| write(form, event, out));
        if !*is_raw {
            escape_json_lines(out, start);
        }
    }
}

impl<T> Output for EventForm<T> {
    fn wants(&self) -> WantedEvents {
        WantedEvents::ALL
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut String) {
        self.with(out, |run, write| run.events(events, write));
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &mut String) {
        self.with(out, |run, write| run.diagnostic(diagnostic, write));
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
        self.with(out, |run, write| run.finish(summary, write));
    }
}
