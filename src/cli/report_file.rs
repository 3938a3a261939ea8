//! A report in a file, which appears when it is complete.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::output::github_actions::{Guard, is_watched};
use crate::output::report::Sink;

/// A file that a report is written to.
///
/// A regular file is written under a temporary name in the same directory and is renamed when the
/// report is complete, so that no reader sees half of one. What exists and is no regular file (a
/// device, a named pipe) is written directly.
pub(super) enum ReportFile {
    Special(Box<dyn Write>),
    Regular(NamedTempFile, PathBuf),
}

impl ReportFile {
    /// Opens the file.
    ///
    /// # Errors
    ///
    /// When it cannot be created.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // A symbolic link is followed, not replaced.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(Self::Special(guarded(OpenOptions::new().write(true).open(path)?)));
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        // Asked first: the error would name the temporary file.
        directory.metadata()?;
        let mut temporary = tempfile::Builder::new();
        temporary.prefix(".ndjson-check-");
        #[cfg(unix)]
        temporary.permissions(permissions(path));
        Ok(Self::Regular(temporary.tempfile_in(directory)?, path.clone()))
    }
}

impl Write for ReportFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Special(file) => file.write(bytes),
            Self::Regular(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Special(file) => file.flush(),
            Self::Regular(file, _) => file.flush(),
        }
    }
}

impl Sink for ReportFile {
    fn finish(self: Box<Self>) -> io::Result<()> {
        match *self {
            Self::Special(_) => Ok(()),
            Self::Regular(file, path) => file.persist(path).map(drop).map_err(|error| error.error),
        }
    }
}

/// It may be the log of a workflow.
fn guarded(file: File) -> Box<dyn Write> {
    if is_watched() { Box::new(Guard::new(file)) } else { Box::new(file) }
}

/// A report is no secret: it is as open as the file that it replaces, or as any new one.
#[cfg(unix)]
fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    let existing = path.metadata().map(|metadata| metadata.permissions());
    existing.unwrap_or_else(|_| std::fs::Permissions::from_mode(0o666))
}
