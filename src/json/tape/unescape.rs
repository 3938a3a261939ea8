//! Escapes in strings that the tape has checked.

use memchr::memmem;

use super::string_end::stops;

/// The text of a string, which is given without its quotes.
pub(crate) fn unescaped(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    chunks(written, |chunk| text.push_str(chunk));
    text
}

/// The same, in chunks.
pub(crate) fn chunks(written: &str, mut take: impl FnMut(&str)) {
    let mut rest = written;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        take(&rest[..at]);
        let (character, behind) = escape(&rest.as_bytes()[at + 1..]);
        take(character.encode_utf8(&mut [0; 4]));
        rest = &rest[at + 1 + behind..];
    }
    take(rest);
}

/// A string in chunks, escaped only where necessary: one form for each text, which is mostly the
/// form that is given.
pub(crate) fn canonical(written: &str, mut take: impl FnMut(&str)) {
    // All other escapes are necessary, and have no second form. What is found may be part of an
    // escaped backslash.
    let may_have = |escape: &[u8]| memmem::find(written.as_bytes(), escape).is_some();
    let (mut from, mut at) = (0, 0);
    if may_have(b"\\/") || may_have(b"\\u") {
        while let Some(found) = memchr::memchr(b'\\', &written.as_bytes()[at..]) {
            let start = at + found;
            let (character, length) = escape(&written.as_bytes()[start + 1..]);
            at = start + 1 + length;
            if matches!(written.as_bytes()[start + 1], b'/' | b'u') {
                take(&written[from..start]);
                canonical_text(character.encode_utf8(&mut [0; 4]), &mut take);
                from = at;
            }
        }
    }
    take(&written[from..]);
}

/// The same, from the text.
pub(crate) fn canonical_text(text: &str, mut take: impl FnMut(&str)) {
    let mut from = 0;
    while let Some(at) = stop_from(text.as_bytes(), from) {
        take(&text[from..at]);
        let code;
        take(match text.as_bytes()[at] {
            0x8 => "\\b",
            0xc => "\\f",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            b'"' => "\\\"",
            b'\\' => "\\\\",
            byte => {
                code = control(byte);
                str::from_utf8(&code).unwrap_or_default()
            }
        });
        from = at + 1;
    }
    take(&text[from..]);
}

/// The escape of a control character that has no short one.
fn control(byte: u8) -> [u8; 6] {
    let digit = b"0123456789abcdef"[usize::from(byte & 0xf)];
    [b'\\', b'u', b'0', b'0', b'0' + (byte >> 4), digit]
}

/// The place of the next byte that must be escaped.
fn stop_from(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while let Some((block, _)) = bytes[at..].split_first_chunk::<16>() {
        match stops(*block) {
            0 => at += 16,
            found => return Some(at + found.trailing_zeros() as usize),
        }
    }
    let must = |byte: &u8| matches!(byte, 0..0x20 | b'"' | b'\\');
    bytes[at..].iter().position(must).map(|found| at + found)
}

/// The character that an escape means, and its length without the backslash.
fn escape(escape: &[u8]) -> (char, usize) {
    match escape[0] {
        b'b' => ('\u{8}', 1),
        b'f' => ('\u{c}', 1),
        b'n' => ('\n', 1),
        b'r' => ('\r', 1),
        b't' => ('\t', 1),
        b'u' => {
            let high = hexadecimal(&escape[1..]).unwrap_or_default();
            if !(0xd800..0xdc00).contains(&high) {
                return (char::from_u32(high).unwrap_or_default(), 5);
            }
            let low = hexadecimal(&escape[7..]).unwrap_or_default();
            let code = 0x1_0000 + ((high - 0xd800) << 10) + (low & 0x3ff);
            (char::from_u32(code).unwrap_or_default(), 11)
        }
        other => (char::from(other), 1),
    }
}

/// The number with these four digits.
pub(super) fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let mut digits = digits.get(..4)?.iter();
    digits.try_fold(0, |sum, &digit| Some(sum << 4 | char::from(digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_mean_what_the_standard_says() {
        let cases = [
            "",
            "a",
            r"\n",
            r"a\u0041b",
            r"\ud83d\ude80",
            r"\uD83D\uDE80x",
            r"\u0000\uffff\ud7ff\ue000",
            r#"\"\\\/\b\f\n\r\t"#,
            r"\\n",
            "a text without escapes, and of more than one block",
            r"an escape far behind the start of its block:\u001f and more",
            r"\u00e9é\n日",
        ];
        for written in cases {
            let expected: String = serde_json::from_str(&format!("\"{written}\"")).expect("JSON");
            assert_eq!(unescaped(written), expected, "{written}");
            let least = serde_json::to_string(&expected).expect("a string");
            let (mut from_written, mut from_text) = (String::new(), String::new());
            canonical(written, |chunk| from_written.push_str(chunk));
            canonical_text(&expected, |chunk| from_text.push_str(chunk));
            assert_eq!(format!("\"{from_written}\""), least, "{written}");
            assert_eq!(from_text, from_written);
        }
    }
}
