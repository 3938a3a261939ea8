//! Where a report goes.

use std::io::{self, BufWriter, Write};

use crate::error::Error;

/// A writer that does something when the report is complete: a file may take its name then.
pub trait Sink: Write {
    /// The report is complete, and everything is flushed.
    ///
    /// # Errors
    ///
    /// When the report cannot be kept.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A plain stream: nothing is left to do at the end.
struct Stream<W>(W);

impl<W: Write> Write for Stream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> Sink for Stream<W> {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// Where a report goes; it is buffered until a flush.
pub struct Target {
    name: String,
    writer: BufWriter<Box<dyn Sink>>,
}

impl Target {
    /// A stream that is open already; `name` is for errors.
    pub fn stream(name: &str, stream: impl Write + 'static) -> Self {
        Self::new(name, Stream(stream))
    }

    /// A writer that is told when the report is complete; `name` is for errors.
    pub fn new(name: &str, sink: impl Sink + 'static) -> Self {
        Self { name: name.to_owned(), writer: BufWriter::new(Box::new(sink)) }
    }

    /// Writes some text.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&mut self, text: &str) -> Result<(), Error> {
        self.writer.write_all(text.as_bytes()).map_err(|source| self.failed(source))
    }

    /// Makes visible what was written.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(|source| self.failed(source))
    }

    /// The report is complete.
    ///
    /// # Errors
    ///
    /// When it cannot be written or kept.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.flush()?;
        let done = BufWriter::new(Box::new(Stream(io::sink())) as Box<dyn Sink>);
        let (sink, _) = std::mem::replace(&mut self.writer, done).into_parts();
        sink.finish().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::WriteReport { target: self.name.clone(), source }
    }
}
