//! Reads a list of file names, as `find` writes one.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ndjson_check_core::Error;

use super::{Input, STDIN};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    Newline,
    /// `find -print0`.
    Nul,
}

/// The names in a list, in its order; `-` is a list on standard input. Empty names are skipped.
pub(crate) fn names(list: &Path, separator: Separator) -> Result<Vec<PathBuf>, Error> {
    let stdin = list.as_os_str() == STDIN;
    let mut bytes = Vec::new();
    let read = if stdin {
        Input::Stdin.open()?.read_to_end(&mut bytes)
    } else {
        File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    let failed = |source: io::Error| Error::Read {
        stream: list.to_string_lossy().into_owned(),
        source: source.into(),
    };
    read.map_err(failed)?;
    let separator = match separator {
        Separator::Newline => b'\n',
        Separator::Nul => 0,
    };
    // A list from Windows has `\\r\\n`.
    let name = |line| match separator {
        b'\n' => <[u8]>::strip_suffix(line, b"\r").unwrap_or(line),
        _ => line,
    };
    let names = bytes.split(|&byte| byte == separator).map(name).filter(|name| !name.is_empty());
    names.map(|name| name_of(name).map(PathBuf::from)).collect::<io::Result<_>>().map_err(failed)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "on other systems some names are invalid")]
fn name_of(bytes: &[u8]) -> io::Result<&OsStr> {
    Ok(std::os::unix::ffi::OsStrExt::from_bytes(bytes))
}

#[cfg(not(unix))]
fn name_of(bytes: &[u8]) -> io::Result<&OsStr> {
    let name = std::str::from_utf8(bytes);
    name.map(OsStr::new).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
