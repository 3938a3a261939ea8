//! One pass over one JSON text: a flat record of its values, which borrows every string.
//!
//! The plain parser accepts every text that [`Tape::read`] accepts, with the same values, and finds
//! no duplicate keys in it. A text that the tape refuses may be anything: the plain parser decides.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod cursor;
mod digits;
mod string_end;
mod unescape;

use std::borrow::Cow;

use crate::limits::{DEPTH_MAX, ENTRIES_KEPT_MAX};

pub(crate) use cursor::{Cursor, Doc, ENTRIES_NOTED};
pub(crate) use digits::{DIGITS_MAX, decimal, digits};
pub(crate) use string_end::{StringEnd, string_end};
pub(crate) use unescape::{chunks, escape, hexadecimal, starts_with, unescaped};

/// Keys of one object that are compared one by one; more are sorted.
const KEYS_COMPARED_MAX: u32 = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    False,
    True,
    Number,
    /// A string, or a key.
    String,
    Array,
    Object,
}

/// A value, a key, or the end of a container, which follows the parts of the container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The first byte in the text, without the quote of a string. For the end of a container: its
    /// number of members or items.
    pub(crate) start: u32,
    /// The byte after it in the text. For the start of a container: the entry after its end.
    pub(crate) end: u32,
    pub(crate) kind: Kind,
    /// A string without escapes, or a number without fraction and exponent.
    pub(crate) plain: bool,
    /// For a key without escapes: different traces are different keys.
    trace: u16,
}

/// The record of one text at a time; the next one reuses its memory.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    entries: Vec<Entry>,
}

impl Tape {
    /// Reads the first `length` of `bytes`, which are valid UTF-8. After them come a line ending
    /// and anything, or nothing; 64 more bytes make reading faster.
    ///
    /// True for one JSON text without duplicate keys, within the limits of the plain parser.
    pub(crate) fn read(&mut self, bytes: &[u8], length: usize) -> bool {
        // A carriage return of the line ending is a blank, too.
        self.parse(bytes, false).is_some_and(|end| end >= length)
    }

    /// Reads all of `bytes`, which may have duplicate keys: only the last member of a key is kept.
    pub(crate) fn read_with_duplicates(&mut self, bytes: &[u8]) -> bool {
        self.parse(bytes, true) == Some(bytes.len())
    }

    /// Reads the first line of `bytes`; its length, if it ends with a line feed and is a text that
    /// `read` accepts. The length includes a carriage return before the line feed.
    pub(crate) fn read_line(&mut self, bytes: &[u8]) -> Option<usize> {
        let end = self.parse(bytes, false)?;
        (bytes.get(end) == Some(&b'\n')).then_some(end)
    }

    /// The end of the value at the start of the bytes, and of the blanks after it.
    fn parse(&mut self, bytes: &[u8], keeps_last: bool) -> End {
        self.entries.clear();
        u32::try_from(bytes.len()).ok()?;
        let mut parser = Parser { bytes, entries: &mut self.entries, keeps_last };
        let start = parser.blanks(0);
        let end = parser.value(start, DEPTH_MAX)?;
        Some(parser.blanks(end))
    }

    /// Forgets the latest text, and frees its memory if that is much.
    pub(crate) fn forget(&mut self) {
        self.entries.clear();
        self.entries.shrink_to(ENTRIES_KEPT_MAX);
    }

    /// The record of `text`, which must be the last one read.
    pub(crate) fn doc<'a>(&'a self, text: &'a str) -> Doc<'a> {
        Doc::new(text, &self.entries)
    }
}

/// Where a part of the text ends; `None` if it is not valid.
type End = Option<usize>;

struct Parser<'a> {
    bytes: &'a [u8],
    entries: &'a mut Vec<Entry>,
    /// Whether an object may have duplicate keys.
    keeps_last: bool,
}

impl Parser<'_> {
    fn byte(&self, at: usize) -> u8 {
        // A line contains no line feed, so it can mean "the end".
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn blanks(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), b' ' | b'\t' | b'\r') {
            at += 1;
        }
        at
    }

    #[expect(clippy::cast_possible_truncation, reason = "a text is shorter than 4 GiB")]
    fn push(&mut self, kind: Kind, start: usize, end: usize, plain: bool) {
        let (start, end) = (start as u32, end as u32);
        self.entries.push(Entry { start, end, kind, plain, trace: 0 });
    }

    fn value(&mut self, at: usize, levels: usize) -> End {
        match self.byte(at) {
            b'"' => self.string(at),
            b'{' => self.object(at, levels.checked_sub(1)?),
            b'[' => self.array(at, levels.checked_sub(1)?),
            b'-' | b'0'..=b'9' => self.number(at),
            b't' => self.word(at, b"true", Kind::True),
            b'f' => self.word(at, b"false", Kind::False),
            b'n' => self.word(at, b"null", Kind::Null),
            _ => None,
        }
    }

    fn word(&mut self, at: usize, word: &[u8], kind: Kind) -> End {
        let end = at + word.len();
        (self.bytes.get(at..end)? == word).then(|| self.push(kind, at, end, true))?;
        Some(end)
    }

    fn string(&mut self, quote: usize) -> End {
        let start = quote + 1;
        let StringEnd { at, plain } = string_end(self.bytes, start)?;
        self.push(Kind::String, start, at, plain);
        Some(at + 1)
    }

    fn digits(&self, mut at: usize) -> usize {
        loop {
            let count = digits(self.bytes, at);
            at += count;
            if count < 16 {
                return at;
            }
        }
    }

    fn number(&mut self, start: usize) -> End {
        let whole = start + usize::from(self.byte(start) == b'-');
        let mut at = self.digits(whole);
        let digits = at - whole;
        if digits == 0 || (digits > 1 && self.byte(whole) == b'0') {
            return None;
        }
        let mut plain = true;
        if self.byte(at) == b'.' {
            plain = false;
            let fraction = at + 1;
            at = self.digits(fraction);
            (at > fraction).then_some(())?;
        }
        if matches!(self.byte(at), b'e' | b'E') {
            plain = false;
            let sign = usize::from(matches!(self.byte(at + 1), b'+' | b'-'));
            let exponent = at + 1 + sign;
            at = self.digits(exponent);
            (at > exponent).then_some(())?;
            // Only these, and very long numbers, can exceed a double.
            self.is_finite(start, at).then_some(())?;
        } else if digits > 300 {
            self.is_finite(start, at).then_some(())?;
        }
        self.push(Kind::Number, start, at, plain);
        Some(at)
    }

    fn is_finite(&self, start: usize, end: usize) -> bool {
        let text = str::from_utf8(&self.bytes[start..end]).unwrap_or_default();
        text.parse::<f64>().is_ok_and(f64::is_finite)
    }

    fn array(&mut self, at: usize, levels: usize) -> End {
        let own = self.entries.len();
        self.push(Kind::Array, at, 0, true);
        let mut at = self.blanks(at + 1);
        let mut count = 0;
        if self.byte(at) != b']' {
            loop {
                count += 1;
                at = self.value(at, levels)?;
                at = self.blanks(at);
                match self.byte(at) {
                    b',' => at = self.blanks(at + 1),
                    b']' => break,
                    _ => return None,
                }
            }
        }
        self.close(own, count, at + 1);
        Some(at + 1)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a text is shorter than 4 GiB")]
    fn object(&mut self, at: usize, levels: usize) -> End {
        let own = self.entries.len();
        self.push(Kind::Object, at, 0, true);
        let mut at = self.blanks(at + 1);
        let mut keys = Keys::default();
        if self.byte(at) != b'}' {
            loop {
                if self.byte(at) != b'"' {
                    return None;
                }
                at = self.string(at)?;
                keys.add(self.bytes, self.entries, own);
                at = self.blanks(at);
                if self.byte(at) != b':' {
                    return None;
                }
                at = self.blanks(at + 1);
                at = self.value(at, levels)?;
                at = self.blanks(at);
                match self.byte(at) {
                    b',' => at = self.blanks(at + 1),
                    b'}' => break,
                    _ => return None,
                }
            }
        }
        if keys.has_duplicates || keys.count > KEYS_COMPARED_MAX {
            let dropped = duplicates(self.bytes, self.entries, own);
            if !dropped.is_empty() {
                self.keeps_last.then(|| remove_members(self.entries, own, &dropped))?;
                keys.count -= dropped.len() as u32;
            }
        }
        self.close(own, keys.count, at + 1);
        Some(at + 1)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a text is shorter than 4 GiB")]
    fn close(&mut self, own: usize, count: u32, end: usize) {
        let kind = self.entries[own].kind;
        self.push(kind, count as usize, end, true);
        self.entries[own].end = self.entries.len() as u32;
    }
}

/// The keys of one object so far: their number, and a bit for each trace.
#[derive(Default)]
struct Keys {
    count: u32,
    traces: u64,
    has_duplicates: bool,
}

impl Keys {
    /// Adds the key that is the last of the entries.
    fn add(&mut self, bytes: &[u8], entries: &mut [Entry], object: usize) {
        let Some(key) = entries.last_mut() else { return };
        key.trace = trace(&bytes[key.start as usize..key.end as usize]);
        let (plain, trace) = (key.plain, 1 << (key.trace & 63));
        self.count += 1;
        if self.count > KEYS_COMPARED_MAX {
            return; // The end of the object sorts them.
        }
        let seen = self.traces & trace != 0 || !plain;
        // A key with escapes may equal any other.
        self.traces |= if plain { trace } else { u64::MAX };
        self.has_duplicates |= seen && repeats(bytes, entries, object);
    }
}

/// Different traces are different keys.
#[expect(clippy::cast_possible_truncation, reason = "any bits of the length will do")]
#[inline]
fn trace(key: &[u8]) -> u16 {
    let [first, .., last] = key else {
        return u16::from(key.first().copied().unwrap_or(u8::MAX));
    };
    let [first, middle, last] = [*first, key[key.len() / 2], *last].map(u16::from);
    ((key.len() as u16) << 8) ^ (key.len() as u16) ^ first ^ (last << 3) ^ (middle << 6)
}

/// Whether the last key of an object that is still open occurs in it before.
#[cold]
fn repeats(bytes: &[u8], entries: &[Entry], object: usize) -> bool {
    let last = entries.len() - 1;
    let key = text(bytes, entries[last]);
    let mut at = object + 1;
    while at < last {
        if text(bytes, entries[at]) == key {
            return true;
        }
        at = behind(entries, at + 1);
    }
    false
}

/// The members of an object that is still open whose key comes again, in their order.
#[expect(clippy::cast_possible_truncation, reason = "a text is shorter than 4 GiB")]
fn duplicates(bytes: &[u8], entries: &[Entry], object: usize) -> Vec<u32> {
    let mut members = Vec::new();
    let mut at = object + 1;
    while at < entries.len() {
        members.push(at as u32);
        at = behind(entries, at + 1);
    }
    let key = |member: u32| text(bytes, entries[member as usize]);
    members.sort_unstable_by(|a, b| key(*a).cmp(&key(*b)).then(a.cmp(b)));
    let pairs = members.windows(2).filter(|pair| key(pair[0]) == key(pair[1]));
    let mut duplicates: Vec<u32> = pairs.map(|pair| pair[0]).collect();
    duplicates.sort_unstable();
    duplicates
}

/// Removes these members, in their order, of an object that is still open.
#[expect(clippy::cast_possible_truncation, reason = "a text is shorter than 4 GiB")]
fn remove_members(entries: &mut Vec<Entry>, object: usize, members: &[u32]) {
    let mut members = members.iter().map(|member| *member as usize).peekable();
    // The ends of the containers around an entry, as they were.
    let mut ends = Vec::new();
    let (mut from, mut to) = (object + 1, object + 1);
    while from < entries.len() {
        if ends.is_empty() && members.next_if_eq(&from).is_some() {
            from = behind(entries, from + 1);
            continue;
        }
        let mut entry = entries[from];
        if ends.last() == Some(&(from + 1)) {
            ends.pop();
        } else if matches!(entry.kind, Kind::Array | Kind::Object) {
            ends.push(entry.end as usize);
            entry.end -= (from - to) as u32;
        }
        entries[to] = entry;
        (from, to) = (from + 1, to + 1);
    }
    entries.truncate(to);
}

/// The entry after a value.
fn behind(entries: &[Entry], at: usize) -> usize {
    match entries[at].kind {
        Kind::Array | Kind::Object => entries[at].end as usize,
        Kind::Null | Kind::False | Kind::True | Kind::Number | Kind::String => at + 1,
    }
}

/// The bytes of a string, escapes decoded.
fn text(bytes: &[u8], string: Entry) -> Cow<'_, [u8]> {
    let (start, end) = (string.start as usize, string.end as usize);
    if string.plain {
        return Cow::Borrowed(&bytes[start..end]);
    }
    let text = str::from_utf8(&bytes[start..end]).unwrap_or_default();
    Cow::Owned(unescaped(text).into_bytes())
}
