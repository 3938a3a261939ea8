//! Where streams come from: standard input, files, directories, lists of them, archives.

pub(crate) mod contents;
pub(crate) mod list;
mod look_alikes;
mod tar_links;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use ndjson_check_core::{Error, escape::clipped};

use crate::cli::stdio::{self, BlockingFile};

/// Longest name of a stream in an error, in bytes: the reason after it must fit the message.
const STREAM_NAME_BYTES_MAX: usize = 1_024;

/// The name of standard input, in arguments and reports.
pub(crate) const STDIN: &str = "-";

/// The same, for a reader of messages.
pub(crate) const STDIN_NAME: &str = "standard input";

const EXTENSIONS: [&str; 2] = ["ndjson", "jsonl"];

/// May follow an extension.
const ARCHIVES: [&str; 2] = ["gz", "zst"];

/// One stream to check, not yet opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    /// A file, a pipe, or a device.
    Path(PathBuf),
}

impl Input {
    /// The stream's name in reports: its path as it was given or found, or `-`.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => STDIN.to_owned(),
            Self::Path(path) => shown(path),
        }
    }

    pub(crate) fn open(&self) -> Result<BlockingFile, Error> {
        let file = match self {
            Self::Stdin if stdio::stdin_is_closed() => {
                return Err(nothing_to_check(STDIN, "it is closed, or /dev/null"));
            }
            Self::Stdin => stdio::stdin(),
            Self::Path(path) => File::open(path).map(BlockingFile::from),
        };
        file.map_err(|error| self.failed(error))
    }

    pub(crate) fn failed(&self, source: io::Error) -> Error {
        unread(&self.name(), source)
    }
}

/// On Windows, too, a relative path has `/` in reports, so that they are the same everywhere. One
/// that begins with a drive or a share stays as it is.
fn shown(path: &Path) -> String {
    let name = path.to_string_lossy();
    let first = path.components().next();
    let is_whole = matches!(first, Some(Component::Prefix(_) | Component::RootDir));
    if cfg!(windows) && !is_whole { name.replace('\\', "/") } else { name.into_owned() }
}

/// The streams behind some arguments.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// What cannot be listed is an error in the place of its stream, so that the others are
    /// checked.
    pub(crate) inputs: Vec<Result<Input, Error>>,
    /// Files in directories that may be recordings but have another extension.
    others: Vec<PathBuf>,
}

/// Lists the streams behind the arguments, in their order; see [`listed`].
pub(crate) fn inputs(arguments: Vec<PathBuf>) -> Vec<Result<Input, Error>> {
    listed(arguments).inputs
}

/// Lists the streams behind the arguments, in their order; a directory means the `*.ndjson` and
/// `*.jsonl` files below it, compressed or not, sorted by name. No argument means standard input.
pub(crate) fn listed(arguments: Vec<PathBuf>) -> Listed {
    let mut listed = Listed::default();
    let inputs = &mut listed.inputs;
    if arguments.is_empty() {
        inputs.push(Ok(Input::Stdin));
    }
    for argument in arguments {
        if argument.as_os_str() == STDIN {
            let is_second = inputs.iter().any(|input| matches!(input, Ok(Input::Stdin)));
            let error = || nothing_to_check(STDIN, "it is named twice");
            inputs.push(if is_second { Err(error()) } else { Ok(Input::Stdin) });
        } else if argument.is_dir() {
            walk(&argument, inputs, &mut listed.others);
        } else {
            inputs.push(Ok(Input::Path(argument)));
        }
    }
    listed
}

fn walk(directory: &Path, inputs: &mut Vec<Result<Input, Error>>, others: &mut Vec<PathBuf>) {
    let before = inputs.len();
    for entry in entries(directory) {
        match entry {
            Ok(entry) => match stream_of(entry, directory) {
                ListedEntry::Stream(input) => inputs.push(input),
                ListedEntry::Other(path) => others.push(path),
                ListedEntry::Nothing => {}
            },
            Err(error) => {
                let path = error.path().unwrap_or(directory).to_owned();
                // Without the words of the library, which name the path once more.
                let cause = error.into_io_error();
                let cause = cause.unwrap_or_else(|| io::Error::other("it cannot be listed"));
                inputs.push(Err(Input::Path(path).failed(cause)));
            }
        }
    }
    if inputs.len() == before {
        let error = nothing_to_check(&shown(directory), "no *.ndjson or *.jsonl file below it");
        inputs.push(Err(error));
    }
}

/// How often a directory is read again.
const INTERRUPTIONS_MAX: usize = 100;

/// All that is below a directory. A signal may interrupt the opening of one: then it is read again.
fn entries(directory: &Path) -> Vec<walkdir::Result<walkdir::DirEntry>> {
    let is_interrupted = |entry: &walkdir::Result<_>| {
        let error = entry.as_ref().err().and_then(walkdir::Error::io_error);
        error.is_some_and(|error| error.kind() == io::ErrorKind::Interrupted)
    };
    let read = || walkdir::WalkDir::new(directory).sort_by_file_name().into_iter().collect();
    let mut entries: Vec<_> = read();
    for _ in 0..INTERRUPTIONS_MAX {
        if !entries.iter().any(is_interrupted) {
            break;
        }
        entries = read();
    }
    entries
}

/// What an entry of a directory is.
enum ListedEntry {
    Stream(Result<Input, Error>),
    Other(PathBuf),
    Nothing,
}

/// The stream in an entry of a directory. An entry that could hide one is an error.
fn stream_of(entry: walkdir::DirEntry, directory: &Path) -> ListedEntry {
    // The first entry is the directory itself, perhaps a link.
    if entry.depth() == 0 || entry.file_type().is_dir() {
        return ListedEntry::Nothing;
    }
    let path = entry.into_path();
    let input = Input::Path(path.clone());
    let refused = |reason: &str| ListedEntry::Stream(Err(input.failed(io::Error::other(reason))));
    match path.metadata() {
        // It could lead back here.
        Ok(target) if target.is_dir() && is_below(&path, directory) => ListedEntry::Nothing,
        Ok(target) if target.is_dir() => {
            refused("a link to a directory, which is not followed; name it as an argument")
        }
        target if !is_stream_name(&path) => {
            let is_file = target.is_ok_and(|target| target.is_file());
            if is_file && look_alikes::may_be(&path) {
                ListedEntry::Other(path)
            } else {
                ListedEntry::Nothing
            }
        }
        Ok(target) if target.is_file() => ListedEntry::Stream(Ok(input)),
        // A named pipe without a writer would block everything behind it.
        Ok(_) => refused("not a regular file"),
        Err(error) => ListedEntry::Stream(Err(input.failed(error))),
    }
}

/// Whether a link leads into the directory, of which all files are checked already.
fn is_below(link: &Path, directory: &Path) -> bool {
    let paths = (link.canonicalize(), directory.canonicalize());
    matches!(&paths, (Ok(target), Ok(directory)) if target.starts_with(directory))
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let is_one = |found: &OsStr| extensions.iter().any(|it| found.eq_ignore_ascii_case(it));
    path.extension().is_some_and(is_one)
}

fn is_stream_name(path: &Path) -> bool {
    let has = |path: &Path, extensions: [&str; 2]| has_extension(path, &extensions);
    let is_archived = |path: &Path| {
        has(path, ARCHIVES) && path.file_stem().is_some_and(|stem| has(stem.as_ref(), EXTENSIONS))
    };
    has(path, EXTENSIONS) || is_archived(path)
}

fn unread(name: &str, source: io::Error) -> Error {
    let stream = clipped(name, STREAM_NAME_BYTES_MAX).into_owned();
    Error::Read { stream, source: source.into() }
}

fn nothing_to_check(origin: &str, message: &str) -> Error {
    Error::NothingToCheck { origin: origin.to_owned(), message: message.to_owned() }
}
