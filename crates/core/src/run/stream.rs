//! A pipe that is read until it ends, or until the supervisor stops the wait for it.

use std::io::{self, Read};

use super::platform::StoppableSource;
use super::watch::Watch;

/// Bytes that are read from a pipe after the wait for it was stopped: the largest pipe that is
/// possible by default.
pub(super) const AFTER_STOP_BYTES_MAX: usize = 1024 * 1024;

/// The standard output of a command, or the input of a stream under timers.
#[derive(Debug)]
pub struct ProducerStream {
    source: StoppableSource,
    watch: Option<Watch>,
}

impl ProducerStream {
    pub(super) fn new(source: StoppableSource, watch: Option<Watch>) -> Self {
        Self { source, watch }
    }
}

impl Read for ProducerStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(watch) = &self.watch else { return self.source.read(buffer) };
        watch.waits(true);
        let count = self.source.read(buffer);
        watch.waits(false);
        if self.source.was_cut() {
            watch.state().stopped_reading = true;
        }
        if let Ok(0) | Err(_) = count {
            watch.stream_ended();
        }
        count
    }
}
