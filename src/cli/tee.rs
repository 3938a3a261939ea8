//! A copy of every byte that is read, made before anybody looks at it.

use std::io::{self, Read, Write};

/// Reads a stream and writes what it reads to some copies. A copy that fails is left out from
/// there on; the stream is read to its end all the same.
pub(crate) struct Tee<'c, R> {
    source: R,
    copies: &'c mut [Copy],
}

/// Where a copy goes.
pub(crate) struct Copy {
    name: String,
    writer: Option<Box<dyn Write>>,
    failure: Option<io::Error>,
}

impl<'c, R: Read> Tee<'c, R> {
    /// Reads `source`, copying.
    pub(crate) fn new(source: R, copies: &'c mut [Copy]) -> Self {
        Self { source, copies }
    }
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        for copy in self.copies.iter_mut() {
            copy.write(&buffer[..count]);
        }
        Ok(count)
    }
}

impl Copy {
    /// A copy to this writer; `name` is for errors.
    pub(crate) fn new(name: &str, writer: impl Write + 'static) -> Self {
        Self { name: name.to_owned(), writer: Some(Box::new(writer)), failure: None }
    }

    /// Writes once more.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.write_all(bytes).and_then(|()| writer.flush()) {
            self.writer = None;
            self.failure = Some(error);
        }
    }

    /// Where it goes, and why not all of it got there.
    pub(crate) fn failure(&self) -> Option<(&str, &io::Error)> {
        self.failure.as_ref().map(|error| (self.name.as_str(), error))
    }
}
