//! Copies of every byte that is read, written before the bytes are checked.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use ndjson_check_core::StreamLines;

use super::error::CliError;
use super::inputs::STDIN;
use super::workflow_commands::escape_commands;

/// A copy. One that fails gets no more bytes; the stream is still read to its end.
pub(crate) struct TeeTarget {
    /// For errors.
    name: String,
    writer: Box<dyn Write>,
    /// Where the copy must be lines, whatever the stream is.
    lines: Option<StreamLines>,
    failure: Option<io::Error>,
    /// The regular file, which has the copy of an earlier run until the stream begins.
    earlier: Option<File>,
}

impl TeeTarget {
    pub(crate) fn new(name: &str, writer: Box<dyn Write>) -> Self {
        Self { name: name.to_owned(), writer, lines: None, failure: None, earlier: None }
    }

    /// A regular file is emptied when the stream begins: if the command cannot be started, the copy
    /// of the last run stays.
    pub(crate) fn of_file(path: &Path) -> Result<Self, CliError> {
        let name = path.display().to_string();
        if name == STDIN {
            let message = "--tee writes to a file; for standard output, use --to stream-json";
            return Err(CliError::usage(message));
        }
        let failed = |error| CliError::output(&name, error);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(path).map_err(failed)?;
        if file.is_terminal() {
            return Err(CliError::usage("--tee would send control characters to a terminal"));
        }
        if path.is_file() {
            // A lock of Windows would also keep others from reading the file.
            if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                let message =
                    format!("another process has locked {name}: give each run its own --tee");
                return Err(CliError::usage(message));
            }
            let earlier = Some(file.try_clone().map_err(failed)?);
            return Ok(Self { earlier, ..Self::new(&name, Box::new(file)) });
        }
        // It may be the log of a CI job.
        Ok(Self::new(&name, escape_commands(file)))
    }

    pub(crate) fn with_lines(self, lines: StreamLines) -> Self {
        Self { lines: Some(lines), ..self }
    }

    pub(crate) fn through(self, wrap: impl FnOnce(Box<dyn Write>) -> Box<dyn Write>) -> Self {
        Self { writer: wrap(self.writer), ..self }
    }

    pub(crate) fn begin(&mut self) {
        if let Some(file) = self.earlier.take() {
            self.failure = file.set_len(0).err();
        }
        if let Some(lines) = &mut self.lines {
            lines.begin();
        }
    }

    /// Writes bytes at once; nothing after a failure.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let Self { writer, lines, failure, .. } = self;
        match lines {
            Some(lines) => lines.push(bytes, |bytes| write(writer, bytes, failure)),
            None => write(writer, bytes, failure),
        }
    }

    pub(crate) fn end(&mut self) {
        let Self { writer, lines, failure, .. } = self;
        if let Some(lines) = lines {
            lines.end(|bytes| write(writer, bytes, failure));
        }
    }

    pub(crate) fn failure(&self) -> Option<(&str, &io::Error)> {
        self.failure.as_ref().map(|error| (self.name.as_str(), error))
    }
}

fn write(writer: &mut dyn Write, bytes: &[u8], failure: &mut Option<io::Error>) {
    if failure.is_none() {
        *failure = writer.write_all(bytes).and_then(|()| writer.flush()).err();
    }
}
