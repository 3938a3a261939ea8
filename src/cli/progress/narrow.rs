//! Standard error as the progress sees it.

use std::io::{self, Write as _};

use indicatif::TermLike;

use crate::cli::terminal::stderr_width;

/// The width of a terminal that does not say it.
const COLUMNS: usize = 80;

/// A little narrower than it is, so that what the terminal shows of Ctrl-C is on the same line. A
/// line that fills the width would stay above it. No line is padded.
#[derive(Debug)]
pub(super) struct NarrowTerminal;

impl NarrowTerminal {
    fn moved(count: usize, direction: char) -> io::Result<()> {
        if count == 0 { Ok(()) } else { write!(io::stderr(), "\x1b[{count}{direction}") }
    }
}

impl TermLike for NarrowTerminal {
    fn width(&self) -> u16 {
        let columns = stderr_width().unwrap_or(COLUMNS).saturating_sub("^C".len() + 1);
        columns.try_into().unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        Self::moved(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        writeln!(io::stderr(), "{text}")
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        // Spaces up to the width would take a second line when the terminal becomes narrower.
        let is_padding = text.bytes().all(|byte| byte == b' ');
        if is_padding { Ok(()) } else { io::stderr().write_all(text.as_bytes()) }
    }

    fn clear_line(&self) -> io::Result<()> {
        io::stderr().write_all(b"\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
