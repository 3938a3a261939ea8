//! Replaces secrets in the lines of a stream, also where several events make one text.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::finder::{CONTEXT_BYTES, Found, Search, SecretFinder, TextEnd};
use super::written::{WrittenString, decoded, located, strings};
use crate::limits::{HELD_BYTES_MAX, HELD_LINES_MAX};

/// Replaces secrets line by line. A line that ends with what may be the start of a secret waits
/// for those that follow.
#[derive(Debug)]
pub(super) struct SecretLines {
    finder: SecretFinder,
    /// The number of the next line.
    next: u64,
    /// Lines that wait, in their order, up to the one before `next`.
    held: VecDeque<HeldLine>,
    held_bytes: usize,
    /// By the place of their string: texts that may go on in a later line.
    open: BTreeMap<u64, OpenText>,
}

#[derive(Debug, Default)]
struct HeldLine {
    bytes: Vec<u8>,
    edits: Vec<Edit>,
}

/// Bytes of a line, and what replaces them.
#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    text: String,
}

/// What may be the start of a secret.
#[derive(Debug)]
struct OpenText {
    /// What came before it shows whether a word begins here.
    context: usize,
    /// The context and the text.
    text: Vec<u8>,
    /// The strings that the text comes from, without the context.
    pieces: Vec<Piece>,
    /// The line of the last of them.
    line: u64,
}

/// The end of a string, or all of it.
#[derive(Debug)]
struct Piece {
    line: u64,
    content: Range<usize>,
    /// Which part of its text.
    part: Range<usize>,
    /// Whether it is a line that is not JSON, with a line feed behind it.
    is_plain: bool,
}

/// The place of lines that are not JSON.
const PLAIN: u64 = u64::MAX;

impl SecretLines {
    pub(super) fn new(finder: SecretFinder) -> Self {
        let (held, open) = (VecDeque::new(), BTreeMap::new());
        Self { finder, next: 1, held, held_bytes: 0, open }
    }

    /// Takes a line with its terminator; appends the lines that are ready.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let number = self.next;
        self.next += 1;
        self.held_bytes += line.len();
        self.held.push_back(HeldLine { bytes: line.to_vec(), edits: Vec::new() });
        let body = line.trim_ascii_end();
        let is_other = strings(body, |string| self.string(body, number, string));
        if is_other {
            let piece = Piece {
                line: number,
                content: 0..body.len(),
                part: 0..body.len() + 1,
                is_plain: true,
            };
            self.text(PLAIN, &[body, b"\n"].concat(), piece, TextEnd::Open);
        }
        let is_over = |open: &OpenText| open.line + HELD_LINES_MAX <= number;
        if self.held_bytes > HELD_BYTES_MAX {
            self.close(|_| true);
        } else if !self.open.is_empty() {
            self.close(is_over);
        }
        self.release(out);
    }

    /// The end of the stream.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.close(|_| true);
        self.release(out);
    }

    fn string(&mut self, line: &[u8], number: u64, string: WrittenString) {
        let WrittenString { content, place, is_key, is_cut } = string;
        let text = decoded(&line[content.clone()]);
        let piece = Piece { line: number, content, part: 0..text.len(), is_plain: false };
        if is_key {
            let found = self.finder.search(&text, 0, TextEnd::Final).found;
            self.replace(&found, 0, &[piece]);
        } else {
            let end = if is_cut { TextEnd::Cut } else { TextEnd::Open };
            self.text(place, &text, piece, end);
        }
    }

    /// Searches a text that may go on what came at the same place before.
    fn text(&mut self, place: u64, text: &[u8], piece: Piece, end: TextEnd) {
        let Some(mut open) = self.open.remove(&place) else {
            let search = self.finder.search(text, 0, end);
            if !search.found.is_empty() || search.open.is_some() {
                self.decide(place, text, 0, vec![piece], &search);
            }
            return;
        };
        open.text.extend_from_slice(text);
        open.pieces.push(piece);
        let search = self.finder.search(&open.text, open.context, end);
        self.decide(place, &open.text, open.context, open.pieces, &search);
    }

    /// Replaces what was found, and keeps what is open.
    fn decide(
        &mut self,
        place: u64,
        text: &[u8],
        context: usize,
        pieces: Vec<Piece>,
        search: &Search,
    ) {
        self.replace(&search.found, context, &pieces);
        if let Some(at) = search.open {
            self.keep_open(place, text, at, context, pieces);
        }
    }

    /// Keeps what is behind `at`; `pieces` are those of the text behind the context.
    fn keep_open(
        &mut self,
        place: u64,
        text: &[u8],
        at: usize,
        context: usize,
        pieces: Vec<Piece>,
    ) {
        let Some(line) = pieces.last().map(|piece| piece.line) else { return };
        let mut skipped = at - context;
        let pieces = pieces.into_iter().filter_map(|mut piece| {
            let skip = skipped.min(piece.part.len());
            skipped -= skip;
            piece.part.start += skip;
            (!piece.part.is_empty()).then_some(piece)
        });
        let pieces = pieces.collect();
        let first = at.saturating_sub(CONTEXT_BYTES);
        let text = text[first..].to_vec();
        self.open.insert(place, OpenText { context: at - first, text, pieces, line });
    }

    /// Replaces what was found in a text; the first piece of a secret gets the replacement.
    fn replace(&mut self, found: &[Found], context: usize, pieces: &[Piece]) {
        for found in found {
            let replacement = self.finder.replacement(found);
            let (mut start, mut is_first) = (context, true);
            for piece in pieces {
                let range =
                    found.range.start.max(start)..found.range.end.min(start + piece.part.len());
                if range.start < range.end
                    // Every line of a piece waits.
                    && let Ok(behind) = usize::try_from(self.next - piece.line)
                    && let Some(index) = self.held.len().checked_sub(behind)
                {
                    let offset = |at: usize| piece.part.start + at - start;
                    let within = offset(range.start)..offset(range.end);
                    let text = if is_first || piece.is_plain { replacement } else { "" };
                    self.held[index].edit(piece, within, text);
                    is_first = false;
                }
                start += piece.part.len();
            }
        }
    }

    /// Decides about texts as they are.
    fn close(&mut self, is_over: impl Fn(&OpenText) -> bool) {
        let places: Vec<u64> =
            self.open.iter().filter(|(_, open)| is_over(open)).map(|(place, _)| *place).collect();
        for place in places {
            if let Some(OpenText { context, text, pieces, .. }) = self.open.remove(&place) {
                let search = self.finder.search(&text, context, TextEnd::Final);
                self.replace(&search.found, context, &pieces);
            }
        }
    }

    /// Appends the lines that nothing waits for.
    fn release(&mut self, out: &mut Vec<u8>) {
        let first = self.open.values().filter_map(|open| open.pieces.first()).map(|it| it.line);
        let waiting = first.min().map_or(0, |line| self.next - line);
        while self.held.len() as u64 > waiting
            && let Some(line) = self.held.pop_front()
        {
            self.held_bytes -= line.bytes.len().min(self.held_bytes);
            line.write(out);
        }
        if self.held.is_empty() {
            self.held_bytes = 0;
        }
    }
}

impl HeldLine {
    /// Replaces a part of the text of a piece.
    fn edit(&mut self, piece: &Piece, within: Range<usize>, text: &str) {
        let content = piece.content.clone();
        let range = if piece.is_plain {
            within.start.min(content.end)..within.end.min(content.end)
        } else {
            let written = located(&self.bytes[content.clone()], within);
            content.start + written.start..content.start + written.end
        };
        if !range.is_empty() {
            self.edits.push(Edit { range, text: text.to_owned() });
        }
    }

    fn write(mut self, out: &mut Vec<u8>) {
        self.edits.sort_by_key(|edit| edit.range.start);
        let mut from = 0;
        for Edit { range, text } in self.edits {
            // The same was found in a string, and in the line as a whole.
            if range.end <= from {
                continue;
            }
            out.extend_from_slice(&self.bytes[from..range.start.max(from)]);
            out.extend_from_slice(text.as_bytes());
            from = range.end;
        }
        out.extend_from_slice(&self.bytes[from..]);
    }
}
