//! Escapes in strings that the tape has checked.

/// The text of a string, which is given without its quotes.
pub(crate) fn unescaped(written: &str) -> String {
    let mut text = String::with_capacity(written.len());
    chunks(written, |chunk| text.push_str(chunk));
    text
}

/// The same, in chunks.
pub(crate) fn chunks(written: &str, mut take: impl FnMut(&str)) {
    chunks_while(written, |chunk| {
        take(chunk);
        true
    });
}

/// Whether the text begins with this; decodes little more of it.
pub(crate) fn starts_with(written: &str, beginning: &str) -> bool {
    let mut left = beginning.as_bytes();
    chunks_while(written, |chunk| {
        let length = chunk.len().min(left.len());
        let is_equal = chunk.as_bytes()[..length] == left[..length];
        if is_equal {
            left = &left[length..];
        }
        is_equal && !left.is_empty()
    });
    left.is_empty()
}

fn chunks_while(written: &str, mut take: impl FnMut(&str) -> bool) {
    let mut rest = written;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (character, behind) = escape(&rest.as_bytes()[at + 1..]);
        if !(take(&rest[..at]) && take(character.encode_utf8(&mut [0; 4]))) {
            return;
        }
        rest = &rest[at + 1 + behind..];
    }
    take(rest);
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
pub(crate) fn hexadecimal(digits: &[u8]) -> Option<u32> {
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
            for (at, _) in expected.char_indices() {
                assert!(starts_with(written, &expected[..at]), "{written}, {at}");
            }
            assert!(starts_with(written, &expected), "{written}");
            assert!(!starts_with(written, &format!("{expected}x")), "{written}");
            assert!(!starts_with(written, "?"), "{written}");
        }
    }
}
