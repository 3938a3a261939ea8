//! Copies of every byte that is read, written before the bytes are checked.

use std::io::{self, Read, Write};

use ndjson_check_core::StreamLines;

/// Reads a stream and writes what it reads to the copies. A copy that fails gets no more bytes; the
/// stream is still read to its end.
pub(crate) struct Tee<'c, R> {
    source: R,
    copies: &'c mut [TeeTarget],
}

pub(crate) struct TeeTarget {
    /// For errors.
    name: String,
    writer: Box<dyn Write>,
    /// Where the copy must be lines, whatever the stream is.
    lines: Option<StreamLines>,
    failure: Option<io::Error>,
}

impl<'c, R: Read> Tee<'c, R> {
    pub(crate) fn new(source: R, copies: &'c mut [TeeTarget]) -> Self {
        for lines in copies.iter_mut().filter_map(|copy| copy.lines.as_mut()) {
            lines.begin();
        }
        Self { source, copies }
    }
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        for copy in self.copies.iter_mut() {
            copy.write(&buffer[..count], count == 0);
        }
        Ok(count)
    }
}

impl TeeTarget {
    pub(crate) fn new(name: &str, writer: Box<dyn Write>) -> Self {
        Self { name: name.to_owned(), writer, lines: None, failure: None }
    }

    /// The same, as lines.
    pub(crate) fn with_lines(self, lines: StreamLines) -> Self {
        Self { lines: Some(lines), ..self }
    }

    /// Writes bytes at once; nothing after a failure.
    pub(crate) fn write(&mut self, bytes: &[u8], is_end: bool) {
        let Self { writer, lines, failure, .. } = self;
        if failure.is_some() {
            return;
        }
        let mut write = |bytes: &[u8]| {
            *failure = writer.write_all(bytes).and_then(|()| writer.flush()).err();
        };
        match lines {
            Some(lines) if is_end => lines.end(write),
            Some(lines) => lines.push(bytes, write),
            None => write(bytes),
        }
    }

    pub(crate) fn failure(&self) -> Option<(&str, &io::Error)> {
        self.failure.as_ref().map(|error| (self.name.as_str(), error))
    }
}
