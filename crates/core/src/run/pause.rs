//! The time between two attempts of a command.

use std::io;
use std::time::{Duration, Instant};

use super::platform::{Signals, wait_for_signal};
use super::producer::Interrupt;
use super::supervisor::{another_attempt_follows, wait_for_repetition};

/// Waits so long, or until a signal comes that ends us: that one is returned. `announce` is called
/// when no signal is missed any more. The timer of the run before no longer ends the process.
///
/// # Errors
///
/// When there are too many open files.
pub fn pause(time: Duration, announce: impl FnOnce()) -> io::Result<Option<Interrupt>> {
    another_attempt_follows();
    let signals = Signals::for_reader()?;
    announce();
    let end = Instant::now() + time;
    loop {
        if let Some(&signal) = signals.take().first() {
            wait_for_repetition(signals, Instant::now());
            return Ok(Some(Interrupt { signal, from_terminal: false }));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        wait_for_signal(&signals, left);
    }
}
