//! What a run does with the outputs of its command.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};

use super::inbox::Message;
use super::locked;

/// The end of standard error from which an error takes its lines.
const STDERR_BYTES_MAX: usize = 64 * 1_024;

/// An output of the command.
#[derive(Clone, Copy)]
pub(super) enum Pipe {
    Stdout,
    Stderr,
}

/// Sends what it gets to the reader of the run.
pub(super) struct OutputCopy {
    pub(super) of: Pipe,
    pub(super) to: SyncSender<Message>,
}

impl Write for OutputCopy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let message = Message::Written(self.of, bytes.to_vec());
        self.to.send(message).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the stream for the page, and sends a copy to those who asked for it.
pub(super) struct Stdout {
    pub(super) recording: Arc<Mutex<Vec<u8>>>,
    /// None if the caller did not ask for it, or no longer reads it.
    pub(super) copy: Option<OutputCopy>,
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        locked(&self.recording).extend(bytes);
        if self.copy.as_mut().is_some_and(|copy| copy.write(bytes).is_err()) {
            self.copy = None;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the end of standard error, and sends a copy to those who asked for it.
pub(super) struct Stderr {
    pub(super) tail: Arc<Mutex<VecDeque<u8>>>,
    pub(super) copy: Option<OutputCopy>,
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut tail = locked(&self.tail);
        tail.extend(bytes);
        let over = tail.len().saturating_sub(STDERR_BYTES_MAX);
        tail.drain(..over);
        drop(tail);
        match &mut self.copy {
            Some(copy) => copy.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
