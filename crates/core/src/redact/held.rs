//! Lines that wait until it is clear what in them is secret.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

use ndjson_check_secrets::{Found, SecretFinder};

use super::written::located;

/// Lines in their order, and what is replaced in them.
#[derive(Debug, Default)]
pub(super) struct HeldLines {
    lines: VecDeque<HeldLine>,
    /// The number of the first of them, from 0.
    first: u64,
    bytes: usize,
}

#[derive(Debug)]
struct HeldLine {
    bytes: Vec<u8>,
    edits: Vec<Edit>,
}

#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    text: String,
}

/// A part of a string, or of a line that is not JSON.
#[derive(Debug, Clone)]
pub(super) struct TextPart {
    pub(super) line: u64,
    /// The bytes of the string, or of the line.
    pub(super) content: Range<usize>,
    /// Which part of its text.
    pub(super) part: Range<usize>,
    /// Whether it is a line that is not JSON, with a line feed behind it.
    pub(super) is_plain: bool,
}

impl HeldLines {
    /// Takes a line; returns its number.
    pub(super) fn push(&mut self, line: &[u8]) -> u64 {
        self.bytes += line.len();
        self.lines.push_back(HeldLine { bytes: line.to_vec(), edits: Vec::new() });
        self.first + self.lines.len() as u64 - 1
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Replaces parts of the text of a piece, which are in order.
    pub(super) fn replace<'t>(
        &mut self,
        piece: &TextPart,
        parts: impl IntoIterator<Item = (Range<usize>, &'t str)>,
    ) {
        let index = piece.line.checked_sub(self.first).and_then(|it| usize::try_from(it).ok());
        let Some(line) = index.and_then(|index| self.lines.get_mut(index)) else { return };
        let (parts, texts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let content = piece.content.clone();
        let ranges =
            if piece.is_plain { parts } else { located(&line.bytes[content.clone()], parts) };
        for (range, text) in ranges.into_iter().zip(texts) {
            let within = |at: usize| (content.start + at).min(content.end);
            let range = within(range.start)..within(range.end);
            if !range.is_empty() {
                line.edits.push(Edit { range, text: text.to_owned() });
            }
        }
    }

    /// Replaces what was found in the text of a piece.
    pub(super) fn replace_found<'f>(
        &mut self,
        piece: &TextPart,
        found: impl IntoIterator<Item = &'f Found>,
        finder: &SecretFinder,
    ) {
        let parts = found.into_iter().map(|it| (it.range.clone(), finder.replacement(it)));
        let parts: Vec<(Range<usize>, &str)> = parts.collect();
        if !parts.is_empty() {
            self.replace(piece, parts);
        }
    }

    /// Appends the lines before this number.
    pub(super) fn release(&mut self, before: u64, out: &mut Vec<u8>) {
        while self.first < before
            && let Some(line) = self.lines.pop_front()
        {
            self.first += 1;
            self.bytes -= line.bytes.len();
            line.write(out);
        }
    }
}

impl HeldLine {
    fn write(mut self, out: &mut Vec<u8>) {
        // The same secret may be found in a string, in a joined text, and in the line as a whole;
        // what was found last saw most.
        self.edits.reverse();
        self.edits.sort_by_key(|edit| (edit.range.start, Reverse(edit.range.end)));
        let mut from = 0;
        for Edit { range, text } in self.edits {
            if range.start >= from {
                out.extend_from_slice(&self.bytes[from..range.start]);
                out.extend_from_slice(text.as_bytes());
            }
            from = from.max(range.end);
        }
        out.extend_from_slice(&self.bytes[from..]);
    }
}
