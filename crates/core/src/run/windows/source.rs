//! A pipe whose reader need not wait for its end. A thread reads it, as a read on Windows cannot be
//! taken back.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::run::stream::AFTER_STOP_BYTES_MAX;

const READ_BYTES: usize = 64 * 1024;

/// Reads that wait for a slow check; then the pipe fills, and its writer waits.
const WAITING_MAX: usize = 4;

/// How long, after a stop, the thread may take to pass on what the pipe holds.
const AFTER_STOP_WAIT: Duration = Duration::from_millis(100);

enum SourceMessage {
    Read(Vec<u8>),
    Failed(io::Error),
    Ended,
    /// Only ends a wait.
    Stopped,
}

/// A pipe that is read until it ends, or until its [`Stop`] is dropped.
pub(crate) struct StoppableSource {
    messages: Receiver<SourceMessage>,
    is_stopped: Arc<AtomicBool>,
    /// What came and was not read yet, from `at` on.
    bytes: Vec<u8>,
    at: usize,
    has_ended: bool,
    /// What may still be read after a stop: what the pipe holds, not all that may come.
    left_after_stop: usize,
    was_cut: bool,
}

/// Dropping it stops the wait for a source.
#[derive(Debug)]
pub(crate) struct Stop {
    is_stopped: Arc<AtomicBool>,
    messages: SyncSender<SourceMessage>,
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // If the channel is full, no reader waits.
        let _ = self.messages.try_send(SourceMessage::Stopped);
    }
}

impl fmt::Debug for StoppableSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoppableSource").finish_non_exhaustive()
    }
}

pub(crate) fn stoppable(
    mut source: impl Read + Send + 'static,
) -> io::Result<(StoppableSource, Stop)> {
    let (sender, messages) = sync_channel(WAITING_MAX);
    let stop = Stop { is_stopped: Arc::default(), messages: sender.clone() };
    // The thread ends with the pipe, whose writers are all in the job of the command.
    thread::Builder::new().spawn(move || {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let message = match source.read(&mut buffer) {
                Ok(0) => SourceMessage::Ended,
                Ok(count) => SourceMessage::Read(buffer[..count].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => SourceMessage::Failed(error),
            };
            let is_last = !matches!(message, SourceMessage::Read(_));
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
    })?;
    let is_stopped = Arc::clone(&stop.is_stopped);
    let (bytes, at, left_after_stop) = (Vec::new(), 0, AFTER_STOP_BYTES_MAX);
    let source = StoppableSource {
        messages,
        is_stopped,
        bytes,
        at,
        has_ended: false,
        left_after_stop,
        was_cut: false,
    };
    Ok((source, stop))
}

impl StoppableSource {
    /// Whether it was open when the wait for it was stopped.
    pub(crate) fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// Waits for more; false if nothing comes any more.
    fn receive(&mut self) -> io::Result<bool> {
        loop {
            let is_stopped = self.is_stopped.load(Ordering::SeqCst);
            let wait = if is_stopped { AFTER_STOP_WAIT } else { Duration::MAX };
            match self.messages.recv_timeout(wait) {
                Ok(SourceMessage::Read(mut bytes)) => {
                    if is_stopped {
                        self.was_cut |= bytes.len() > self.left_after_stop;
                        bytes.truncate(self.left_after_stop);
                        self.left_after_stop -= bytes.len();
                    }
                    (self.bytes, self.at) = (bytes, 0);
                    return Ok(!self.bytes.is_empty());
                }
                Ok(SourceMessage::Stopped) => {}
                Ok(SourceMessage::Ended) | Err(RecvTimeoutError::Disconnected) => return Ok(false),
                Ok(SourceMessage::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {
                    self.was_cut |= is_stopped;
                    return Ok(false);
                }
            }
        }
    }
}

impl Read for StoppableSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.bytes.len() && !self.has_ended {
            let received = self.receive();
            // After a failure the thread has ended, too.
            self.has_ended = !matches!(received, Ok(true));
            received?;
        }
        let count = (&self.bytes[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use std::io::{self, Read};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::{AFTER_STOP_BYTES_MAX, stoppable};

    /// A pipe that never ends; each read gives this many bytes.
    struct Endless(usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.min(buffer.len());
            buffer[..count].fill(b'x');
            Ok(count)
        }
    }

    #[test]
    fn after_a_stop_all_is_read_that_a_pipe_can_hold() {
        let (mut source, stop) = stoppable(Endless(60_000)).unwrap();
        drop(stop);
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len(), AFTER_STOP_BYTES_MAX);
        assert!(source.was_cut());
    }

    /// A pipe that cannot be read.
    struct BrokenSource;

    impl Read for BrokenSource {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("it is broken"))
        }
    }

    #[test]
    fn after_a_failure_the_source_is_at_its_end() {
        let (mut source, stop) = stoppable(BrokenSource).unwrap();
        let (sender, counts) = channel();
        thread::spawn(move || {
            for _ in 0..2 {
                let _ = sender.send(source.read(&mut [0]).ok());
            }
        });
        let next = || counts.recv_timeout(Duration::from_secs(10));
        assert_eq!(next(), Ok(None));
        assert_eq!(next(), Ok(Some(0)));
        drop(stop);
    }
}
