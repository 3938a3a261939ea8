//! Texts without the colours of a terminal.

use super::finder::{Found, Search, Tail};

/// A text without colours, and where its bytes are in the text with them.
pub(super) struct PlainText {
    pub(super) text: Vec<u8>,
    places: Vec<usize>,
    /// The length of the text with colours.
    length: usize,
}

impl PlainText {
    /// None if a text has no colours.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        memchr::memchr(0x1b, text)?;
        let (mut plain, mut places, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(byte) = text.get(at) {
            let escape = escape_length(&text[at..]);
            if escape == 0 {
                plain.push(*byte);
                places.push(at);
            }
            at += escape.max(1);
        }
        Some(Self { text: plain, places, length: text.len() })
    }

    /// Where a place of the text with colours is in this one.
    pub(super) fn place_of(&self, place: usize) -> usize {
        self.places.partition_point(|at| *at < place)
    }

    /// What was found in the text with colours, and in this one.
    pub(super) fn joined(&self, search: Search, in_plain: Search) -> Search {
        let mut found: Vec<Found> = in_plain.found.iter().map(|it| self.moved(it)).collect();
        let is_apart = |it: &Found| {
            found
                .iter()
                .all(|own| it.range.end <= own.range.start || it.range.start >= own.range.end)
        };
        let others: Vec<Found> = search.found.into_iter().filter(is_apart).collect();
        found.extend(others);
        found.sort_by_key(|it| it.range.start);
        let tail = in_plain.tail.map(|tail| Tail {
            start: self.places.get(tail.start).copied().unwrap_or(self.length),
            cut: tail.cut.as_ref().map(|cut| self.moved(cut)),
        });
        Search { found, tail: tail.or(search.tail) }
    }

    fn moved(&self, found: &Found) -> Found {
        let end = match found.range.end.checked_sub(1).and_then(|last| self.places.get(last)) {
            _ if found.range.end == self.text.len() && found.may_go_on => self.length,
            Some(last) => last + 1,
            None => 0,
        };
        let start = self.places.get(found.range.start).copied().unwrap_or(end);
        Found { range: start..end, ..*found }
    }
}

/// The length of an escape sequence that a text begins with: `ESC [ … letter`.
fn escape_length(text: &[u8]) -> usize {
    let Some(rest) = text.strip_prefix(b"\x1b[") else { return 0 };
    let parameters = rest.iter().take_while(|it| (b' '..=b'?').contains(it)).count();
    match rest.get(parameters) {
        Some(b'@'..=b'~') => 2 + parameters + 1,
        _ => 0,
    }
}
