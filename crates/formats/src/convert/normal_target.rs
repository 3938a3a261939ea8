//! Forms that are made of events.

use ndjson_check_core::{
    Diagnostic, Event, RunEvents, StreamStart, StreamSummary, WantedEvents, escape::escaped_json,
};

use super::Formatter;

/// A form that is made of events.
pub(super) trait NormalTarget {
    /// Appends what must be written for an event.
    fn event(&mut self, event: &Event<'_>, out: &mut String);
}

/// Passes the events of a stream to a form.
pub(super) struct NormalFormatter<T> {
    target: T,
    is_raw: bool,
    run: RunEvents,
}

impl<T: NormalTarget> NormalFormatter<T> {
    /// Unless `is_raw`, what misleads a terminal is escaped; the JSON stays equal.
    pub(super) fn new(start: &StreamStart<'_>, is_raw: bool, target: T) -> Self {
        Self { target, is_raw, run: RunEvents::new(start) }
    }

    fn with(
        &mut self,
        out: &mut Vec<u8>,
        tell: impl FnOnce(&mut RunEvents, &mut dyn FnMut(&Event<'_>)),
    ) {
        let mut text = String::new();
        let Self { target, run, .. } = self;
        tell(run, &mut |event| target.event(event, &mut text));
        let text = if self.is_raw { text } else { escaped_lines(text) };
        out.extend_from_slice(text.as_bytes());
    }
}

fn escaped_lines(text: String) -> String {
    if text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
        return text;
    }
    let lines = text.split_inclusive('\n');
    let escaped = lines.map(|line| match line.strip_suffix('\n') {
        Some(line) => escaped_json(line) + "\n",
        None => escaped_json(line),
    });
    escaped.collect()
}

impl<T: NormalTarget> Formatter for NormalFormatter<T> {
    fn wants(&self) -> WantedEvents {
        WantedEvents::ALL
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut Vec<u8>) {
        self.with(out, |run, write| run.events(events, write));
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &mut Vec<u8>) {
        self.with(out, |run, write| run.diagnostic(diagnostic, write));
    }

    fn finish(&mut self, summary: &StreamSummary, out: &mut Vec<u8>) {
        self.with(out, |run, write| run.finish(summary, write));
    }
}
