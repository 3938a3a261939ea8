//! Files of this process. All of them block.

use std::fs::File;
use std::io::{self, Read, Write};

use super::console::Console;

/// A standard stream of this process.
pub(crate) use std::os::windows::io::AsHandle as Standard;

pub(crate) const READABLE: () = ();
pub(crate) const WRITABLE: () = ();

/// A file that is read and written.
#[derive(Debug)]
pub(crate) enum Stream {
    File(File),
    Console(Console),
}

/// The stream without its buffer and lock.
pub(crate) fn duplicate(stream: &impl Standard) -> io::Result<Stream> {
    let handle = stream.as_handle().try_clone_to_owned()?;
    Ok(Console::new(handle).map_or_else(|handle| File::from(handle).into(), Stream::Console))
}

impl From<File> for Stream {
    fn from(file: File) -> Self {
        Self::File(file)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Console(_) => io::stdin().read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Console(console) => console.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Console(_) => Ok(()),
        }
    }
}

/// The size of a pipe is fixed.
pub(crate) fn enlarge(_: &Stream) {}

/// Never called: no file says that it would block.
pub(crate) fn wait_until(_: &Stream, (): ()) -> io::Result<()> {
    Err(io::ErrorKind::WouldBlock.into())
}
