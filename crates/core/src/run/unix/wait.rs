//! The supervisor's wait: for the check, a signal, the command's end, or a deadline.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Group, Signals};

/// Wakes the supervisor; never blocks.
#[derive(Debug)]
pub(crate) struct Waker(UnixStream);

/// The supervisor's side: readable when it must wake up.
#[derive(Debug)]
pub(crate) struct Wake(UnixStream);

pub(crate) fn waker() -> io::Result<(Waker, Wake)> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    writer.set_nonblocking(true)?;
    Ok((Waker(writer), Wake(reader)))
}

impl Waker {
    pub(crate) fn wake(&self) {
        // A full socket wakes the supervisor, too.
        let _ = (&self.0).write(&[1]);
    }
}

/// `running` is a command that has not ended.
pub(crate) fn wait(
    wake: &Wake,
    signals: &Signals,
    running: Option<&Group>,
    timeout: Option<Duration>,
) {
    let of_group = running.into_iter().flat_map(|it| it.end().into_iter().chain(it.interrupts()));
    wait_for_any(signals.sockets().chain([wake.0.as_fd()]).chain(of_group), timeout);
    let _ = (&wake.0).read(&mut [0; 64]);
}

pub(crate) fn wait_for_signal(signals: &Signals, timeout: Duration) {
    wait_for_any(signals.sockets(), Some(timeout));
}

fn wait_for_any<'f>(waited: impl Iterator<Item = BorrowedFd<'f>>, timeout: Option<Duration>) {
    let mut fds: Vec<PollFd<'_>> =
        waited.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    // Rounded up, so that the deadline has passed afterwards; at most a day.
    let timeout = timeout.map(|timeout| {
        let timeout = timeout.min(Duration::from_secs(86_400)) + Duration::from_millis(1);
        Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() }
    });
    // After an interruption the caller checks its state and waits again.
    let _ = poll(&mut fds, timeout.as_ref());
}
