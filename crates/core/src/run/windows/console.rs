//! A console that shows UTF-8 in every code page.

use std::io;
use std::os::windows::io::{AsHandle as _, OwnedHandle};

use super::system::{is_console, show_colours, write_console};

/// Units of one write; a console takes no more than 64 KiB.
const WRITE_UNITS: usize = 8 * 1024;

/// Longest beginning of a character that waits for the rest, in bytes.
const OPEN_MAX: usize = 3;

/// A console. Bytes that are not UTF-8 are shown as U+FFFD.
#[derive(Debug)]
pub(crate) struct Console {
    handle: OwnedHandle,
    text: ConsoleText,
    shows_colours: bool,
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.show(&self.text.end());
    }
}

impl Console {
    /// Gives the handle back if it is none of a console.
    pub(super) fn new(handle: OwnedHandle) -> Result<Self, OwnedHandle> {
        if is_console(handle.as_handle()) {
            Ok(Self { handle, text: ConsoleText::default(), shows_colours: false })
        } else {
            Err(handle)
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Only now it is known that this is not a keyboard.
        if !self.shows_colours {
            show_colours(self.handle.as_handle());
            self.shows_colours = true;
        }
        let units = self.text.units(bytes);
        self.show(&units)?;
        Ok(bytes.len())
    }

    fn show(&self, units: &[u16]) -> io::Result<()> {
        let mut left = units;
        while !left.is_empty() {
            let mut length = left.len().min(WRITE_UNITS);
            // Both halves of a character go together.
            if length < left.len() && (0xd800..0xdc00).contains(&left[length - 1]) {
                length -= 1;
            }
            let written = write_console(self.handle.as_handle(), &left[..length])?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            left = &left[written..];
        }
        Ok(())
    }
}

/// Text whose last character may be cut.
#[derive(Debug, Default)]
struct ConsoleText {
    /// The beginning of this character, whose rest comes with the next write.
    open: Vec<u8>,
}

impl ConsoleText {
    /// The text in the units of the console, without a character that goes on in the next write.
    fn units(&mut self, bytes: &[u8]) -> Vec<u16> {
        self.open.extend(bytes);
        let whole = self.open.len() - open_end(&self.open);
        let text: Vec<u8> = self.open.drain(..whole).collect();
        String::from_utf8_lossy(&text).encode_utf16().collect()
    }

    /// No more comes: what a character lacks it will not get.
    fn end(&self) -> Vec<u16> {
        String::from_utf8_lossy(&self.open).encode_utf16().collect()
    }
}

/// How many bytes at the end are the beginning of a character.
fn open_end(bytes: &[u8]) -> usize {
    let is_open = |length: &usize| {
        let end = &bytes[bytes.len() - length..];
        std::str::from_utf8(end)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=OPEN_MAX.min(bytes.len())).find(is_open).unwrap_or(0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use super::{ConsoleText, open_end};

    #[test]
    fn a_character_that_stays_cut_is_shown_in_the_end() {
        let mut text = ConsoleText::default();
        let parts = [&b"a\xe2"[..], b"\x9c", b"\x93b\xf0\x9f"];
        let mut units: Vec<u16> = parts.iter().flat_map(|bytes| text.units(bytes)).collect();
        units.extend(text.end());
        assert_eq!(String::from_utf16(&units).unwrap(), "a\u{2713}b\u{fffd}");
    }

    #[test]
    fn a_character_that_is_cut_waits() {
        let rows: [(&[u8], usize); 8] = [
            (b"", 0),
            (b"abc", 0),
            ("✓".as_bytes(), 0),
            (b"a\xe2", 1),
            (b"a\xe2\x9c", 2),
            (b"\xf0\x9f\x98", 3),
            (b"a\xff", 0),
            (b"\x9c\x93", 0),
        ];
        for (bytes, expected) in rows {
            assert_eq!(open_end(bytes), expected, "{bytes:?}");
        }
    }
}
