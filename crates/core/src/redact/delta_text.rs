//! A text that comes in deltas, as the profile says: its lines are searched as a whole.
//!
//! What a search finds in a line does not depend on how the text was cut. So a delta waits until
//! its line of text is complete, and longer while a secret that was found may go on.

use ndjson_check_secrets::{Found, PRIVATE_KEY_BYTES_MAX, SecretFinder};

use super::held::{HeldLines, TextPart};
use crate::limits::TEXT_LINE_BYTES_MAX;

/// How much of the text before a line is kept, in bytes: a name or a command there may show what is
/// a secret in the line.
const BEFORE_BYTES: usize = 512;

/// How long a text may wait, in bytes: as long as a private key, and a line behind it.
const WAITING_BYTES_MAX: usize = PRIVATE_KEY_BYTES_MAX + TEXT_LINE_BYTES_MAX;

/// The end of a text, until its line is complete.
#[derive(Debug, Default)]
pub(super) struct DeltaText {
    text: Vec<u8>,
    /// How much of it has been decided before.
    decided: usize,
    /// What makes the rest.
    pieces: Vec<TextPart>,
    /// The size of the text at which it is searched next.
    search_at: usize,
}

impl DeltaText {
    /// The first line of the stream that waits for it.
    pub(super) fn first_line(&self) -> Option<u64> {
        self.pieces.first().map(|piece| piece.line)
    }

    /// Takes a delta; its text is all of the piece.
    pub(super) fn push(
        &mut self,
        text: &[u8],
        piece: TextPart,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) {
        let ends_line = memchr::memchr(b'\n', text).is_some();
        self.text.extend_from_slice(text);
        self.pieces.push(piece);
        let waiting = self.text.len() - self.decided;
        if waiting > WAITING_BYTES_MAX {
            self.decide(finder, held);
            if self.text.len() - self.decided > WAITING_BYTES_MAX {
                self.end(true, finder, held);
            }
        } else if (ends_line || waiting > TEXT_LINE_BYTES_MAX) && self.text.len() >= self.search_at
        {
            self.decide(finder, held);
        }
    }

    /// No more of the text comes; if it was cut, its end may be the start of a secret.
    pub(super) fn end(&mut self, is_cut: bool, finder: &SecretFinder, held: &mut HeldLines) {
        if self.pieces.is_empty() {
            return;
        }
        let search = finder.search(&self.text, self.decided);
        let cut = search.tail.and_then(|tail| tail.cut).filter(|_| is_cut);
        self.replace(search.found.iter().chain(&cut), finder, held);
        self.forget(self.text.len());
    }

    /// Decides about what no later delta can change.
    fn decide(&mut self, finder: &SecretFinder, held: &mut HeldLines) {
        let is_long = self.text.len() - self.decided > TEXT_LINE_BYTES_MAX;
        let line_end = memchr::memrchr(b'\n', &self.text).map_or(0, |at| at + 1);
        // What a part of a line looks like, the whole line may not. Of a very long line the end
        // waits.
        let (known, mut until) = if is_long && line_end <= self.decided {
            (self.text.len(), self.text.len() - TEXT_LINE_BYTES_MAX / 2)
        } else {
            (line_end, line_end)
        };
        let search = finder.search(&self.text[..known], self.decided);
        until = until.min(search.tail.as_ref().map_or(until, |tail| tail.start));
        let is_open = |found: &&Found| {
            found.may_go_on || found.range.end > until || found.lacks_end(&self.text)
        };
        until = until.min(search.found.iter().find(is_open).map_or(until, |it| it.range.start));
        let decided = search.found.iter().filter(|found| found.range.end <= until);
        self.replace(decided, finder, held);
        self.forget(until);
        // What stays open is not searched again for each line that follows.
        self.search_at = self.text.len() + (self.text.len() - self.decided) / 4;
    }

    /// Replaces secrets, which are in order; the first piece of each gets the replacement.
    fn replace<'f>(
        &self,
        found: impl Iterator<Item = &'f Found>,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) {
        let mut found = found.peekable();
        let mut start = self.decided;
        for piece in &self.pieces {
            let end = start + piece.part.len();
            let mut parts = Vec::new();
            while let Some(secret) = found.peek().filter(|secret| secret.range.start < end) {
                let range = &secret.range;
                let offset = |at: usize| piece.part.start + at - start;
                let text = if range.start >= start { finder.replacement(secret) } else { "" };
                let part = offset(range.start.max(start))..offset(range.end.min(end));
                parts.push((part, text));
                if range.end > end {
                    break;
                }
                found.next();
            }
            held.replace(piece, parts);
            start = end;
        }
    }

    /// Everything before this place has been decided.
    fn forget(&mut self, until: usize) {
        let until = until.max(self.decided);
        let mut start = self.decided;
        self.pieces.retain_mut(|piece| {
            let end = start + piece.part.len();
            let left = end.saturating_sub(until).min(piece.part.len());
            piece.part.start = piece.part.end - left;
            start = end;
            left > 0
        });
        let before = until.saturating_sub(BEFORE_BYTES);
        self.text.drain(..before);
        self.decided = until - before;
    }
}
