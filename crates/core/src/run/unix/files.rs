//! Files that do not block, and pipes that can be made larger.

use std::fs::File;
use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;

/// A standard stream of this process.
pub(crate) use std::os::fd::AsFd as Standard;

/// A file that is read and written.
pub(crate) use std::fs::File as Stream;

pub(crate) const READABLE: PollFlags = PollFlags::IN;
pub(crate) const WRITABLE: PollFlags = PollFlags::OUT;

/// The size that a full pipe gets, in bytes: what Linux allows an unprivileged process.
#[cfg(target_os = "linux")]
const PIPE_BYTES_WANTED: usize = 1024 * 1024;

/// The stream without its buffer and lock.
pub(crate) fn duplicate(stream: &impl Standard) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

/// Makes a pipe larger; does nothing to other files, or if the system does not allow it.
#[cfg(target_os = "linux")]
pub(crate) fn enlarge(file: &File) {
    let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_BYTES_WANTED);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn enlarge(_: &File) {}

/// Waits until a file that does not block is ready.
pub(crate) fn wait_until(file: &File, until: PollFlags) -> io::Result<()> {
    retry_on_intr(|| poll(&mut [PollFd::new(file, until)], None))?;
    Ok(())
}
