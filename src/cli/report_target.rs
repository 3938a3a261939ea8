//! Where a report goes. A file appears when the report is complete.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::stdio;
use super::workflow_commands::escape_commands;

/// A regular file appears when the report is complete, so that no reader sees half of one. Until
/// then the report is in a file without a name, which the system deletes however we end. What
/// exists and is not a regular file (a device, a named pipe) is written directly.
pub(super) enum ReportTarget {
    Stream(Box<dyn Write>),
    File(File, PathBuf),
}

impl ReportTarget {
    /// `writes_commands` is for a report whose own text is commands of a CI job.
    pub(super) fn file(path: &Path, writes_commands: bool) -> io::Result<Self> {
        if let Some(stream) = direct(path)? {
            // It may be the log of a CI job.
            let stream = if writes_commands { stream } else { escape_commands(stream) };
            return Ok(Self::Stream(stream));
        }
        let path = followed(path);
        // Checked first: the error would name the temporary file.
        folder(&path).metadata()?;
        let file = tempfile::tempfile_in(folder(&path)).map_err(|error| without_path(&error))?;
        Ok(Self::File(file, path))
    }

    /// A file of the CI job to which steps append. The report comes in one piece.
    pub(super) fn appended(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self::Stream(Box::new(Appended { file, path: Some(path.to_owned()) })))
    }

    /// Gives the complete report its name, in one step.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let Self::File(file, path) = self else { return Ok(()) };
        let mut named = tempfile::Builder::new();
        named.prefix(".ndjson-check-");
        #[cfg(unix)]
        named.permissions(permissions(path));
        folder(path).metadata()?;
        let mut named = named.tempfile_in(folder(path)).map_err(|error| without_path(&error))?;
        file.rewind()?;
        io::copy(file, named.as_file_mut())?;
        named.persist(path)?;
        Ok(())
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stream(stream) => stream,
            Self::File(file, _) => file,
        }
    }
}

impl Write for ReportTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}

/// What is written directly: our own standard streams, which may be sockets, devices, and pipes. A
/// pipe of ours has the name of a link (`/dev/fd/63`), which leads to no path.
fn direct(path: &Path) -> io::Result<Option<Box<dyn Write + Send>>> {
    Ok(if stdio::names_stdout(path) {
        Some(Box::new(stdio::stdout()?))
    } else if stdio::names_stderr(path) {
        Some(Box::new(stdio::stderr()?))
    } else if is_null_device(path) || path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        Some(Box::new(OpenOptions::new().write(true).open(path)?))
    } else {
        None
    })
}

/// Windows has no metadata of this device.
fn is_null_device(path: &Path) -> bool {
    cfg!(windows) && path.as_os_str().eq_ignore_ascii_case("nul")
}

/// Begins on a new line.
struct Appended {
    file: File,
    /// Until the first byte is written: others may append, too.
    path: Option<PathBuf>,
}

impl Write for Appended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.path.take().is_some_and(|path| lacks_newline(&path)) {
            self.file.write_all(b"\n")?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether a file ends in the middle of a line. One that cannot be read is taken to be whole.
fn lacks_newline(path: &Path) -> bool {
    let is_regular = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let last = || {
        let (mut file, mut last) = (File::open(path)?, [0]);
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        io::Result::Ok(last[0])
    };
    is_regular && last().is_ok_and(|last| last != b'\n')
}

/// The error without the name of the temporary file, which says nothing to the user.
fn without_path(error: &io::Error) -> io::Error {
    error.kind().into()
}

/// Where a path leads: a symbolic link is followed, not replaced, even if its target is missing.
pub(super) fn followed(path: &Path) -> PathBuf {
    const LINKS_MAX: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = path.read_link() else { break };
        path = folder(&path).join(target);
    }
    path
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A report is not secret: it gets the permissions of the file that it replaces, or of any new one.
#[cfg(unix)]
fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    let existing = path.metadata().map(|metadata| metadata.permissions());
    existing.unwrap_or_else(|_| std::fs::Permissions::from_mode(0o666))
}
