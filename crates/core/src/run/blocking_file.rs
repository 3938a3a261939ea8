//! A file that blocks even where its descriptor does not, and waiting for several.

use std::fs::File;
use std::io::{self, Read, Write};

use crate::limits::PIPE_BUFFER_BYTES;

#[cfg(unix)]
pub(super) use platform::{wait_for_any, wait_for_either};

/// A file that blocks even where its descriptor does not.
///
/// Agents built on Node and Bun make their pipes non-blocking, and every process that has the same
/// pipe shares that mode.
///
/// A pipe that is full is made larger, where the system can do that: the two ends then wait less
/// for each other.
#[derive(Debug)]
pub struct BlockingFile {
    file: File,
    was_enlarged: bool,
    /// The runtime opened `/dev/null` in its place: only an attempt to write is an error.
    was_closed: bool,
}

impl BlockingFile {
    /// A stream of this process without its buffer and lock.
    ///
    /// # Errors
    ///
    /// When there are too many open files.
    #[cfg(unix)]
    pub fn duplicate(stream: &impl std::os::fd::AsFd) -> io::Result<Self> {
        Ok(Self::from(File::from(stream.as_fd().try_clone_to_owned()?)))
    }

    /// A stream of this process without its buffer and lock.
    ///
    /// # Errors
    ///
    /// When there are too many open files.
    #[cfg(windows)]
    pub fn duplicate(stream: &impl std::os::windows::io::AsHandle) -> io::Result<Self> {
        Ok(Self::from(File::from(stream.as_handle().try_clone_to_owned()?)))
    }

    /// The same; writing to it fails if it `was_closed` when the process began.
    #[must_use]
    pub fn or_closed(self, was_closed: bool) -> Self {
        Self { was_closed, ..self }
    }
}

impl From<File> for BlockingFile {
    fn from(file: File) -> Self {
        Self { file, was_enlarged: false, was_closed: false }
    }
}

impl Read for BlockingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    platform::wait(&self.file, platform::READABLE)?;
                }
                Ok(count) => {
                    // A larger count is from a file, or a pipe that is large already, as on
                    // systems with larger pages.
                    if count as u64 == PIPE_BUFFER_BYTES && !self.was_enlarged {
                        self.was_enlarged = true;
                        platform::enlarge(&self.file);
                    }
                    return Ok(count);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Write for BlockingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.was_closed {
            return Err(io::Error::other("it is closed"));
        }
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    platform::wait(&self.file, platform::WRITABLE)?;
                }
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::retry_on_intr;

    use super::BlockingFile;

    pub(super) const READABLE: PollFlags = PollFlags::IN;
    pub(super) const WRITABLE: PollFlags = PollFlags::OUT;

    /// The size that a full pipe gets, in bytes: what Linux allows an unprivileged process.
    #[cfg(target_os = "linux")]
    const PIPE_BYTES_WANTED: usize = 1024 * 1024;

    impl AsFd for BlockingFile {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.file.as_fd()
        }
    }

    /// Waits until one of the two can be read; returns which can.
    pub(crate) fn wait_for_either(
        first: &impl AsFd,
        second: &impl AsFd,
    ) -> io::Result<(bool, bool)> {
        let mut waited = [PollFd::new(first, PollFlags::IN), PollFd::new(second, PollFlags::IN)];
        retry_on_intr(|| poll(&mut waited, None))?;
        let [first, second] = &waited;
        Ok((!first.revents().is_empty(), !second.revents().is_empty()))
    }

    /// Waits until one of the descriptors can be read, at most for `timeout`.
    pub(crate) fn wait_for_any(waited: &[BorrowedFd<'_>], timeout: Option<Duration>) {
        let mut fds: Vec<PollFd<'_>> =
            waited.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        // Rounded up, so that the deadline has passed afterwards; at most a day.
        let timeout = timeout.map(|timeout| {
            let timeout = timeout.min(Duration::from_secs(86_400)) + Duration::from_millis(1);
            Timespec {
                tv_sec: timeout.as_secs().cast_signed(),
                tv_nsec: timeout.subsec_nanos().into(),
            }
        });
        // After an interruption the caller checks its state and waits again.
        let _ = poll(&mut fds, timeout.as_ref());
    }

    /// Makes a pipe larger; does nothing to other files, or if the system does not allow it.
    #[cfg(target_os = "linux")]
    pub(super) fn enlarge(file: &File) {
        let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_BYTES_WANTED);
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn enlarge(_: &File) {}

    pub(super) fn wait(file: &File, until: PollFlags) -> io::Result<()> {
        retry_on_intr(|| poll(&mut [PollFd::new(file, until)], None))?;
        Ok(())
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::File;
    use std::io;

    pub(super) const READABLE: () = ();
    pub(super) const WRITABLE: () = ();

    pub(super) fn enlarge(_: &File) {}

    /// Never called: handles block on Windows.
    pub(super) fn wait(_: &File, (): ()) -> io::Result<()> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}
