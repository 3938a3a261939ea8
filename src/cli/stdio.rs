//! Standard input and output as unbuffered files, whatever mode their descriptors are in.

use std::fs::File;
use std::io::{self, Read, Write};

use crate::limits::PIPE_BUFFER_BYTES;

pub(crate) use platform::{stderr, stdin, stdin_is_closed, stdout, stdout_is_pipe};
#[cfg(unix)]
pub(crate) use platform::{wait_for_any, wait_for_either};

/// A file that waits where its descriptor would not.
///
/// Agents built on Node and Bun make their pipes non-blocking, and that mode is shared with
/// whoever holds the same pipe: us. Reading and writing block all the same here.
///
/// A pipe that is seen full is made larger, where the system can do that: fewer switches between
/// the two ends, and a producer that does not wait for its reader.
#[derive(Debug)]
pub(crate) struct BlockingFile {
    file: File,
    /// Whether making it larger has been tried.
    enlarged: bool,
}

impl From<File> for BlockingFile {
    fn from(file: File) -> Self {
        Self { file, enlarged: false }
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
                    // More at once is a file, or a pipe that is large already: so are those of
                    // systems with larger pages.
                    if count as u64 == PIPE_BUFFER_BYTES && !self.enlarged {
                        self.enlarged = true;
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
    use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, stat};
    use rustix::io::Errno;

    use super::BlockingFile;

    pub(super) const READABLE: PollFlags = PollFlags::IN;
    pub(super) const WRITABLE: PollFlags = PollFlags::OUT;

    /// Standard input: what has arrived is read at once.
    ///
    /// # Errors
    ///
    /// When the process is out of descriptors.
    pub(crate) fn stdin() -> io::Result<BlockingFile> {
        Ok(BlockingFile::from(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    /// Standard output: what is written leaves at once.
    ///
    /// # Errors
    ///
    /// When the process is out of descriptors.
    pub(crate) fn stdout() -> io::Result<BlockingFile> {
        Ok(BlockingFile::from(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
    }

    /// Standard error: what is written leaves at once.
    ///
    /// # Errors
    ///
    /// When the process is out of descriptors.
    pub(crate) fn stderr() -> io::Result<BlockingFile> {
        Ok(BlockingFile::from(File::from(io::stderr().as_fd().try_clone_to_owned()?)))
    }

    /// Whether the program was started without a standard input.
    ///
    /// Rust's runtime opens a closed descriptor 0 as `/dev/null`, for reading and writing, before
    /// `main`; a shell's `< /dev/null` opens it for reading only and is an empty stream. A parent
    /// that opens `/dev/null` both ways itself looks the same: there is nothing to check either.
    pub(crate) fn stdin_is_closed() -> bool {
        let stdin = rustix::stdio::stdin();
        let both_ways = fcntl_getfl(stdin).is_ok_and(|flags| flags.contains(OFlags::RDWR));
        let files = (fstat(stdin), stat("/dev/null"));
        both_ways
            && matches!(files, (Ok(stdin), Ok(null)) if stdin.st_rdev == null.st_rdev
                && stdin.st_ino == null.st_ino && stdin.st_dev == null.st_dev)
    }

    /// Whether another program reads standard output.
    pub(crate) fn stdout_is_pipe() -> bool {
        fstat(rustix::stdio::stdout()).is_ok_and(|it| {
            let kind = FileType::from_raw_mode(it.st_mode);
            matches!(kind, FileType::Fifo | FileType::Socket)
        })
    }

    impl AsFd for BlockingFile {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.file.as_fd()
        }
    }

    /// Waits until one of two can be read; tells which can.
    pub(crate) fn wait_for_either(
        first: &impl AsFd,
        second: &impl AsFd,
    ) -> io::Result<(bool, bool)> {
        let mut waited = [PollFd::new(first, PollFlags::IN), PollFd::new(second, PollFlags::IN)];
        loop {
            match poll(&mut waited, None) {
                Ok(_) => {
                    let [first, second] = &waited;
                    return Ok((!first.revents().is_empty(), !second.revents().is_empty()));
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits until one of the descriptors can be read, or for this long; tells which can.
    pub(crate) fn wait_for_any(waited: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Vec<bool> {
        let mut fds: Vec<PollFd<'_>> =
            waited.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        // Rounded up, so that what is waited for is due; a longer wait than fits is cut to a day.
        let timeout =
            timeout.map(|it| it.min(Duration::from_secs(86_400)) + Duration::from_millis(1));
        let timeout = timeout.map(|it| Timespec {
            tv_sec: it.as_secs().cast_signed(),
            tv_nsec: it.subsec_nanos().into(),
        });
        // An interruption is as good as an end: whoever waits looks around and waits again.
        let ready = poll(&mut fds, timeout.as_ref()).unwrap_or(0) > 0;
        fds.iter().map(|fd| ready && !fd.revents().is_empty()).collect()
    }

    /// Makes a pipe larger; where it is none, or the system does not allow it, nothing happens.
    #[cfg(target_os = "linux")]
    pub(super) fn enlarge(file: &File) {
        let _ = rustix::pipe::fcntl_setpipe_size(file, crate::limits::PIPE_BYTES_WANTED);
    }

    /// Only Linux can.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn enlarge(_: &File) {}

    pub(super) fn wait(file: &File, until: PollFlags) -> io::Result<()> {
        loop {
            match poll(&mut [PollFd::new(file, until)], None) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::File;
    use std::io::{self, IsTerminal as _};
    use std::os::windows::io::AsHandle;

    use super::BlockingFile;

    pub(super) const READABLE: () = ();
    pub(super) const WRITABLE: () = ();

    /// Standard input: what has arrived is read at once.
    ///
    /// # Errors
    ///
    /// When the process is out of handles.
    pub(crate) fn stdin() -> io::Result<BlockingFile> {
        Ok(BlockingFile::from(File::from(io::stdin().as_handle().try_clone_to_owned()?)))
    }

    /// Standard output: what is written leaves at once.
    ///
    /// # Errors
    ///
    /// When the process is out of handles.
    pub(crate) fn stdout() -> io::Result<BlockingFile> {
        Ok(BlockingFile::from(File::from(io::stdout().as_handle().try_clone_to_owned()?)))
    }

    /// Standard error: what is written leaves at once.
    ///
    /// # Errors
    ///
    /// When the process is out of handles.
    pub(crate) fn stderr() -> io::Result<BlockingFile> {
        Ok(BlockingFile::from(File::from(io::stderr().as_handle().try_clone_to_owned()?)))
    }

    /// Cannot be told on Windows: a missing standard input reads as an empty stream.
    pub(crate) fn stdin_is_closed() -> bool {
        false
    }

    /// Whether another program may read standard output: pipes and files are not told apart.
    pub(crate) fn stdout_is_pipe() -> bool {
        !io::stdout().is_terminal()
    }

    /// Only Linux can.
    pub(super) fn enlarge(_: &File) {}

    /// Handles block there; nothing is to be waited for.
    pub(super) fn wait(_: &File, (): ()) -> io::Result<()> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}
