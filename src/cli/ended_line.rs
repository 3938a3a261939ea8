//! Ends the last line of what a command wrote, so that a report begins a new line: the
//! runner of GitHub reads an annotation nowhere else.

use std::io::{self, Write};

pub(super) struct EndedLine<W: Write> {
    inner: W,
    is_open: bool,
}

impl<W: Write> EndedLine<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, is_open: false }
    }
}

impl<W: Write> Write for EndedLine<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        if let Some(last) = bytes[..count].last() {
            self.is_open = *last != b'\n';
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for EndedLine<W> {
    fn drop(&mut self) {
        if self.is_open {
            // Without a reader there is no line to end.
            let _ = self.inner.write_all(b"\n").and_then(|()| self.inner.flush());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_without_its_end_gets_one() {
        for (pieces, expected) in [
            (&["bo", "om"][..], "boom\n"),
            (&["boom", "\n"], "boom\n"),
            (&["a\nb"], "a\nb\n"),
            (&[], ""),
        ] {
            let mut out = Vec::new();
            let mut writer = EndedLine::new(&mut out);
            for piece in pieces {
                writer.write_all(piece.as_bytes()).expect("memory takes it");
            }
            drop(writer);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
