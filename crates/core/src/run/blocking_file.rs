//! A file that blocks even where its descriptor does not.

use std::fs::File;
use std::io::{self, Read, Write};

use super::platform::{self, Standard, Stream};
use crate::limits::PIPE_BUFFER_BYTES;

/// A file that blocks even where its descriptor does not.
///
/// Agents built on Node and Bun make their pipes non-blocking, and every process that has the same
/// pipe shares that mode.
///
/// A pipe that is full is made larger, where the system can do that: the two ends then wait less
/// for each other.
#[derive(Debug)]
pub struct BlockingFile {
    pub(super) file: Stream,
    was_enlarged: bool,
    /// The runtime opened `/dev/null` in its place: only an attempt to write is an error.
    was_closed: bool,
}

impl BlockingFile {
    /// A stream of this process without its buffer and lock.
    ///
    /// # Errors
    ///
    /// When there are too many open files.
    pub fn duplicate(stream: &impl Standard) -> io::Result<Self> {
        platform::duplicate(stream).map(Self::of)
    }

    fn of(file: impl Into<Stream>) -> Self {
        Self { file: file.into(), was_enlarged: false, was_closed: false }
    }

    /// The same; writing to it fails if it `was_closed` when the process began.
    #[must_use]
    pub fn or_closed(self, was_closed: bool) -> Self {
        Self { was_closed, ..self }
    }
}

impl From<File> for BlockingFile {
    fn from(file: File) -> Self {
        Self::of(file)
    }
}

impl Read for BlockingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    platform::wait_until(&self.file, platform::READABLE)?;
                }
                Ok(count) => {
                    // A larger count is from a file, or a pipe that is large already, as on
                    // systems with larger pages.
                    if count as u64 == PIPE_BUFFER_BYTES && !self.was_enlarged {
                        self.was_enlarged = true;
                        platform::enlarge(&self.file);
                    }
                    return Ok(count);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Write for BlockingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.was_closed {
            return Err(io::Error::other("it is closed"));
        }
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    platform::wait_until(&self.file, platform::WRITABLE)?;
                }
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
