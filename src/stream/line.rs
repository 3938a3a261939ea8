//! Stage 1: bytes → [`Line`]. The only place that cuts the stream, and it cuts at `\n` alone.

mod lines;

use std::io::{self, Read};

use crate::limits::{FIRST_READ_BYTES, READ_BYTES};

pub use lines::Lines;
use lines::Place;

/// One line of the stream, without its terminator.
///
/// Units: `number` counts lines from 1, as editors do; `offset` counts bytes of the stream from 0,
/// up to the first byte of the line; `length` is the size of the line in bytes.
///
/// Errors: none. A bad line is still a line, for a later stage to judge.
///
/// Source: NDJSON 1.0.0, §3.1 and §3.2; contract S1 and N1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The line's number, from 1.
    pub number: u64,
    /// The offset of its first byte in the stream, from 0.
    pub offset: u64,
    /// Its size in bytes, terminator not counted.
    pub length: u64,
    /// Its bytes; empty, and so shorter than `length`, when the line is longer than the limit.
    pub bytes: &'a [u8],
    /// How it ended.
    pub ending: Ending,
    /// Its bytes and what follows them in the reader's buffer, if that is kept.
    padded: &'a [u8],
    /// Its text, where that is known to be valid already.
    text: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// A line with nothing behind it.
    pub fn new(number: u64, offset: u64, bytes: &'a [u8], ending: Ending) -> Self {
        Self {
            number,
            offset,
            length: bytes.len() as u64,
            bytes,
            ending,
            padded: bytes,
            text: None,
        }
    }

    /// Its bytes and what follows them: first the terminator, then anything, for whoever reads
    /// whole blocks.
    pub fn padded(&self) -> &'a [u8] {
        self.padded
    }

    /// Its text, if it is valid UTF-8.
    pub fn text(&self) -> Option<&'a str> {
        self.text.or_else(|| str::from_utf8(self.bytes).ok())
    }

    /// Whether the line exceeded the reader's limit and was skipped.
    pub fn is_too_long(&self) -> bool {
        (self.bytes.len() as u64) < self.length
    }
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With `\n`.
    Lf,
    /// With `\r\n`.
    CrLf,
    /// With the stream: there was no terminator.
    EndOfStream,
}

/// Reads lines from a stream, with bounded memory.
///
/// A line above the limit is skipped to its end while only its length is counted; the next line
/// is read normally. Every line that is complete in the buffer is handed out before more is read,
/// so nothing waits for a full buffer.
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// The unread bytes are `buffer[start..end]`; those before `searched` hold no `\n`.
    start: usize,
    searched: usize,
    end: usize,
    line_bytes_max: u64,
    place: Place,
    ended: bool,
    /// The least room that a read is given.
    room: usize,
}

impl<R: Read> LineReader<R> {
    /// Reads `source`, with a limit for each line in bytes.
    pub fn new(source: R, line_bytes_max: u64) -> Self {
        Self::reusing(Vec::new(), source, line_bytes_max)
    }

    /// The same, in memory that has served another reader.
    pub fn reusing(buffer: Vec<u8>, source: R, line_bytes_max: u64) -> Self {
        Self {
            source,
            buffer,
            start: 0,
            searched: 0,
            end: 0,
            line_bytes_max,
            place: Place::default(),
            ended: false,
            room: FIRST_READ_BYTES,
        }
    }

    /// Closes the source, and leaves the memory for another reader.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Bytes of the stream handed out so far, terminators counted.
    pub fn bytes(&self) -> u64 {
        self.place.offset
    }

    /// The next lines: all that are complete by now, or what follows the last of them at the end
    /// of the stream; `None` behind that. Lines that are not taken are not counted.
    ///
    /// # Errors
    ///
    /// Those of the source, but for interruptions, which are retried.
    pub fn next_lines(&mut self) -> io::Result<Option<Lines<'_>>> {
        loop {
            let fresh = &self.buffer[self.searched..self.end];
            if let Some(last) = memchr::memrchr(b'\n', fresh) {
                return Ok(Some(self.take(self.searched + last + 1, 1)));
            }
            self.searched = self.end;
            // A final `\r` may turn out to belong to the terminator.
            let carriage_return = u64::from(self.buffer[self.start..self.end].ends_with(b"\r"));
            let unread = (self.end - self.start) as u64;
            if unread > self.line_bytes_max.saturating_add(carriage_return) {
                return self.skip_line().map(Some);
            }
            if self.ended || self.fill()? == 0 {
                self.ended = true;
                let rest = self.end > self.start;
                return Ok(rest.then(|| self.take(self.end, 0)));
            }
        }
    }

    /// Hands out `buffer[start..end]`, of which each line has a `terminator` of 0 or 1 bytes.
    fn take(&mut self, end: usize, terminator: usize) -> Lines<'_> {
        let start = std::mem::replace(&mut self.start, end);
        self.searched = self.end;
        let bytes = &self.buffer[start..end];
        Lines {
            bytes,
            padded: if terminator == 0 { bytes } else { &self.buffer[start..] },
            text: simdutf8::basic::from_utf8(bytes).ok(),
            at: 0,
            terminator,
            line_bytes_max: self.line_bytes_max,
            place: &mut self.place,
            skipped: None,
        }
    }

    /// Counts an over-long line to its end, keeping nothing of it.
    fn skip_line(&mut self) -> io::Result<Lines<'_>> {
        let mut total = (self.end - self.start) as u64;
        let mut last = self.buffer[self.end - 1];
        let ending = loop {
            (self.start, self.searched, self.end) = (0, 0, 0);
            if self.fill()? == 0 {
                self.ended = true;
                break Ending::EndOfStream;
            }
            let found = memchr::memchr(b'\n', &self.buffer[..self.end]);
            let stop = found.unwrap_or(self.end);
            total += stop as u64;
            if let Some(before) = stop.checked_sub(1) {
                last = self.buffer[before];
            }
            if found.is_some() {
                self.start = stop + 1;
                self.searched = self.start;
                break if last == b'\r' { Ending::CrLf } else { Ending::Lf };
            }
        };
        let length = total - u64::from(ending == Ending::CrLf);
        let terminator = u64::from(ending != Ending::EndOfStream);
        let line = self.place.line(&[], &[], ending, total + terminator);
        Ok(Lines {
            bytes: &[],
            padded: &[],
            text: None,
            at: 0,
            terminator: 0,
            line_bytes_max: self.line_bytes_max,
            place: &mut self.place,
            skipped: Some(Line { length, ..line }),
        })
    }

    /// Reads once more into the buffer; returns the number of bytes, 0 at the end of the stream.
    fn fill(&mut self) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.searched, self.end) = (0, 0, 0);
        }
        if self.buffer.len() - self.end < self.room {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.searched -= self.start;
                self.start = 0;
            }
            if self.buffer.len() - self.end < self.room {
                // By an eighth, not by doubling: one huge line costs 1.125 times its size.
                let larger = self.buffer.len() + (self.buffer.len() / 8).max(self.room);
                self.buffer.reserve_exact(larger - self.buffer.len());
                self.buffer.resize(larger, 0);
            }
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    let is_full = self.end + count == self.buffer.len();
                    self.room = if is_full { READ_BYTES } else { self.room };
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (u64, u64, u64, Vec<u8>, Ending);

    fn rows(stream: impl Read, max: u64) -> Vec<Row> {
        let mut reader = LineReader::new(stream, max);
        let mut rows = Vec::new();
        while let Some(lines) = reader.next_lines().expect("the stream reads") {
            rows.extend(lines.map(|line| {
                assert_eq!(line.text().map(str::as_bytes), Some(line.bytes));
                (line.number, line.offset, line.length, line.bytes.to_vec(), line.ending)
            }));
        }
        rows
    }

    /// A source that gives one byte per read and is interrupted before each.
    struct Trickle<'a>(&'a [u8], bool);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn lines_have_number_offset_length_and_ending() {
        let found = rows(&b"ab\n\r\ncd\r\n\xe2\x80\xa8e"[..], 100);
        assert_eq!(
            found,
            [
                (1, 0, 2, b"ab".to_vec(), Ending::Lf),
                (2, 3, 0, b"".to_vec(), Ending::CrLf),
                (3, 5, 2, b"cd".to_vec(), Ending::CrLf),
                (4, 9, 4, b"\xe2\x80\xa8e".to_vec(), Ending::EndOfStream),
            ]
        );
        assert_eq!(rows(&b""[..], 100), []);
    }

    /// Goal: no cut of the bytes changes a line. Method: every limit, whole and byte by byte.
    #[test]
    fn over_long_lines_are_skipped_and_counted() {
        let stream = b"12345\n123456\r\n1234567\n\n123456789";
        for max in 0..12 {
            let whole = rows(&stream[..], max);
            assert_eq!(whole, rows(Trickle(stream, false), max), "limit {max}");
            let lengths: Vec<u64> = whole.iter().map(|row| row.2).collect();
            assert_eq!(lengths, [5, 6, 7, 0, 9], "limit {max}");
            for row in whole {
                assert_eq!(row.3.len() as u64, if row.2 > max { 0 } else { row.2 });
            }
        }
    }

    #[test]
    fn memory_stays_bounded_while_a_line_is_skipped() {
        let mut reader = LineReader::new(io::repeat(b'a').take(50_000_000), 1_000);
        let mut lines = reader.next_lines().expect("the stream reads").expect("one line");
        let line = lines.next().expect("one line");
        assert!(line.is_too_long());
        assert_eq!(line.length, 50_000_000);
        assert!(reader.buffer.len() <= 2 * READ_BYTES + 1_000);
    }
}
