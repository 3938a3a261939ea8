//! A pipe that is read until it ends, or until the supervisor stops the wait for it.

use std::io::{self, PipeReader, Read};

use super::blocking_file::{BlockingFile, wait_for_either};
use super::watch::Watch;

/// Bytes that are read from a pipe after the wait for it was stopped: the largest pipe that is
/// possible by default.
const AFTER_STOP_BYTES_MAX: usize = 1024 * 1024;

/// The standard output of a command, or the input of a stream under timers.
#[derive(Debug)]
pub struct ProducerStream {
    pipe: BlockingFile,
    /// At its end, and so readable, once the supervisor stops the wait.
    stop: PipeReader,
    /// What may still be read then: what the pipe holds, not all that may come.
    left_after_stop: usize,
    watch: Option<Watch>,
}

impl ProducerStream {
    pub(super) fn new(pipe: BlockingFile, stop: PipeReader, watch: Option<Watch>) -> Self {
        Self { pipe, stop, left_after_stop: AFTER_STOP_BYTES_MAX, watch }
    }

    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (ready, stopped) = wait_for_either(&self.pipe, &self.stop)?;
        if !stopped {
            return self.pipe.read(buffer);
        }
        let room = self.left_after_stop.min(buffer.len());
        if ready && room > 0 {
            let count = self.pipe.read(&mut buffer[..room])?;
            self.left_after_stop -= count;
            return Ok(count);
        }
        // A pipe that can be read may be at its end.
        let open = !ready || self.pipe.read(&mut [0])? > 0;
        if let Some(watch) = self.watch.as_ref().filter(|_| open) {
            watch.state().stopped_reading = true;
        }
        Ok(0)
    }
}

impl Read for ProducerStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(watch) = self.watch.clone() else { return self.read_on(buffer) };
        watch.waits(true);
        let count = self.read_on(buffer);
        watch.waits(false);
        if let Ok(0) | Err(_) = count {
            watch.stream_ended();
        }
        count
    }
}
