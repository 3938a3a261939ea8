//! Lines that have arrived, one after the other.

use super::{Ending, Line};

/// Where in the stream the next line begins.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Lines before it.
    pub(super) lines: u64,
    /// Bytes before it.
    pub(super) offset: u64,
}

impl Place {
    /// The line that begins here and ends `total` bytes later, its terminator counted.
    pub(super) fn line<'a>(
        &mut self,
        bytes: &'a [u8],
        padded: &'a [u8],
        ending: Ending,
        total: u64,
    ) -> Line<'a> {
        let Self { lines, offset } = *self;
        *self = Self { lines: lines + 1, offset: offset + total };
        let length = bytes.len() as u64;
        Line { number: lines + 1, offset, length, bytes, ending, padded, text: None }
    }
}

/// Lines that have arrived.
#[derive(Debug)]
pub struct Lines<'a> {
    /// All of them.
    pub(super) bytes: &'a [u8],
    /// The same, and what follows in the buffer.
    pub(super) padded: &'a [u8],
    /// The same as text, if all of them are valid UTF-8.
    pub(super) text: Option<&'a str>,
    /// Those before this place have been taken.
    pub(super) at: usize,
    pub(super) terminator: usize,
    pub(super) line_bytes_max: u64,
    pub(super) place: &'a mut Place,
    /// A line that was too long to be kept.
    pub(super) skipped: Option<Line<'a>>,
}

impl<'a> Lines<'a> {
    /// Bytes of the lines that are left, terminators counted.
    pub fn left(&self) -> u64 {
        (self.bytes.len() - self.at) as u64
    }

    /// The text of the lines that are left, and the same with what follows it in the buffer; only
    /// if there are some, all of it is valid, and each line has its terminator.
    #[inline]
    pub fn rest(&self) -> Option<(&'a str, &'a [u8])> {
        let text = self.text.filter(|text| self.terminator > 0 && self.at < text.len())?;
        Some((&text[self.at..], &self.padded[self.at..]))
    }

    /// Takes the next line, of which is known how long it is and how it ends; `None` if it is
    /// longer than the limit, or not known to be text.
    #[inline]
    pub fn take(&mut self, length: usize, ending: Ending) -> Option<Line<'a>> {
        let terminator = match ending {
            Ending::Lf => 1,
            Ending::CrLf => 2,
            Ending::EndOfStream => 0,
        };
        let text = self.text?;
        if length as u64 > self.line_bytes_max {
            return None;
        }
        let (text, padded) = (&text[self.at..self.at + length], &self.padded[self.at..]);
        let total = length + terminator;
        self.at += total;
        let line = self.place.line(text.as_bytes(), padded, ending, total as u64);
        Some(Line { text: Some(text), ..line })
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    #[inline]
    fn next(&mut self) -> Option<Line<'a>> {
        let (left, padded) = (&self.bytes[self.at..], &self.padded[self.at..]);
        if left.is_empty() {
            return self.skipped.take();
        }
        let end = if self.terminator == 0 {
            left.len()
        } else {
            memchr::memchr(b'\n', left).unwrap_or(left.len())
        };
        let bytes = &left[..end];
        let (bytes, ending) = match (self.terminator, bytes.last()) {
            (0, _) => (bytes, Ending::EndOfStream),
            (_, Some(b'\r')) => (&bytes[..end - 1], Ending::CrLf),
            (_, _) => (bytes, Ending::Lf),
        };
        let total = (end + self.terminator).min(left.len());
        let text = self.text.map(|text| &text[self.at..self.at + bytes.len()]);
        self.at += total;
        let line = self.place.line(bytes, padded, ending, total as u64);
        if line.length > self.line_bytes_max {
            return Some(Line { bytes: &[], padded: &[], ..line });
        }
        Some(Line { text, ..line })
    }
}
