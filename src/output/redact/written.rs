//! Strings as JSON writes them: where each one is in a line, and which bytes of it make which text.

use std::borrow::Cow;
use std::ops::Range;

/// Nesting in which strings have a place. Deeper ones share that of their container.
const PLACES_DEPTH_MAX: usize = 128;

/// A string in a line.
#[derive(Debug)]
pub(super) struct WrittenString {
    /// The bytes between its quotes.
    pub(super) content: Range<usize>,
    /// The same for strings at the same place: behind the same keys, in any item of an array.
    pub(super) place: u64,
    pub(super) is_key: bool,
    /// Whether the line ends inside it.
    pub(super) is_cut: bool,
}

/// A container around a value.
#[derive(Clone, Copy)]
struct Around {
    place: u64,
    is_object: bool,
    /// Of the member whose value comes.
    member: u64,
    expects_key: bool,
}

/// Takes all strings of a line, which need not be JSON. Returns whether there is anything outside
/// strings that is not JSON.
pub(super) fn strings(line: &[u8], mut take: impl FnMut(WrittenString)) -> bool {
    let mut is_other = false;
    let mut around: Vec<Around> = Vec::new();
    let mut too_deep = 0_usize;
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let content = at..string_end(line, at);
                at = content.end + 1;
                let is_cut = content.end == line.len();
                let top = around.last_mut().filter(|_| too_deep == 0);
                let (place, is_key) = match top {
                    Some(top) if top.is_object && top.expects_key => {
                        top.expects_key = false;
                        top.member = mixed(top.place, &line[content.clone()]);
                        (top.place, true)
                    }
                    Some(top) => (top.member, false),
                    None => (0, false),
                };
                take(WrittenString { content, place, is_key, is_cut });
            }
            b'{' | b'[' if around.len() < PLACES_DEPTH_MAX => {
                let is_object = byte == b'{';
                let place = around.last().map_or(1, |top| mixed(top.member, &[byte]));
                around.push(Around { place, is_object, member: place, expects_key: is_object });
            }
            b'{' | b'[' => too_deep += 1,
            b'}' | b']' if too_deep > 0 => too_deep -= 1,
            b'}' | b']' => drop(around.pop()),
            b',' if too_deep == 0 => {
                if let Some(top) = around.last_mut() {
                    top.expects_key = top.is_object;
                }
            }
            // Between values, and in numbers; the letters of `true`, `false` and `null`.
            b','
            | b':'
            | b' '
            | b'\t'
            | b'\r'
            | b'\n'
            | b'+'
            | b'-'
            | b'.'
            | b'0'..=b'9'
            | b't'
            | b'r'
            | b'u'
            | b'e'
            | b'f'
            | b'a'
            | b'l'
            | b's'
            | b'n'
            | b'E' => {}
            _ => is_other = true,
        }
    }
    is_other
}

/// The quote that ends a string, or the end of the line.
fn string_end(line: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &line[at.min(line.len())..]) {
        at += found;
        if line[at] == b'"' {
            return at;
        }
        at += 2;
    }
    line.len()
}

fn mixed(place: u64, bytes: &[u8]) -> u64 {
    let seed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ 0xcbf2_9ce4_8422_2325;
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(seed, mix)
}

/// The text of a string, given without its quotes.
pub(super) fn decoded(written: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', written).is_none() {
        return Cow::Borrowed(written);
    }
    let mut text = Vec::with_capacity(written.len());
    let mut at = 0;
    while at < written.len() {
        let (length, bytes) = unit(&written[at..]);
        text.extend_from_slice(bytes.as_bytes());
        at += length;
    }
    Cow::Owned(text)
}

/// Which bytes of a string, given without its quotes, make this part of its text.
pub(super) fn located(written: &[u8], part: Range<usize>) -> Range<usize> {
    let (mut at, mut decoded) = (0, 0);
    let mut start = None;
    while at < written.len() && decoded < part.end {
        let (length, bytes) = unit(&written[at..]);
        if start.is_none() && decoded + bytes.as_bytes().len() > part.start {
            start = Some(at);
        }
        at += length;
        decoded += bytes.as_bytes().len();
    }
    start.unwrap_or(at)..at
}

/// The bytes of one character or byte of a text.
pub(super) struct Unit {
    bytes: [u8; 4],
    length: usize,
}

impl Unit {
    fn of_byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }

    fn of_char(character: char) -> Self {
        let mut bytes = [0; 4];
        let length = character.encode_utf8(&mut bytes).len();
        Self { bytes, length }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The first byte, or the escape, that a string begins with: its length, and what it means.
pub(super) fn unit(written: &[u8]) -> (usize, Unit) {
    let simple = |byte| (2, Unit::of_byte(byte));
    match written {
        [b'\\', b'n', ..] => simple(b'\n'),
        [b'\\', b'r', ..] => simple(b'\r'),
        [b'\\', b't', ..] => simple(b'\t'),
        [b'\\', b'b', ..] => simple(0x8),
        [b'\\', b'f', ..] => simple(0xc),
        [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => simple(*byte),
        [b'\\', b'u', rest @ ..] => match (code(rest), rest.get(4..)) {
            (Some(high @ 0xd800..=0xdbff), Some([b'\\', b'u', low @ ..])) => match code(low) {
                Some(low @ 0xdc00..=0xdfff) => {
                    let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    (12, Unit::of_char(char::from_u32(code).unwrap_or('\u{fffd}')))
                }
                _ => (6, Unit::of_char('\u{fffd}')),
            },
            (Some(code), _) => (6, Unit::of_char(char::from_u32(code).unwrap_or('\u{fffd}'))),
            (None, _) => (1, Unit::of_byte(b'\\')),
        },
        _ => (1, Unit::of_byte(written.first().copied().unwrap_or_default())),
    }
}

/// Four hexadecimal digits.
fn code(written: &[u8]) -> Option<u32> {
    let digits = written.get(..4).filter(|it| it.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_text_is_located_where_it_is_written() {
        let written = br"a\n\u0041\ud83d\ude00\/b";
        assert_eq!(*decoded(written), *"a\nA\u{1f600}/b".as_bytes());
        assert_eq!(written[located(written, 2..3)], *br"\u0041");
        assert_eq!(written[located(written, 3..8)], *br"\ud83d\ude00\/");
        assert_eq!(located(written, 8..9), written.len() - 1..written.len());
        assert_eq!(*decoded(br"\ud800x\"), *"\u{fffd}x\\".as_bytes());
    }

    #[test]
    fn strings_at_the_same_place_are_found() {
        let found = |line: &str| {
            let mut found = Vec::new();
            let is_other = strings(line.as_bytes(), |it| {
                found.push((line[it.content].to_owned(), it.place, it.is_key, it.is_cut));
            });
            (found, is_other)
        };
        let (strings, is_other) = found(r#"{"a":{"b":["x\"","y",{"b":"z"}]},"c":"w","d":true}"#);
        assert!(!is_other);
        let values: Vec<_> = strings.iter().filter(|it| !it.2).collect();
        assert_eq!(values.iter().map(|it| &*it.0).collect::<Vec<_>>(), [r#"x\""#, "y", "z", "w"]);
        assert!(values[0].1 == values[1].1 && values[1].1 != values[2].1);
        assert!(values[3].1 != values[0].1 && strings.iter().all(|it| !it.3));
        let (strings, is_other) = found(r#"npm WARN "a" {"b":"c"#);
        assert!(is_other && strings[2] == ("c".to_owned(), strings[2].1, false, true));
        let deep = format!("{}\"x\"{}", "[".repeat(500), "]".repeat(500));
        assert_eq!(found(&deep).0.len(), 1);
    }
}
