//! The supervisor's wait: for the check, a signal, the command's end, or a deadline.

use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle};
use std::sync::Arc;
use std::time::Duration;

use super::system::{Alarm, wait_for_any};
use super::{Group, Signals};

/// Wakes the supervisor; never blocks.
#[derive(Debug)]
pub(crate) struct Waker(Arc<Alarm>);

/// The supervisor's side.
#[derive(Debug)]
pub(crate) struct Wake(Arc<Alarm>);

pub(crate) fn waker() -> io::Result<(Waker, Wake)> {
    let event = Arc::new(Alarm::new()?);
    Ok((Waker(Arc::clone(&event)), Wake(event)))
}

impl Waker {
    pub(crate) fn wake(&self) {
        self.0.set();
    }
}

/// `running` is a command that has not ended.
pub(crate) fn wait(
    wake: &Wake,
    signals: &Signals,
    running: Option<&Group>,
    timeout: Option<Duration>,
) {
    let end = running.map(Group::leader);
    let waited: Vec<BorrowedHandle<'_>> =
        [wake.0.as_handle()].into_iter().chain(signals.event()).chain(end).collect();
    wait_for_any(&waited, timeout);
}

pub(crate) fn wait_for_signal(signals: &Signals, timeout: Duration) {
    let waited: Vec<BorrowedHandle<'_>> = signals.event().into_iter().collect();
    wait_for_any(&waited, Some(timeout));
}
