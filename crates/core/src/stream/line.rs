//! One line, and a block of lines that have arrived.

use std::collections::VecDeque;

use super::array::ElementStart;
use crate::rules::escape::clipped;

/// What a finding shows of a line that is not an event, in bytes.
const LINE_START_BYTES_MAX: usize = 120;

/// One line of the stream, without its terminator; or one element of an array. A bad line is still
/// a line.
///
/// Source: NDJSON 1.0.0, §3.1 and §3.2; contract S1 and N1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// From 1, as in editors. Of an element, the line on which it begins.
    pub(crate) number: u64,
    /// The offset of its first byte in the stream, from 0.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Its bytes; empty, and so shorter than `length`, if the line is longer than the limit.
    pub(crate) bytes: &'a [u8],
    pub(crate) ending: Ending,
    /// Its bytes and what follows them in the buffer, for readers of whole blocks.
    pub(super) padded: &'a [u8],
    /// Its text, if it is known to be valid UTF-8.
    pub(super) text: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
    /// As an element of an array does: with `,` or `]`.
    Element,
    /// With the stream: there was no terminator.
    EndOfStream,
}

impl Ending {
    /// The terminator; an element gets one when it is written as a line.
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf | Self::Element => b"\n",
            Self::CrLf => b"\r\n",
            Self::EndOfStream => b"",
        }
    }
}

impl<'a> Line<'a> {
    /// A line outside a block; its number is not known.
    pub(crate) fn new(offset: u64, bytes: &'a [u8], ending: Ending) -> Self {
        let length = bytes.len() as u64;
        Self { number: 0, offset, length, bytes, ending, padded: bytes, text: None }
    }

    /// The rest of the line, from byte `at` on.
    pub(crate) fn rest(&self, at: usize) -> Self {
        let bytes = &self.bytes[at..];
        let (offset, length) = (self.offset + at as u64, bytes.len() as u64);
        Self { offset, length, bytes, padded: bytes, text: None, ..*self }
    }

    pub(crate) fn text(&self) -> Option<&'a str> {
        self.text.or_else(|| str::from_utf8(self.bytes).ok())
    }

    /// How the text of the line begins, for a finding about it; none if nothing can be seen.
    pub(crate) fn start(&self) -> Option<String> {
        let text = self.text()?.trim_start_matches('\u{feff}').trim();
        (!text.is_empty()).then(|| clipped(text, LINE_START_BYTES_MAX).into_owned())
    }

    /// Whether the line exceeded the limit and was skipped.
    pub(crate) fn is_too_long(&self) -> bool {
        (self.bytes.len() as u64) < self.length
    }

    /// What messages call it.
    pub(super) fn noun(&self) -> &'static str {
        if self.ending == Ending::Element { "element" } else { "line" }
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

/// Where in the stream the next line begins.
#[derive(Debug, Default)]
pub(super) struct Position {
    pub(super) lines: u64,
    pub(super) offset: u64,
    /// Of an array: where the elements begin that have not been taken.
    pub(super) elements: Option<VecDeque<ElementStart>>,
}

impl Position {
    /// The line that begins here and ends `total` bytes later, terminator included.
    #[inline]
    pub(super) fn line<'a>(
        &mut self,
        bytes: &'a [u8],
        padded: &'a [u8],
        ending: Ending,
        total: u64,
    ) -> Line<'a> {
        let Self { lines, offset, .. } = *self;
        (self.lines, self.offset) = (lines + 1, offset + total);
        let length = bytes.len() as u64;
        let line = Line { number: lines + 1, offset, length, bytes, ending, padded, text: None };
        match &mut self.elements {
            None => line,
            Some(elements) => element(line, elements),
        }
    }
}

/// A line as an element of the array in the stream.
fn element<'a>(line: Line<'a>, elements: &mut VecDeque<ElementStart>) -> Line<'a> {
    let Some(ElementStart { lines, offset }) = elements.pop_front() else { return line };
    let is_cut = line.ending == Ending::EndOfStream;
    let ending = if is_cut { Ending::EndOfStream } else { Ending::Element };
    Line { number: lines + 1, offset, ending, ..line }
}

/// Lines that have arrived. Lines that are not taken are not counted.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub(super) bytes: &'a [u8],
    /// The same, and what follows in the buffer.
    pub(super) padded: &'a [u8],
    /// The same as text, if all of it is valid UTF-8.
    pub(super) text: Option<&'a str>,
    /// The lines before this byte have been taken.
    pub(super) at: usize,
    /// 0 for the last line of a stream that does not end with `\n`, 1 otherwise.
    pub(super) terminator: usize,
    pub(super) line_bytes_max: u64,
    pub(super) position: &'a mut Position,
    /// A line that was too long to be kept.
    pub(super) skipped: Option<Line<'a>>,
}

impl<'a> Block<'a> {
    /// The text of the lines that are left, and the same with what follows it in the buffer, if
    /// all of it is valid and each line has its terminator.
    #[inline]
    pub(crate) fn rest(&self) -> Option<(&'a str, &'a [u8])> {
        let text = self.text.filter(|text| self.terminator > 0 && self.at < text.len())?;
        Some((&text[self.at..], &self.padded[self.at..]))
    }

    /// Takes the next line, whose length and ending are known; `None` if it is longer than the
    /// limit, or not known to be text.
    #[expect(clippy::inline_always, reason = "it is called for each line")]
    #[inline(always)]
    pub(crate) fn take(&mut self, length: usize, ending: Ending) -> Option<Line<'a>> {
        let text = self.text?;
        if length as u64 > self.line_bytes_max {
            return None;
        }
        let (text, padded) = (&text[self.at..self.at + length], &self.padded[self.at..]);
        let total = length + ending.bytes().len();
        self.at += total;
        let line = self.position.line(text.as_bytes(), padded, ending, total as u64);
        Some(Line { text: Some(text), ..line })
    }
}

impl<'a> Iterator for Block<'a> {
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
        let line = self.position.line(bytes, padded, ending, total as u64);
        if line.length > self.line_bytes_max {
            return Some(Line { bytes: &[], padded: &[], ..line });
        }
        Some(Line { text, ..line })
    }
}
