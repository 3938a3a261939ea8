//! Texts without the colours of a terminal.

use crate::finder::{Found, Search, Tail};

/// A text without colours, and where its bytes are in the text with them.
pub(crate) struct PlainText {
    pub(crate) text: Vec<u8>,
    /// Where each part between two escapes begins, here and in the text with colours.
    parts: Vec<(usize, usize)>,
    /// The length of the text with colours.
    length: usize,
}

impl PlainText {
    /// None if a text has no colours.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        memchr::memchr(0x1b, text)?;
        let (mut plain, mut parts, mut at) = (Vec::new(), vec![(0, 0)], 0);
        while at < text.len() {
            let rest = &text[at..];
            // An escape that is none of a colour stays.
            let escape = escape_length(rest);
            if escape == 0 {
                let end = memchr::memchr(0x1b, &rest[1..]).map_or(rest.len(), |end| end + 1);
                plain.extend_from_slice(&rest[..end]);
                at += end;
            } else {
                at += escape;
                parts.push((plain.len(), at));
            }
        }
        Some(Self { text: plain, parts, length: text.len() })
    }

    /// Where a place of the text with colours is in this one.
    pub(crate) fn place_of(&self, place: usize) -> usize {
        let part = self.parts.partition_point(|(_, at)| *at < place);
        let end = self.parts.get(part).map_or(self.text.len(), |(end, _)| *end);
        let Some((start, at)) = part.checked_sub(1).map(|part| self.parts[part]) else { return 0 };
        (start + place - at).min(end)
    }

    /// Where a byte of this text is in the text with colours.
    fn original_of(&self, place: usize) -> Option<usize> {
        let part = self.parts.partition_point(|(start, _)| *start <= place);
        let (start, at) = self.parts[part.checked_sub(1)?];
        (place < self.text.len()).then_some(at + place - start)
    }

    /// What was found in the text with colours, and in this one.
    pub(crate) fn joined(&self, search: Search, in_plain: Search) -> Search {
        let mut found: Vec<Found> = in_plain.found.iter().map(|it| self.moved(it)).collect();
        let is_apart = |it: &Found| {
            let next = found.partition_point(|own| own.range.end <= it.range.start);
            found.get(next).is_none_or(|own| it.range.end <= own.range.start)
        };
        let others: Vec<Found> = search.found.into_iter().filter(is_apart).collect();
        found.extend(others);
        found.sort_by_key(|it| it.range.start);
        let tail = in_plain.tail.map(|tail| Tail {
            start: self.original_of(tail.start).unwrap_or(self.length),
            cut: tail.cut.as_ref().map(|cut| self.moved(cut)),
        });
        Search { found, tail: tail.or(search.tail) }
    }

    fn moved(&self, found: &Found) -> Found {
        let end = match found.range.end.checked_sub(1).and_then(|last| self.original_of(last)) {
            _ if found.range.end == self.text.len() && found.may_go_on => self.length,
            Some(last) => last + 1,
            None => 0,
        };
        let start = self.original_of(found.range.start).unwrap_or(end);
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
