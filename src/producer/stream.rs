//! A pipe that is read until it ends, or until nobody is to wait for it any longer.

use std::io::{self, PipeReader, Read};

use super::watch::Watch;
use crate::descriptor::{Patient, wait_for_either};

/// The stream of a producer.
#[derive(Debug)]
pub struct Stream {
    pipe: Patient,
    /// Readable, by its end, once the stream is not to be waited for.
    stop: PipeReader,
    watch: Option<Watch>,
}

impl Stream {
    pub(super) fn new(pipe: Patient, stop: PipeReader, watch: Option<Watch>) -> Self {
        Self { pipe, stop, watch }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // What has arrived is read even after the stop.
        let count =
            if wait_for_either(&self.pipe, &self.stop)? { self.pipe.read(buffer)? } else { 0 };
        if count == 0
            && let Some(watch) = &self.watch
        {
            watch.stream_ended();
        }
        Ok(count)
    }
}
