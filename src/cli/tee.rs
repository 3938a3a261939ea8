//! Copies of every byte that is read, written before the bytes are checked.

use std::io::{self, Write};

use ndjson_check_core::StreamLines;

/// A copy. One that fails gets no more bytes; the stream is still read to its end.
pub(crate) struct TeeTarget {
    /// For errors.
    name: String,
    writer: Box<dyn Write>,
    /// Where the copy must be lines, whatever the stream is.
    lines: Option<StreamLines>,
    failure: Option<io::Error>,
}

impl TeeTarget {
    pub(crate) fn new(name: &str, writer: Box<dyn Write>) -> Self {
        Self { name: name.to_owned(), writer, lines: None, failure: None }
    }

    pub(crate) fn with_lines(self, lines: StreamLines) -> Self {
        Self { lines: Some(lines), ..self }
    }

    pub(crate) fn through(self, wrap: impl FnOnce(Box<dyn Write>) -> Box<dyn Write>) -> Self {
        Self { writer: wrap(self.writer), ..self }
    }

    pub(crate) fn begin(&mut self) {
        if let Some(lines) = &mut self.lines {
            lines.begin();
        }
    }

    /// Writes bytes at once; nothing after a failure.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let Self { writer, lines, failure, .. } = self;
        match lines {
            Some(lines) => lines.push(bytes, |bytes| write(writer, bytes, failure)),
            None => write(writer, bytes, failure),
        }
    }

    pub(crate) fn end(&mut self) {
        let Self { writer, lines, failure, .. } = self;
        if let Some(lines) = lines {
            lines.end(|bytes| write(writer, bytes, failure));
        }
    }

    pub(crate) fn failure(&self) -> Option<(&str, &io::Error)> {
        self.failure.as_ref().map(|error| (self.name.as_str(), error))
    }
}

fn write(writer: &mut dyn Write, bytes: &[u8], failure: &mut Option<io::Error>) {
    if failure.is_none() {
        *failure = writer.write_all(bytes).and_then(|()| writer.flush()).err();
    }
}
