//! What writes: every report, and every form that a stream is converted to, is an [`Output`].

use std::io::{self, Write};

use ndjson_check_core::{
    CheckedLine, Diagnostic, Error, Event, Observer, StreamStart, StreamSummary, WantedEvents,
};

use crate::report::RunTotals;

/// What an output collects while more input is already there, in bytes.
const UNWRITTEN_BYTES_MAX: usize = 64 * 1024;

/// A report or a conversion, whatever its format. It gets what an [`Observer`] gets, and appends to
/// `out` what must be written. All methods do nothing by default.
pub trait Output {
    /// A stream begins.
    ///
    /// # Errors
    ///
    /// When the stream cannot be shown. It is not checked then.
    fn begin(&mut self, _start: &StreamStart<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// An event came.
    fn event(&mut self, _event: &CheckedLine<'_>, _out: &mut String) {}

    /// What the event says about the run.
    fn events(&mut self, _events: &[Event<'_>], _out: &mut String) {}

    /// Which events it shows.
    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }

    /// A defect was found.
    fn diagnostic(&mut self, _diagnostic: &Diagnostic, _out: &mut String) {}

    /// No more events of the stream will come.
    fn stream_ended(&mut self, _out: &mut String) {}

    /// The result of the stream.
    fn summary(&mut self, _summary: &StreamSummary, _out: &mut String) {}

    /// Something went wrong that is not a defect of a stream; a message on one line. If a stream is
    /// open, it could not be checked to its end.
    fn error(&mut self, _message: &str, _out: &mut String) {}

    /// All streams have been checked.
    ///
    /// # Errors
    ///
    /// Why the output is not complete.
    fn end(&mut self, _totals: &RunTotals, _code: u8, _out: &mut String) -> io::Result<()> {
        Ok(())
    }

    /// Whether it shows the stats of each run, also without `--stats`.
    fn shows_stats(&self) -> bool {
        false
    }

    /// Whether it shows the exit code, which depends on the other outputs.
    fn shows_exit_code(&self) -> bool {
        false
    }
}

/// Writes nothing.
impl Output for () {}

/// An output and its writer: an observer that writes. What the output appends is written when it
/// must become visible, or when it is long. Nothing is written after a failure.
pub struct Written<W, O: ?Sized = dyn Output> {
    /// The first failure replaces it.
    writer: io::Result<W>,
    /// What is not written yet.
    out: String,
    output: Box<O>,
}

impl<W: Write, O: Output + ?Sized> Written<W, O> {
    /// Writes what the output appends.
    pub fn new(writer: W, output: Box<O>) -> Self {
        Self { writer: Ok(writer), out: String::new(), output }
    }

    /// The output.
    pub fn output(&self) -> &O {
        &self.output
    }

    /// Writes what is left, and returns the writer.
    ///
    /// # Errors
    ///
    /// The first failure. If the reader has gone away, it is a broken pipe.
    pub fn writer(&mut self) -> Result<&mut W, &io::Error> {
        self.flush();
        self.writer.as_mut().map_err(|error| &*error)
    }

    /// The first failure so far.
    pub fn failure(&self) -> Option<&io::Error> {
        self.writer.as_ref().err()
    }

    /// As [`Output::error`].
    pub fn error(&mut self, message: &str) {
        self.append(|output, out| output.error(message, out));
    }

    /// As [`Output::end`]; an output that is not complete is a failure.
    pub fn end(&mut self, totals: &RunTotals, exit_code: u8) {
        match self.output.end(totals, exit_code, &mut self.out) {
            Err(error) if self.writer.is_ok() => self.writer = Err(error),
            _ => self.flush(),
        }
    }

    fn append(&mut self, append: impl FnOnce(&mut O, &mut String)) {
        append(&mut *self.output, &mut self.out);
        if self.out.len() >= UNWRITTEN_BYTES_MAX {
            self.flush();
        }
    }
}

impl<W: Write, O: Output + ?Sized> Observer for Written<W, O> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.output.begin(start)
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        self.append(|output, out| output.event(event, out));
    }

    fn events(&mut self, events: &[Event<'_>]) {
        self.append(|output, out| output.events(events, out));
    }

    fn wants(&self) -> WantedEvents {
        self.output.wants()
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.append(|output, out| output.diagnostic(diagnostic, out));
    }

    fn flush(&mut self) {
        if self.out.is_empty() {
            return;
        }
        if let Ok(writer) = &mut self.writer
            && let Err(error) = writer.write_all(self.out.as_bytes()).and_then(|()| writer.flush())
        {
            self.writer = Err(error);
        }
        self.out.clear();
    }

    fn stream_ended(&mut self) {
        self.append(O::stream_ended);
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.append(|output, out| output.summary(summary, out));
    }
}
