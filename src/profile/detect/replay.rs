//! A stream of which the beginning has been read, from its start.

use std::io::{self, Read};

use crate::limits::{OPENING_BYTES_MAX, OPENING_READ_BYTES};

/// Keeps what is read of a stream. Its end, its failure and the bound all look like the end.
#[derive(Debug)]
pub(super) struct Recorder<R> {
    source: R,
    kept: Vec<u8>,
    ended: bool,
    failure: Option<io::Error>,
}

impl<R> Recorder<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, kept: Vec::new(), ended: false, failure: None }
    }

    pub(super) fn into_stream(self) -> Replay<R> {
        let Self { source, kept, ended, failure } = self;
        Replay { source, kept, at: 0, ended, failure }
    }
}

impl<R: Read> Read for Recorder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = OPENING_BYTES_MAX - self.kept.len();
        if room == 0 || self.ended || self.failure.is_some() {
            return Ok(0);
        }
        let wanted = buffer.len().min(room).min(OPENING_READ_BYTES);
        match self.source.read(&mut buffer[..wanted]) {
            Ok(count) => {
                self.ended = count == 0;
                self.kept.extend_from_slice(&buffer[..count]);
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.failure = Some(error);
                Ok(0)
            }
        }
    }
}

/// A stream from its start, of which some has been read: that comes first, then its end or failure
/// if these have come, or else the rest.
#[derive(Debug)]
pub struct Replay<R> {
    source: R,
    kept: Vec<u8>,
    at: usize,
    ended: bool,
    failure: Option<io::Error>,
}

impl<R> Replay<R> {
    /// A stream of which nothing has been read.
    pub fn new(source: R) -> Self {
        Recorder::new(source).into_stream()
    }
}

impl<R: Read> Read for Replay<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at < self.kept.len() {
            let count = (&self.kept[self.at..]).read(buffer)?;
            self.at += count;
            if self.at == self.kept.len() {
                (self.kept, self.at) = (Vec::new(), 0);
            }
            return Ok(count);
        }
        match self.failure.take() {
            Some(error) => Err(error),
            None if self.ended => Ok(0),
            None => self.source.read(buffer),
        }
    }
}
