//! Names of streams in a list, as `find` writes one.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Input, STDIN};
use crate::error::Error;

/// What stands between two names of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// The end of a line.
    Newline,
    /// The byte 0, which no name has in it: `find -print0`.
    Nul,
}

impl Separator {
    fn byte(self) -> u8 {
        match self {
            Self::Newline => b'\n',
            Self::Nul => 0,
        }
    }
}

/// The names in a list, in its order; `-` is the list on standard input. A name is whatever bytes
/// stand between two separators; where there are none there is no name.
///
/// # Errors
///
/// When the list cannot be read, or a name in it is none on this system.
pub(crate) fn names(list: &Path, separator: Separator) -> Result<Vec<PathBuf>, Error> {
    let stdin = list.as_os_str() == STDIN;
    let mut bytes = Vec::new();
    let read = if stdin {
        Input::Stdin.open()?.read_to_end(&mut bytes)
    } else {
        File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    let failed = |source| Error::Read { stream: list.to_string_lossy().into_owned(), source };
    read.map_err(failed)?;
    let names = bytes.split(|&byte| byte == separator.byte()).filter(|name| !name.is_empty());
    names.map(|name| name_of(name).map(PathBuf::from)).collect::<io::Result<_>>().map_err(failed)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not every name is one")]
fn name_of(bytes: &[u8]) -> io::Result<&OsStr> {
    Ok(std::os::unix::ffi::OsStrExt::from_bytes(bytes))
}

#[cfg(not(unix))]
fn name_of(bytes: &[u8]) -> io::Result<&OsStr> {
    let name = std::str::from_utf8(bytes);
    name.map(OsStr::new).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
