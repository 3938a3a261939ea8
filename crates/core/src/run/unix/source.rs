//! A pipe whose reader need not wait for its end.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdout};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;

use crate::run::blocking_file::BlockingFile;
use crate::run::stream::AFTER_STOP_BYTES_MAX;

/// A pipe that is read until it ends, or until its [`Stop`] is dropped.
#[derive(Debug)]
pub(crate) struct StoppableSource {
    pipe: BlockingFile,
    /// At its end, and so readable, once the wait is stopped.
    stop: PipeReader,
    /// What may still be read then: what the pipe holds, not all that may come.
    left_after_stop: usize,
    was_cut: bool,
}

/// Dropping it stops the wait for a source.
#[derive(Debug)]
pub(crate) struct Stop(
    #[expect(dead_code, reason = "what counts is when it is dropped")] PipeWriter,
);

pub(crate) fn stoppable(pipe: impl Into<BlockingFile>) -> io::Result<(StoppableSource, Stop)> {
    let (reader, writer) = io::pipe()?;
    let (pipe, stop) = (pipe.into(), reader);
    let left_after_stop = AFTER_STOP_BYTES_MAX;
    Ok((StoppableSource { pipe, stop, left_after_stop, was_cut: false }, Stop(writer)))
}

impl StoppableSource {
    /// Whether it was open when the wait for it was stopped.
    pub(crate) fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// Waits until the pipe or the stop can be read; returns which can.
    fn wait(&self) -> io::Result<(bool, bool)> {
        let mut waited =
            [PollFd::new(&self.pipe, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
        retry_on_intr(|| poll(&mut waited, None))?;
        let [pipe, stop] = &waited;
        Ok((!pipe.revents().is_empty(), !stop.revents().is_empty()))
    }
}

impl Read for StoppableSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (ready, stopped) = self.wait()?;
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
        self.was_cut |= !ready || self.pipe.read(&mut [0])? > 0;
        Ok(0)
    }
}

impl From<ChildStdout> for BlockingFile {
    fn from(pipe: ChildStdout) -> Self {
        Self::from(File::from(OwnedFd::from(pipe)))
    }
}

impl From<ChildStderr> for BlockingFile {
    fn from(pipe: ChildStderr) -> Self {
        Self::from(File::from(OwnedFd::from(pipe)))
    }
}

impl std::os::fd::AsFd for BlockingFile {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.file.as_fd()
    }
}
