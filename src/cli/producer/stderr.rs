//! The command's standard error: passed on as it comes; its end is kept for the report.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::stream::ProducerStream;
use crate::cli::stdio;
use crate::limits::{STDERR_BYTES_MAX, STDERR_LINES_MAX};
use crate::output::redact::Redactor;

/// A tail that a thread fills, and the signal that it is complete.
pub(super) type SharedTail = (Mutex<StderrTail>, Condvar);

/// The end of what was written to standard error.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    ended: bool,
}

impl StderrTail {
    /// Passes a pipe on to our own standard error, in a separate thread: neither a flood nor a
    /// slow reader delays the stream.
    pub(super) fn pass_on(
        mut pipe: ProducerStream,
        mut redactor: Option<Redactor>,
    ) -> io::Result<Arc<SharedTail>> {
        let tail = Arc::new(SharedTail::default());
        let shared = Arc::clone(&tail);
        thread::Builder::new().spawn(move || {
            let lock = || shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut buffer = vec![0; 16 * 1024];
            let mut ours = stdio::stderr().ok();
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let bytes = &buffer[..count];
                lock().keep(bytes);
                let redacted = redactor.as_mut().map(|redactor| {
                    let mut ready = Vec::new();
                    redactor.feed(bytes, &mut ready);
                    ready
                });
                let bytes = redacted.as_deref().unwrap_or(bytes);
                // Without a reader of ours, the pipe is still read.
                if ours.as_mut().is_some_and(|ours| ours.write_all(bytes).is_err()) {
                    ours = None;
                }
            }
            if let (Some(mut redactor), Some(ours)) = (redactor, &mut ours) {
                let mut rest = Vec::new();
                redactor.finish(&mut rest);
                let _ = ours.write_all(&rest);
            }
            // Closed before the signal: the waiting thread relies on that.
            drop((pipe, ours));
            lock().ended = true;
            shared.1.notify_all();
        })?;
        Ok(tail)
    }

    /// Waits until everything is passed on; returns the last lines.
    pub(super) fn last_lines(shared: &SharedTail) -> Vec<String> {
        let tail = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = shared.1.wait_while(tail, |tail| !tail.ended);
        waited.unwrap_or_else(PoisonError::into_inner).lines()
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(STDERR_BYTES_MAX);
        self.bytes.drain(..over);
    }

    fn lines(&mut self) -> Vec<String> {
        let text = String::from_utf8_lossy(self.bytes.make_contiguous()).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let first = lines.len().saturating_sub(STDERR_LINES_MAX);
        lines[first..].iter().map(|&line| line.to_owned()).collect()
    }
}
