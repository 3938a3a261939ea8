//! Forms that are made of events.

use ndjson_check_core::{
    Diagnostic, Event, RunEvents, StreamStart, StreamSummary, WantedEvents, escape::escaped_json,
};

use crate::Output;

/// Passes the events of a stream to a form.
pub(super) struct EventForm<T> {
    form: T,
    write: WriteEvent<T>,
    is_raw: bool,
    run: RunEvents,
}

/// Appends what must be written for an event.
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
        if !(*is_raw || is_plain(&out[start..])) {
            let escaped = escaped_lines(&out[start..]);
            out.replace_range(start.., &escaped);
        }
    }
}

/// Whether nothing needs to be escaped. Without a branch for each byte, as most texts are plain.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: &u8| *byte == b'\n' || (b' '..=b'~').contains(byte);
    let mut chunks = text.as_bytes().chunks(64);
    chunks.all(|chunk| chunk.iter().fold(true, |all, byte| all & is_plain(byte)))
}

fn escaped_lines(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    let escaped = lines.map(|line| match line.strip_suffix('\n') {
        Some(line) => escaped_json(line) + "\n",
        None => escaped_json(line),
    });
    escaped.collect()
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
