//! Bytes → blocks of whole lines. Only `\n` ends a line.

use std::collections::VecDeque;

use super::array::{ArraySplitter, is_array};
use super::line::{Block, Ending, Line, Position};

/// Bytes of one read: large enough that the cost of system calls does not matter, small enough for
/// the cache. Miri is slow, and a fuzzer's inputs are short.
const READ_BYTES: usize = if cfg!(any(miri, fuzzing)) { 256 } else { 128 * 1024 };

/// Bytes of a read until one is full: a short stream touches little memory.
const FIRST_READ_BYTES: usize = READ_BYTES / 8;

/// Bytes that arrive, and the lines in them: no input or output, bounded memory.
///
/// A line above the limit is skipped to its end while only its length is counted; the next line is
/// read normally.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    buffer: Vec<u8>,
    /// The unread bytes are `buffer[start..end]`; those before `searched` hold no `\n`.
    start: usize,
    searched: usize,
    end: usize,
    line_bytes_max: u64,
    position: Position,
    has_ended: bool,
    /// Whether the stream is one array, as far as is known.
    is_array: Option<bool>,
    array: Option<ArraySplitter>,
    /// What the user says about it.
    wants_array: Option<bool>,
    /// The least room that a read is given.
    room: usize,
    /// An over-long line, of which nothing is kept.
    skipping: Option<Skipping>,
    ready: Option<Ready>,
}

#[derive(Debug, Clone, Copy)]
struct Skipping {
    total: u64,
    last: u8,
}

#[derive(Debug, Clone, Copy)]
enum Ready {
    Lines { end: usize, terminator: usize },
    Skipped { length: u64, total: u64, ending: Ending },
}

impl LineBuffer {
    /// Uses the memory of an earlier buffer. The limit is for each line, in bytes. Unless the user
    /// says whether the stream is one array, its first bytes show it.
    pub(crate) fn new(memory: Vec<u8>, line_bytes_max: u64, wants_array: Option<bool>) -> Self {
        let room = FIRST_READ_BYTES;
        Self { buffer: memory, line_bytes_max, wants_array, room, ..Self::default() }
    }

    /// Gives its memory to another buffer.
    pub(crate) fn into_memory(self) -> Vec<u8> {
        self.buffer
    }

    /// Bytes of the lines taken so far, terminators included; of an array, all that have come.
    pub(crate) fn bytes_taken(&self) -> u64 {
        self.array.as_ref().map_or(self.position.offset, ArraySplitter::bytes)
    }

    /// Whether it is known if the stream is one array. Until then there is nothing to take.
    pub(crate) fn has_begun(&self) -> bool {
        self.is_array.is_some()
    }

    pub(crate) fn array(&self) -> Option<&ArraySplitter> {
        self.array.as_ref()
    }

    /// The bytes that have arrived and have not been taken, as lines.
    pub(crate) fn unread(&self) -> &[u8] {
        if self.has_begun() { &self.buffer[self.start..self.end] } else { &[] }
    }

    /// Where the next bytes go: write to it, then call [`LineBuffer::filled`].
    pub(crate) fn room(&mut self) -> &mut [u8] {
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
        &mut self.buffer[self.end..]
    }

    /// So many bytes have been written to the room.
    pub(crate) fn filled(&mut self, count: usize) {
        let is_full = self.end + count == self.buffer.len();
        self.room = if is_full { READ_BYTES } else { self.room };
        let fresh = if self.has_begun() { self.end } else { self.start };
        self.end += count;
        if !self.has_begun() {
            self.begin();
        }
        if let (Some(array), Some(elements)) = (&mut self.array, &mut self.position.elements) {
            let bytes = &mut self.buffer[fresh..self.end];
            self.end = fresh + array.split(bytes, |start| elements.push_back(start));
        }
    }

    /// Finds out whether the stream is one array.
    fn begin(&mut self) {
        let bytes = &self.buffer[self.start..self.end];
        self.is_array = is_array(bytes, self.wants_array, self.has_ended);
        if self.is_array == Some(true) {
            self.array = Some(ArraySplitter::default());
            self.position.elements = Some(VecDeque::new());
        }
    }

    /// No more bytes will come: what follows the last `\n` is a line.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
        self.filled(0);
        if self.array.as_ref().is_some_and(ArraySplitter::lacks_line_end) {
            self.room()[0] = b'\n';
            self.end += 1;
        }
    }

    /// Whether there are lines to take. If not, more bytes are needed, or all has been taken.
    pub(crate) fn is_ready(&mut self) -> bool {
        self.ready = if self.has_begun() { self.find() } else { None };
        self.ready.is_some()
    }

    fn find(&mut self) -> Option<Ready> {
        if self.skipping.is_none() {
            let fresh = &self.buffer[self.searched..self.end];
            if let Some(last) = memchr::memrchr(b'\n', fresh) {
                return Some(Ready::Lines { end: self.searched + last + 1, terminator: 1 });
            }
            self.searched = self.end;
            // A final `\r` may turn out to belong to the terminator.
            let unread = &self.buffer[self.start..self.end];
            let carriage_return = u64::from(unread.ends_with(b"\r"));
            if unread.len() as u64 <= self.line_bytes_max.saturating_add(carriage_return) {
                let rest = self.has_ended && self.end > self.start;
                return rest.then_some(Ready::Lines { end: self.end, terminator: 0 });
            }
        }
        self.skip()
    }

    fn skip(&mut self) -> Option<Ready> {
        let unread = &self.buffer[self.start..self.end];
        let found = memchr::memchr(b'\n', unread);
        let part = &unread[..found.unwrap_or(unread.len())];
        let Skipping { total, last } = self.skipping.unwrap_or(Skipping { total: 0, last: 0 });
        let (total, last) = (total + part.len() as u64, part.last().copied().unwrap_or(last));
        self.start += part.len() + usize::from(found.is_some());
        self.searched = self.start;
        if found.is_none() && !self.has_ended {
            self.skipping = Some(Skipping { total, last });
            return None;
        }
        self.skipping = None;
        let ending = match (found, last) {
            (None, _) => Ending::EndOfStream,
            (Some(_), b'\r') => Ending::CrLf,
            (Some(_), _) => Ending::Lf,
        };
        let length = total - u64::from(ending == Ending::CrLf);
        let total = total + u64::from(found.is_some());
        Some(Ready::Skipped { length, total, ending })
    }

    /// The lines that are ready; empty if none are.
    pub(crate) fn take(&mut self) -> Block<'_> {
        let mut block = Block {
            bytes: &[],
            padded: &[],
            text: None,
            at: 0,
            terminator: 0,
            line_bytes_max: self.line_bytes_max,
            position: &mut self.position,
            skipped: None,
        };
        match self.ready.take() {
            Some(Ready::Lines { end, terminator }) => {
                let start = std::mem::replace(&mut self.start, end);
                self.searched = self.end;
                let bytes = &self.buffer[start..end];
                block.bytes = bytes;
                block.padded = if terminator == 0 { bytes } else { &self.buffer[start..] };
                block.text = simdutf8::basic::from_utf8(bytes).ok();
                block.terminator = terminator;
            }
            Some(Ready::Skipped { length, total, ending }) => {
                let line = block.position.line(&[], &[], ending, total);
                block.skipped = Some(Line { length, ..line });
            }
            None => {}
        }
        block
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Number, offset, length, bytes and ending of a line.
    type LineParts = (u64, u64, u64, Vec<u8>, Ending);

    /// Feeds a stream in chunks of at most `chunk` bytes.
    pub(crate) fn each_block(
        stream: &[u8],
        chunk: usize,
        max: u64,
        mut take: impl FnMut(Block<'_>),
    ) {
        let mut buffer = LineBuffer::new(Vec::new(), max, None);
        let mut chunks = stream.chunks(chunk.max(1));
        loop {
            while buffer.is_ready() {
                take(buffer.take());
            }
            let Some(bytes) = chunks.next() else { break };
            let mut bytes = bytes;
            while !bytes.is_empty() {
                let room = buffer.room();
                let count = room.len().min(bytes.len());
                room[..count].copy_from_slice(&bytes[..count]);
                buffer.filled(count);
                bytes = &bytes[count..];
            }
        }
        buffer.end();
        while buffer.is_ready() {
            take(buffer.take());
        }
    }

    fn rows(stream: &[u8], chunk: usize, max: u64) -> Vec<LineParts> {
        let mut rows = Vec::new();
        each_block(stream, chunk, max, |block| {
            rows.extend(block.map(|line| {
                assert_eq!(line.text().map(str::as_bytes), Some(line.bytes));
                (line.number, line.offset, line.length, line.bytes.to_vec(), line.ending)
            }));
        });
        rows
    }

    #[test]
    fn lines_have_number_offset_length_and_ending() {
        assert_eq!(
            rows(b"ab\n\r\ncd\r\n\xe2\x80\xa8e", 1 << 16, 100),
            [
                (1, 0, 2, b"ab".to_vec(), Ending::Lf),
                (2, 3, 0, b"".to_vec(), Ending::CrLf),
                (3, 5, 2, b"cd".to_vec(), Ending::CrLf),
                (4, 9, 4, b"\xe2\x80\xa8e".to_vec(), Ending::EndOfStream),
            ]
        );
        assert_eq!(rows(b"", 1, 100), []);
    }

    /// Goal: no cut of the bytes changes a line. Method: every limit, whole and byte by byte.
    #[test]
    fn over_long_lines_are_skipped_and_counted() {
        let stream = b"12345\n123456\r\n1234567\n\n123456789";
        for max in 0..12 {
            let whole = rows(stream, 1 << 16, max);
            for chunk in 1..8 {
                assert_eq!(whole, rows(stream, chunk, max), "limit {max}, chunks of {chunk}");
            }
            let lengths: Vec<u64> = whole.iter().map(|row| row.2).collect();
            assert_eq!(lengths, [5, 6, 7, 0, 9], "limit {max}");
            for row in whole {
                assert_eq!(row.3.len() as u64, if row.2 > max { 0 } else { row.2 });
            }
        }
    }

    /// Method: a line, a string, brackets and white space that do not end, also in an array.
    #[test]
    fn memory_stays_bounded_while_a_line_is_skipped() {
        for (first, rest) in [("", b'a'), ("[{\"a\":\"", b'a'), ("[{}", b'['), ("[{}", b' ')] {
            let mut buffer = LineBuffer::new(Vec::new(), 1_000, None);
            buffer.room()[..first.len()].copy_from_slice(first.as_bytes());
            buffer.filled(first.len());
            for _ in 0..100 {
                let room = buffer.room();
                room.fill(rest);
                let count = room.len();
                buffer.filled(count);
                assert!(!buffer.is_ready());
                assert!(buffer.buffer.len() <= 2 * READ_BYTES + 1_000);
            }
            buffer.end();
            assert!(buffer.is_ready());
            let line = buffer.take().next().expect("one line");
            assert!(line.is_too_long() && line.length > 75 * READ_BYTES as u64);
        }
    }

    #[test]
    fn bytes_count_when_their_lines_are_taken() {
        let mut buffer = LineBuffer::new(Vec::new(), 100, None);
        buffer.room()[..8].copy_from_slice(b"{}\n{}\r\n{");
        buffer.filled(8);
        assert!(buffer.is_ready());
        assert_eq!(buffer.bytes_taken(), 0);
        assert_eq!(buffer.take().count(), 2);
        assert_eq!(buffer.bytes_taken(), 7);
    }
}
