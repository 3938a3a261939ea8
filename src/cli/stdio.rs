//! Standard input and output as unbuffered files, whatever mode their descriptors are in.

use std::fs::File;
use std::io;
use std::path::Path;

use super::at_start;

pub(crate) use ndjson_check_core::internals::run::BlockingFile;
pub(crate) use platform::{stdin_is_closed, stdout_is_pipe};

/// Standard input: what has arrived is read at once.
pub(crate) fn stdin() -> io::Result<BlockingFile> {
    BlockingFile::duplicate(&io::stdin())
}

/// Standard output: what is written leaves at once.
pub(crate) fn stdout() -> io::Result<BlockingFile> {
    let file = BlockingFile::duplicate(&io::stdout())?;
    Ok(file.or_closed(at_start::stdout_was_closed()))
}

/// Standard error: what is written leaves at once.
pub(crate) fn stderr() -> io::Result<BlockingFile> {
    let file = BlockingFile::duplicate(&io::stderr())?;
    Ok(file.or_closed(at_start::stderr_was_closed()))
}

/// Whether a path is another name of standard output.
pub(crate) fn names_stdout(path: &Path) -> bool {
    cfg!(unix)
        && ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|it| path == Path::new(it))
}

/// Whether a path is another name of standard error.
pub(crate) fn names_stderr(path: &Path) -> bool {
    cfg!(unix)
        && ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"].iter().any(|it| path == Path::new(it))
}

/// Standard input under another descriptor: to drop it leaves the original open.
pub(crate) fn stdin_copy() -> io::Result<File> {
    platform::copy(&io::stdin())
}

pub(crate) fn stdin_is_file() -> bool {
    stdin_copy().and_then(|stdin| stdin.metadata()).is_ok_and(|it| it.is_file())
}

pub(crate) fn stdout_is_file() -> bool {
    stdout_copy().and_then(|stdout| stdout.metadata()).is_ok_and(|it| it.is_file())
}

/// Standard output under another descriptor: to drop it leaves the original open.
pub(crate) fn stdout_copy() -> io::Result<File> {
    platform::copy(&io::stdout())
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsFd;

    use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, stat};

    pub(crate) fn copy(stream: &impl AsFd) -> io::Result<File> {
        Ok(File::from(stream.as_fd().try_clone_to_owned()?))
    }

    /// Whether the program was started without a standard input.
    ///
    /// Rust's runtime opens a closed descriptor 0 as `/dev/null`, for reading and writing, before
    /// `main`; a shell's `< /dev/null` opens it for reading only and is an empty stream. A parent
    /// that opens `/dev/null` both ways looks the same, and there is nothing to check either.
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
        fstat(rustix::stdio::stdout()).is_ok_and(|stdout| {
            let kind = FileType::from_raw_mode(stdout.st_mode);
            matches!(kind, FileType::Fifo | FileType::Socket)
        })
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::File;
    use std::io::{self, IsTerminal as _};
    use std::os::windows::io::AsHandle;

    pub(crate) fn copy(stream: &impl AsHandle) -> io::Result<File> {
        Ok(File::from(stream.as_handle().try_clone_to_owned()?))
    }

    /// Unknown on Windows: a missing standard input reads as an empty stream.
    pub(crate) fn stdin_is_closed() -> bool {
        false
    }

    /// Whether another program may read standard output: true also for files.
    pub(crate) fn stdout_is_pipe() -> bool {
        !io::stdout().is_terminal()
    }
}
