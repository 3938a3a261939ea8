//! Where streams come from: standard input, files, directories, lists of them.

pub(crate) mod list;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::stdio::{self, Patient};
use crate::error::Error;
use crate::limits::STREAM_NAME_BYTES_MAX;
use crate::rules::escape::clipped;

/// The name of standard input, in arguments and reports.
pub(crate) const STDIN: &str = "-";

/// The endings that make a file in a directory a stream.
const EXTENSIONS: [&str; 2] = ["ndjson", "jsonl"];

/// One stream to check, not yet opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// Standard input.
    Stdin,
    /// A file, a pipe, or a device.
    Path(PathBuf),
}

impl Input {
    /// The stream's name in reports: its path as it was given or found, or `-`.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => STDIN.to_owned(),
            Self::Path(path) => path.to_string_lossy().into_owned(),
        }
    }

    /// Opens the stream.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or standard input is closed.
    pub(crate) fn open(&self) -> Result<Patient, Error> {
        let opened = match self {
            Self::Stdin if stdio::stdin_is_closed() => {
                return Err(Error::NothingToCheck {
                    origin: STDIN.to_owned(),
                    message: "standard input is closed, or /dev/null".to_owned(),
                });
            }
            Self::Stdin => stdio::stdin(),
            Self::Path(path) => File::open(path).map(Patient::from),
        };
        opened.map_err(|error| self.failed(error))
    }

    /// The error for a stream that failed to read.
    pub(crate) fn failed(&self, source: io::Error) -> Error {
        let name = self.name();
        Error::Read { stream: clipped(&name, STREAM_NAME_BYTES_MAX).into_owned(), source }
    }
}

/// Lists the streams behind the arguments, in their order; a directory stands for the `*.ndjson`
/// and `*.jsonl` files below it, sorted by name. No argument means standard input.
///
/// What cannot be listed is an error in the place of its stream, so that the others are checked.
pub(crate) fn inputs(arguments: Vec<PathBuf>) -> Vec<Result<Input, Error>> {
    if arguments.is_empty() {
        return vec![Ok(Input::Stdin)];
    }
    let mut inputs = Vec::new();
    for argument in arguments {
        if argument.as_os_str() == STDIN && inputs.iter().any(|it| matches!(it, Ok(Input::Stdin))) {
            inputs.push(Err(Error::NothingToCheck {
                origin: STDIN.to_owned(),
                message: "standard input is named twice".to_owned(),
            }));
        } else if argument.as_os_str() == STDIN {
            inputs.push(Ok(Input::Stdin));
        } else if argument.is_dir() {
            walk(&argument, &mut inputs);
        } else {
            inputs.push(Ok(Input::Path(argument)));
        }
    }
    inputs
}

fn walk(directory: &Path, inputs: &mut Vec<Result<Input, Error>>) {
    let before = inputs.len();
    for entry in walkdir::WalkDir::new(directory).sort_by_file_name() {
        match entry {
            Ok(entry) => {
                let extension = entry.path().extension().and_then(|it| it.to_str());
                let named = extension.is_some_and(|it| EXTENSIONS.contains(&it));
                // A named pipe that nobody writes to would hold up everything behind it.
                if named && (entry.file_type().is_file() || entry.path().is_file()) {
                    inputs.push(Ok(Input::Path(entry.into_path())));
                }
            }
            Err(error) => {
                let stream = error.path().unwrap_or(directory).to_string_lossy().into_owned();
                inputs.push(Err(Error::Read { stream, source: error.into() }));
            }
        }
    }
    if inputs.len() == before {
        inputs.push(Err(Error::NothingToCheck {
            origin: directory.to_string_lossy().into_owned(),
            message: "no *.ndjson or *.jsonl file below it".to_owned(),
        }));
    }
}
