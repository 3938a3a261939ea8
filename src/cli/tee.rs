//! Copies of every byte that is read, written before the bytes are checked.

use std::io::{self, Read, Write};

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
    failure: Option<io::Error>,
}

impl<'c, R: Read> Tee<'c, R> {
    pub(crate) fn new(source: R, copies: &'c mut [TeeTarget]) -> Self {
        Self { source, copies }
    }
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.copies.iter_mut().for_each(|copy| copy.write(&buffer[..count]));
        Ok(count)
    }
}

impl TeeTarget {
    pub(crate) fn new(name: &str, writer: Box<dyn Write>) -> Self {
        Self { name: name.to_owned(), writer, failure: None }
    }

    /// Writes bytes at once; nothing after a failure.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            let written = self.writer.write_all(bytes);
            self.failure = written.and_then(|()| self.writer.flush()).err();
        }
    }

    pub(crate) fn failure(&self) -> Option<(&str, &io::Error)> {
        self.failure.as_ref().map(|error| (self.name.as_str(), error))
    }
}
