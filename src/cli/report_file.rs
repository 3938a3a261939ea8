//! A report in a file, which appears when it is complete.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write};
use std::path::{Path, PathBuf};

use crate::output::github_actions::{Guard, is_watched};

/// A file that a report is written to.
///
/// A regular file appears when the report is complete, so that no reader sees half of one. Until
/// then the report is in a file without a name, which the system deletes however we end. What
/// exists and is not a regular file (a device, a named pipe) is written directly.
pub(super) enum ReportFile {
    Special(Box<dyn Write>),
    Regular(File, PathBuf),
}

impl ReportFile {
    /// Opens the file.
    ///
    /// # Errors
    ///
    /// When it cannot be created.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // A symbolic link is followed, not replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(Self::Special(guarded(OpenOptions::new().write(true).open(path)?)));
        }
        // Asked first: the error would name the temporary file.
        folder(&path).metadata()?;
        Ok(Self::Regular(tempfile::tempfile_in(folder(&path))?, path))
    }

    /// The report is complete: it gets its name, in one step.
    ///
    /// # Errors
    ///
    /// When it cannot be written or named.
    pub(super) fn finish(self) -> io::Result<()> {
        let Self::Regular(mut file, path) = self else { return Ok(()) };
        let mut named = tempfile::Builder::new();
        named.prefix(".ndjson-check-");
        #[cfg(unix)]
        named.permissions(permissions(&path));
        let mut named = named.tempfile_in(folder(&path))?;
        file.rewind()?;
        io::copy(&mut file, named.as_file_mut())?;
        named.persist(path)?;
        Ok(())
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
