//! One JSON array around all events → lines, one for each element.
//!
//! Inside an element every byte keeps its place: a line break becomes a space. So an offset in the
//! line is an offset in the element. What is between elements is dropped.

use super::BYTE_ORDER_MARK;
use crate::limits::ARRAY_START_BYTES_MAX;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// Whether a stream that begins with these bytes is an array of events; `None` if that is open.
/// `wanted` is what the user says. Without it the first element must be an object, because a log
/// line such as `[info]` is not an array; an empty array is one.
pub(crate) fn is_array(bytes: &[u8], wanted: Option<bool>, has_ended: bool) -> Option<bool> {
    // So the answer does not depend on how the stream is cut.
    let bytes = &bytes[..bytes.len().min(ARRAY_START_BYTES_MAX)];
    let has_ended = has_ended || bytes.len() == ARRAY_START_BYTES_MAX;
    let is_cut_mark = BYTE_ORDER_MARK.starts_with(bytes);
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    match (wanted, text) {
        (Some(false), _) => Some(false),
        _ if is_cut_mark || text.is_empty() => has_ended.then_some(false),
        (Some(true), text) => Some(text[0] == b'['),
        (None, [b'[', rest @ ..]) => match rest.trim_ascii() {
            [] => has_ended.then_some(false),
            [b']'] => has_ended.then_some(true),
            [first, ..] => Some(*first == b'{'),
        },
        (None, _) => Some(false),
    }
}

/// Takes an array apart, in place: no input or output, and nothing is kept of the elements.
///
/// Brackets and quotes show where an element ends. Where those of a broken element do not pair, the
/// elements behind it belong to it.
#[derive(Debug, Default)]
pub(crate) struct ArraySplitter {
    pub(crate) has_mark: bool,
    part: ArrayPart,
    /// Arrays and objects that are open in the element.
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// Whether the element is an array or object that has been closed.
    is_whole: bool,
    /// Of the next byte.
    here: ElementStart,
    /// The first byte behind the array that is not white space.
    stray: Option<ElementStart>,
}

/// Which part of the array comes next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ArrayPart {
    #[default]
    Opening,
    FirstElement,
    NextElement,
    RestOfElement,
    Nothing,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ElementStart {
    /// Line breaks before it.
    pub(super) lines: u64,
    pub(super) offset: u64,
}

impl ArraySplitter {
    /// Replaces the next bytes of the stream by lines, which are not longer; returns their length.
    /// A place goes to `begin` for each line that begins.
    pub(crate) fn split(&mut self, bytes: &mut [u8], mut begin: impl FnMut(ElementStart)) -> usize {
        let (mut at, mut kept) = (0, 0);
        while at < bytes.len() {
            if self.is_in_string {
                let length = self.string(&mut bytes[at..]);
                bytes.copy_within(at..at + length, kept);
                (at, kept) = (at + length, kept + length);
                self.here.offset += length as u64;
                continue;
            }
            let byte = bytes[at];
            if let Some(byte) = self.structure(byte, &mut begin) {
                bytes[kept] = byte;
                kept += 1;
            }
            at += 1;
            self.here.offset += 1;
            self.here.lines += u64::from(byte == b'\n');
        }
        kept
    }

    /// The length of the next part of a string.
    fn string(&mut self, bytes: &mut [u8]) -> usize {
        let escaped = usize::from(std::mem::take(&mut self.is_escaped));
        let found = match escaped {
            0 => memchr::memchr3(b'"', b'\\', b'\n', bytes),
            _ => Some(0),
        };
        let Some(at) = found else { return bytes.len() };
        match bytes[at] {
            // Not allowed in a string. It must not end the line, and stays a control character.
            b'\n' => {
                self.here.lines += 1;
                bytes[at] = b'\r';
            }
            _ if escaped > 0 => {}
            b'"' => self.is_in_string = false,
            _ => self.is_escaped = true,
        }
        at + 1
    }

    /// What a byte outside strings becomes.
    fn structure(&mut self, byte: u8, begin: &mut impl FnMut(ElementStart)) -> Option<u8> {
        let is_space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match (self.part, byte) {
            (ArrayPart::Opening, _) => {
                self.has_mark |= byte == BYTE_ORDER_MARK[0];
                if byte == b'[' {
                    self.part = ArrayPart::FirstElement;
                }
                None
            }
            (ArrayPart::Nothing, _) => {
                if !is_space {
                    self.stray.get_or_insert(self.here);
                }
                None
            }
            (ArrayPart::FirstElement, b']') => {
                self.part = ArrayPart::Nothing;
                None
            }
            (ArrayPart::RestOfElement, _) if is_space => Some(b' '),
            _ if is_space => None,
            (part, _) => {
                if part != ArrayPart::RestOfElement {
                    begin(self.here);
                    self.part = ArrayPart::RestOfElement;
                }
                Some(self.element(byte))
            }
        }
    }

    /// What a byte of an element becomes, or the one that ends it.
    fn element(&mut self, byte: u8) -> u8 {
        if self.depth == 0 && matches!(byte, b',' | b']') {
            self.is_whole = false;
            self.part = if byte == b',' { ArrayPart::NextElement } else { ArrayPart::Nothing };
            return b'\n';
        }
        match byte {
            b'"' => self.is_in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.is_whole = self.depth == 0 && matches!(byte, b'}' | b']');
        byte
    }

    /// Whether the last element is whole and only its end is missing.
    pub(crate) fn lacks_line_end(&self) -> bool {
        self.is_whole
    }

    pub(super) fn bytes(&self) -> u64 {
        self.here.offset
    }

    pub(crate) fn defect(&self) -> Option<Diagnostic> {
        let (diagnostic, ElementStart { lines, offset }) = match (self.part, self.stray) {
            (ArrayPart::Nothing, None) => return None,
            (ArrayPart::Nothing, Some(place)) => {
                let diagnostic = Diagnostic::new(Rule::InvalidJson, "something follows the array");
                (diagnostic.note("it was not checked; do two writers share the output?"), place)
            }
            _ => {
                let message = "the stream ends inside the array: its `]` is missing";
                (Diagnostic::new(Rule::TruncatedLine, message), self.here)
            }
        };
        Some(diagnostic.at(lines + 1, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::each_block;

    type ElementRow = (u64, u64, String, u64);

    /// Line, offset, text and length of each element.
    fn rows(stream: &[u8], chunk: usize, max: u64) -> Vec<ElementRow> {
        let mut rows = Vec::new();
        each_block(stream, chunk, max, |block| {
            rows.extend(block.map(|line| {
                let text = String::from_utf8_lossy(line.bytes).into_owned();
                (line.number, line.offset, text, line.length)
            }));
        });
        rows
    }

    #[test]
    fn elements_have_the_line_and_the_offset_of_the_file() {
        let stream = b"\n[\r\n {\"a\":\r\n\"],\\\"\"} ,\n\t{\n}, 12\n]\n";
        let expected = [
            (3, 5, "{\"a\":  \"],\\\"\"} ".to_owned(), 15),
            (5, 23, "{ }".to_owned(), 3),
            (6, 28, "12 ".to_owned(), 3),
        ];
        for chunk in 1..=stream.len() {
            assert_eq!(rows(stream, chunk, 100), expected, "chunks of {chunk}");
        }
        // Of what exceeds the limit only the length is known.
        for chunk in 1..=stream.len() {
            let found = rows(stream, chunk, 5);
            assert_eq!(found[0], (3, 5, String::new(), 15), "chunks of {chunk}");
            assert_eq!(found[1..], expected[1..], "chunks of {chunk}");
        }
    }

    #[test]
    fn the_first_bytes_show_an_array() {
        let cases: [(&[u8], Option<bool>, Option<bool>); 14] = [
            (b"", None, Some(false)),
            (b"{", Some(false), Some(false)),
            (b"\xef\xbb", None, Some(false)),
            (b"\xef\xbb\xbf", None, Some(false)),
            (b"\xef\xbb\xbf[{", Some(true), Some(true)),
            (b" \n[", None, Some(false)),
            (b" \n[ \n", None, Some(false)),
            (b" \n[ \n{", Some(true), Some(true)),
            (b"[]", None, Some(true)),
            (b"[]\n", None, Some(true)),
            (b"[]\n{", Some(false), Some(false)),
            (b"[1", Some(false), Some(false)),
            (b"[[", Some(false), Some(false)),
            (b"[info]", Some(false), Some(false)),
        ];
        for (bytes, so_far, at_the_end) in cases {
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(is_array(bytes, None, false), so_far, "{shown}");
            assert_eq!(is_array(bytes, None, true), at_the_end, "{shown}");
            let wanted = bytes.contains(&b'[').then_some(true);
            assert_eq!(is_array(bytes, Some(true), false), wanted.or(so_far), "{shown}");
            assert_eq!(is_array(bytes, Some(false), false), Some(false), "{shown}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_array_has_its_place() {
        let of = |stream: &[u8]| {
            let mut array = ArraySplitter::default();
            array.split(&mut stream.to_vec(), |_| ());
            (array.has_mark, array.defect().map(|it| (it.rule, it.line, it.offset)))
        };
        let cut = |line, offset| Some((Rule::TruncatedLine, Some(line), Some(offset)));
        assert_eq!(of(b"[{}]\n \n"), (false, None));
        assert_eq!(of(b"\xef\xbb\xbf[{}]"), (true, None));
        assert_eq!(of(b"[\n"), (false, cut(2, 2)));
        assert_eq!(of(b"[{},\n{"), (false, cut(2, 6)));
        let behind = (Rule::InvalidJson, Some(4), Some(8));
        assert_eq!(of(b"[\n{}]\n\n {}"), (false, Some(behind)));
    }
}
