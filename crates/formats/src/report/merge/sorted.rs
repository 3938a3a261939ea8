//! Streams in the order of their paths, however many there are: what does not fit in memory is
//! sorted in parts, which wait in a file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::mem;

/// Streams that are held in memory, in bytes of their lines: the size of a part.
const PART_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What is read of a part at once, in bytes.
const CHUNK_BYTES: u64 = 16 * 1024;

/// The lines of one stream: its diagnostics, and then its result, if it has one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReportStream {
    pub(super) path: String,
    pub(super) lines: Vec<String>,
}

#[derive(Debug)]
pub(super) struct SortedStreams {
    held: Vec<ReportStream>,
    held_bytes: usize,
    part_bytes_max: usize,
    /// Opens the file for the parts; without it all streams are held.
    open: Option<fn() -> io::Result<File>>,
    file: Option<File>,
    parts: Vec<Part>,
}

/// A part in the file, as far as it was not read.
#[derive(Debug)]
struct Part {
    at: u64,
    end: u64,
    /// What was read of it, in its order, and where the rest begins.
    buffer: Vec<u8>,
    taken: usize,
}

impl Default for SortedStreams {
    fn default() -> Self {
        Self {
            held: Vec::new(),
            held_bytes: 0,
            part_bytes_max: PART_BYTES_MAX,
            open: None,
            file: None,
            parts: Vec::new(),
        }
    }
}

impl ReportStream {
    fn bytes(&self) -> usize {
        let lines = self.lines.iter().map(|line| line.len() + size_of::<String>());
        self.path.len() + size_of::<Self>() + lines.sum::<usize>()
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.path).chain(&self.lines)
    }
}

impl SortedStreams {
    pub(super) fn spilling_to(&mut self, open: fn() -> io::Result<File>) {
        self.open = Some(open);
    }

    pub(super) fn push(&mut self, stream: ReportStream) -> io::Result<()> {
        self.held_bytes += stream.bytes();
        self.held.push(stream);
        if self.held_bytes < self.part_bytes_max {
            return Ok(());
        }
        let Some(open) = self.open else { return Ok(()) };
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(open()?),
        };
        let mut held = mem::take(&mut self.held);
        self.held_bytes = 0;
        held.sort_unstable();
        self.parts.push(Part::write(&held, file)?);
        Ok(())
    }

    pub(super) fn each(
        mut self,
        mut pass: impl FnMut(&ReportStream) -> io::Result<()>,
    ) -> io::Result<()> {
        self.held.sort_unstable();
        let mut held = self.held.into_iter();
        let Some(mut file) = self.file else { return held.try_for_each(|stream| pass(&stream)) };
        // The next stream of each part; the streams that are held are the last part.
        let mut parts = self.parts;
        let count = parts.len() + 1;
        let mut next = |part: usize| match parts.get_mut(part) {
            Some(part) => part.next(&mut file),
            None => Ok(held.next()),
        };
        let mut first = BinaryHeap::new();
        for part in 0..count {
            first.extend(next(part)?.map(|stream| Reverse((stream, part))));
        }
        while let Some(Reverse((stream, part))) = first.pop() {
            pass(&stream)?;
            first.extend(next(part)?.map(|stream| Reverse((stream, part))));
        }
        Ok(())
    }
}

impl Part {
    /// Writes streams to the end of the file: each as the number of its texts, and the texts, each
    /// with its length.
    fn write(streams: &[ReportStream], file: &mut File) -> io::Result<Self> {
        let at = file.seek(SeekFrom::End(0))?;
        let mut writer = BufWriter::new(file);
        for stream in streams {
            writer.write_all(&(1 + stream.lines.len() as u64).to_le_bytes())?;
            for text in stream.texts() {
                writer.write_all(&(text.len() as u64).to_le_bytes())?;
                writer.write_all(text.as_bytes())?;
            }
        }
        let end = writer.into_inner().map_err(io::IntoInnerError::into_error)?.stream_position()?;
        Ok(Self { at, end, buffer: Vec::new(), taken: 0 })
    }

    fn next(&mut self, file: &mut File) -> io::Result<Option<ReportStream>> {
        if self.at == self.end && self.taken == self.buffer.len() {
            return Ok(None);
        }
        let lines = self.number(file)?.saturating_sub(1);
        let path = self.text(file)?;
        let lines = (0..lines).map(|_| self.text(file)).collect::<io::Result<_>>()?;
        Ok(Some(ReportStream { path, lines }))
    }

    fn text(&mut self, file: &mut File) -> io::Result<String> {
        let length = self.number(file)?;
        let bytes = self.bytes(length, file)?.to_vec();
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    fn number(&mut self, file: &mut File) -> io::Result<u64> {
        let mut number = [0; 8];
        number.copy_from_slice(self.bytes(8, file)?);
        Ok(u64::from_le_bytes(number))
    }

    fn bytes(&mut self, count: u64, file: &mut File) -> io::Result<&[u8]> {
        let left = (self.buffer.len() - self.taken) as u64;
        if left < count {
            self.buffer.drain(..self.taken);
            self.taken = 0;
            let wanted = CHUNK_BYTES.max(count - left).min(self.end - self.at);
            file.seek(SeekFrom::Start(self.at))?;
            self.at += file.take(wanted).read_to_end(&mut self.buffer)? as u64;
        }
        let end = usize::try_from(count).ok().and_then(|count| self.taken.checked_add(count));
        let range = end.map(|end| self.taken..end);
        let bytes = range.clone().and_then(|range| self.buffer.get(range));
        let bytes = bytes.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.taken = range.map_or(0, |range| range.end);
        Ok(bytes)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use super::*;

    /// Goal: parts in a file make no difference.
    /// Method: the same streams in an order of no meaning, held and in parts of few bytes.
    #[test]
    fn parts_come_in_the_order_of_all() {
        let open = || {
            let path = std::env::temp_dir().join(format!("parts-{}", std::process::id()));
            let mut options = File::options();
            let file = options.read(true).write(true).create_new(true).open(&path)?;
            std::fs::remove_file(path)?;
            Ok(file)
        };
        let collected = |part_bytes_max: usize, open: Option<fn() -> io::Result<File>>| {
            let mut streams = SortedStreams { part_bytes_max, open, ..SortedStreams::default() };
            for number in 0..3_000_u64 {
                let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
                // A long one does not fit what is read at once.
                let long = if number % 500 == 0 { 40_000 } else { 3 };
                let lines = (0..number % 4).map(|line| format!("{line}{}", "x".repeat(long)));
                let path = format!("{number}");
                streams.push(ReportStream { path, lines: lines.collect() }).unwrap();
            }
            let parts = streams.parts.len();
            let mut all = Vec::new();
            streams
                .each(|it| {
                    all.extend(it.texts().cloned());
                    Ok(())
                })
                .unwrap();
            (parts, all)
        };
        let (none, held) = collected(1, None);
        let (many, sorted) = collected(5_000, Some(open));
        assert!(none == 0 && many > 50 && held.len() > 3_000, "{many}");
        assert_eq!(held, sorted);
    }
}
