//! Strings as JSON writes them: where each one is in a line, and which bytes of it make which text.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use crate::json::escape;

/// Nesting in which strings have a place. Deeper ones share that of their container.
const PLACES_DEPTH_MAX: usize = 128;

#[derive(Debug, Clone)]
pub(super) struct WrittenString {
    /// The bytes between its quotes.
    pub(super) content: Range<usize>,
    /// The same for strings at the same place: behind the same keys, and in the same items of
    /// arrays but the outermost, whose items are events.
    pub(super) place: u64,
    /// Which item of the array that the line begins with.
    pub(super) item: u64,
    pub(super) is_key: bool,
    /// The key whose value it is, between its quotes; of an item, that of the array.
    pub(super) key: Option<Range<usize>>,
    /// The number of the innermost object or array around it, from 1 in the line.
    pub(super) container: u64,
    /// Whether that is an array.
    pub(super) is_item: bool,
    /// Whether the line ends inside it.
    pub(super) is_cut: bool,
}

/// What a line consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineShape {
    /// Whether it looks like whole objects or arrays, with nothing else around them.
    pub(super) is_json: bool,
    /// The same for lines whose indices and named ids are the same, as those of one text are.
    pub(super) labels: u64,
}

#[derive(Clone)]
struct OpenContainer {
    place: u64,
    is_object: bool,
    /// From 1 in the line.
    number: u64,
    /// Of the member whose value comes.
    member: u64,
    key: Option<Range<usize>>,
    expects_key: bool,
}

/// Takes all strings of a line, which need not be JSON.
pub(super) fn strings(line: &[u8], mut take: impl FnMut(WrittenString)) -> LineShape {
    let (mut is_other, mut labels, mut item) = (false, 0_u64, 0);
    let mut around: Vec<OpenContainer> = Vec::new();
    let (mut too_deep, mut containers) = (0_usize, 0);
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let content = at..string_end(line, at);
                at = content.end + 1;
                let is_cut = content.end == line.len();
                is_other |= around.is_empty();
                let top = around.last_mut().filter(|_| too_deep == 0);
                let container = top.as_ref().map_or(0, |top| top.number);
                let is_item = top.as_ref().is_some_and(|top| !top.is_object);
                let (place, is_key, key) = match top {
                    Some(top) if top.is_object && top.expects_key => {
                        top.expects_key = false;
                        top.member = mixed(top.place, &line[content.clone()]);
                        top.key = Some(content.clone());
                        if is_label(&line[content.clone()]) {
                            let label = mixed(top.member, &line[value_behind(line, at)]);
                            labels = labels.wrapping_add(label);
                        }
                        (top.place, true, None)
                    }
                    Some(top) => (top.member, false, top.key.clone()),
                    None => (0, false, None),
                };
                take(WrittenString {
                    content,
                    place,
                    item,
                    is_key,
                    key,
                    container,
                    is_item,
                    is_cut,
                });
            }
            b'{' | b'[' if around.len() < PLACES_DEPTH_MAX => {
                let is_object = byte == b'{';
                let place = around.last().map_or(1, |top| mixed(top.member, &[byte]));
                let (member, expects_key) = (place, is_object);
                let key = around.last().filter(|_| !is_object).and_then(|top| top.key.clone());
                containers += 1;
                let number = containers;
                around.push(OpenContainer { place, is_object, number, member, key, expects_key });
            }
            b'{' | b'[' => too_deep += 1,
            b'}' | b']' if too_deep > 0 => too_deep -= 1,
            b'}' | b']' => is_other |= around.pop().is_none(),
            b',' if too_deep == 0 => {
                let is_outermost = around.len() == 1;
                if let Some(top) = around.last_mut() {
                    match (top.is_object, is_outermost) {
                        (true, _) => (top.expects_key, top.key) = (true, None),
                        (false, true) => item += 1,
                        (false, false) => top.member = mixed(top.member, b","),
                    }
                }
            }
            _ => is_other |= !is_between_values(byte) || around.is_empty() && !is_space(byte),
        }
    }
    let is_json = !is_other && around.is_empty() && !line.is_empty();
    LineShape { is_json, labels }
}

/// What is between values and in numbers, and the letters of `true`, `false` and `null`.
fn is_between_values(byte: u8) -> bool {
    is_space(byte) || b",:+-.0123456789truefalsnE".contains(&byte)
}

fn is_space(byte: u8) -> bool {
    b" \t\r\n".contains(&byte)
}

/// Whether a key separates events of two texts: an index, or an id that says what
/// it identifies. `id` and `uuid` are often those of the event.
fn is_label(key: &[u8]) -> bool {
    let ends: [&[u8]; 5] = [b"_id", b"Id", b"ID", b"_index", b"Index"];
    key == b"index" || (key.len() > 2 && ends.iter().any(|end| key.ends_with(end)))
}

fn value_behind(line: &[u8], at: usize) -> Range<usize> {
    let is_before = |byte: &u8| is_space(*byte) || *byte == b':';
    let start = at + line[at.min(line.len())..].iter().take_while(|it| is_before(it)).count();
    let end = match line.get(start) {
        Some(b'"') => string_end(line, start + 1),
        _ => line[start.min(line.len())..]
            .iter()
            .position(|it| b",}]".contains(it))
            .map_or(line.len(), |length| start + length),
    };
    start.min(line.len())..end
}

/// The value behind a key, given with it, if it separates events of two texts: a string with its
/// opening quote, or a number.
pub(super) fn label_value(line: &[u8], key: &Range<usize>) -> Option<Range<usize>> {
    is_label(&line[key.clone()]).then(|| value_behind(line, key.end + 1))
}

/// The quote that ends a string, or the end of the line.
pub(super) fn string_end(line: &[u8], from: usize) -> usize {
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

/// The place of a text that has a name.
pub(super) fn hashed(name: &str) -> u64 {
    mixed(0, name.as_bytes())
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
    while let Some(plain) = memchr::memchr(b'\\', &written[at..]) {
        text.extend_from_slice(&written[at..at + plain]);
        let (length, bytes) = unit(&written[at + plain..]);
        text.extend_from_slice(&bytes);
        at += plain + length;
    }
    text.extend_from_slice(&written[at..]);
    Cow::Owned(text)
}

/// Which bytes of a string, given without its quotes, make these parts of its text, which are in
/// order.
pub(super) fn located(
    written: &[u8],
    parts: impl IntoIterator<Item = Range<usize>>,
) -> Vec<Range<usize>> {
    let parts = parts.into_iter();
    if memchr::memchr(b'\\', written).is_none() {
        return parts.collect();
    }
    let (mut at, mut decoded) = (0, 0);
    let mut advance = |to: usize, is_end: bool| {
        while at < written.len() && decoded < to {
            let (length, bytes) = unit(&written[at..]);
            // A part may begin inside what one escape means.
            if !is_end && decoded + bytes.len() > to {
                break;
            }
            at += length;
            decoded += bytes.len();
        }
        at
    };
    parts.map(|part| advance(part.start, false)..advance(part.end, true)).collect()
}

/// The bytes of one character or byte of a text.
pub(super) type Unit = SmallVec<[u8; 4]>;

/// The first byte, or the escape, that a string begins with: its length, and what it means.
pub(super) fn unit(written: &[u8]) -> (usize, Unit) {
    let (first, rest) = written.split_first().unwrap_or((&0, &[]));
    let meaning = if *first == b'\\' { escape(rest) } else { None };
    match meaning {
        Some((character, length)) => {
            (length + 1, Unit::from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()))
        }
        None => (1, smallvec![*first]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_text_is_located_where_it_is_written() {
        let written = br"a\n\u0041\ud83d\ude00\/b";
        assert_eq!(*decoded(written), *"a\nA\u{1f600}/b".as_bytes());
        let parts = located(written, [2..3, 3..8, 8..9]);
        assert_eq!(written[parts[0].clone()], *br"\u0041");
        assert_eq!(written[parts[1].clone()], *br"\ud83d\ude00\/");
        assert_eq!(parts[2], written.len() - 1..written.len());
        assert_eq!(*decoded(br"\ud800x\"), *"\u{fffd}x\\".as_bytes());
    }

    #[test]
    fn events_of_one_text_have_the_same_labels() {
        let labels = |line: &str| strings(line.as_bytes(), |_| ()).labels;
        let of = |index: u8, text: &str, uuid: u8| {
            labels(&format!(r#"{{"e":{{"text":"{text}","index": {index}}},"uuid":"{uuid}"}}"#))
        };
        assert_eq!(of(1, "a", 1), of(1, "b", 2));
        assert_ne!(of(1, "a", 1), of(2, "a", 1));
        assert_ne!(labels(r#"{"toolCallId":"a"}"#), labels(r#"{"toolCallId":"b"}"#));
    }

    #[test]
    fn strings_at_the_same_place_are_found() {
        let found = |line: &str| {
            let mut found = Vec::new();
            let shape = strings(line.as_bytes(), |it| {
                found.push((line[it.content].to_owned(), it.place, it.is_key, it.is_cut));
            });
            (found, shape.is_json)
        };
        let (strings, is_json) = found(r#"{"a":{"b":["x\"","y",{"b":"z"}]},"c":"w","d":true}"#);
        assert!(is_json);
        let values: Vec<_> = strings.iter().filter(|it| !it.2).collect();
        assert_eq!(values.iter().map(|it| &*it.0).collect::<Vec<_>>(), [r#"x\""#, "y", "z", "w"]);
        assert!(values[0].1 != values[1].1 && values[1].1 != values[2].1);
        assert!(values[3].1 != values[0].1 && strings.iter().all(|it| !it.3));
        let (items, _) = found(r#"[{"a":"x"},{"a":"y"}]"#);
        assert_eq!(items[1].1, items[3].1);
        let (strings, is_json) = found(r#"npm WARN "a" {"b":"c"#);
        assert!(!is_json && strings[2] == ("c".to_owned(), strings[2].1, false, true));
        assert!(!found(r#"  "key": "value","#).1 && !found(r#"{"cut":{"a":1}"#).1);
        let deep = format!("{}\"x\"{}", "[".repeat(500), "]".repeat(500));
        assert_eq!(found(&deep).0.len(), 1);
    }
}
