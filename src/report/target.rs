//! Where a report goes: standard output, or a file that appears whole.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::workflow::{Guard, is_watched};

/// Where a report goes.
///
/// A regular file appears only when the report is complete, so that nobody reads half of one.
/// Until then the report is in a file without a name, which the system deletes however we end.
/// What exists and is no regular file (a device, a named pipe) is written as it is.
pub struct Target {
    name: String,
    writer: BufWriter<Writer>,
}

enum Writer {
    Stream(Box<dyn Write>),
    Special(Box<dyn Write>),
    Regular(File, PathBuf),
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::Special(file) => file.write(bytes),
            Self::Regular(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::Special(file) => file.flush(),
            Self::Regular(file, _) => file.flush(),
        }
    }
}

impl Target {
    /// A stream that is open already; `name` is for errors.
    pub fn stream(name: &str, stream: impl Write + 'static) -> Self {
        let writer = BufWriter::new(Writer::Stream(Box::new(stream)));
        Self { name: name.to_owned(), writer }
    }

    /// A file.
    ///
    /// # Errors
    ///
    /// When it cannot be created.
    pub fn file(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        // Through a symbolic link, not in its place.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let special = path.metadata().is_ok_and(|it| !it.is_file());
        let opened = if special {
            let file = OpenOptions::new().write(true).open(path);
            file.map(|file| Writer::Special(guarded(file)))
        } else {
            let directory = folder(path);
            // Asked first: the error would name the temporary file.
            directory.metadata().and_then(|_| {
                Ok(Writer::Regular(tempfile::tempfile_in(directory)?, path.to_owned()))
            })
        };
        match opened {
            Ok(writer) => Ok(Self { name, writer: BufWriter::new(writer) }),
            Err(source) => Err(Error::WriteReport { target: name, source }),
        }
    }

    /// Writes some text.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&mut self, text: &str) -> Result<(), Error> {
        self.writer.write_all(text.as_bytes()).map_err(|source| self.failed(source))
    }

    /// Makes visible what was written.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.writer.flush().map_err(|source| self.failed(source))
    }

    /// The report is complete: a regular file takes its name.
    ///
    /// # Errors
    ///
    /// When it cannot be written or named.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.flush()?;
        let done = BufWriter::new(Writer::Stream(Box::new(io::sink())));
        let (writer, _) = std::mem::replace(&mut self.writer, done).into_parts();
        match writer {
            Writer::Regular(file, path) => put(file, &path).map_err(|error| self.failed(error)),
            Writer::Stream(_) | Writer::Special(_) => Ok(()),
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::WriteReport { target: self.name.clone(), source }
    }
}

/// Gives the contents of a file a name, in one step.
fn put(mut file: File, path: &Path) -> io::Result<()> {
    let mut named = tempfile::Builder::new();
    named.prefix(".ndjson-check-");
    #[cfg(unix)]
    named.permissions(permissions(path));
    let mut named = named.tempfile_in(folder(path))?;
    file.rewind()?;
    io::copy(&mut file, named.as_file_mut())?;
    named.persist(path)?;
    Ok(())
}

/// Where a file is.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// It may be the log of a workflow.
fn guarded(file: File) -> Box<dyn Write> {
    if is_watched() { Box::new(Guard::new(file)) } else { Box::new(file) }
}

/// A report is no secret: it is as open as the file it replaces, or as any new one.
#[cfg(unix)]
fn permissions(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    let existing = path.metadata().map(|it| it.permissions());
    existing.unwrap_or_else(|_| std::fs::Permissions::from_mode(0o666))
}
