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
        let (character, behind) = escape(&rest.as_bytes()[at + 1..]).unwrap_or_default();
        if !(take(&rest[..at]) && take(character.encode_utf8(&mut [0; 4]))) {
            return;
        }
        rest = &rest[at + 1 + behind..];
    }
    take(rest);
}

/// The character that an escape means, given without its backslash, and its length. Half of a
/// surrogate pair is read as U+FFFD.
pub(crate) fn escape(escape: &[u8]) -> Option<(char, usize)> {
    let character = match escape.first()? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let high = hexadecimal(&escape[1..])?;
            let low = || hexadecimal(escape.get(5..)?.strip_prefix(b"\\u")?);
            let low = low().filter(|low| (0xdc00..0xe000).contains(low));
            return Some(match low.filter(|_| (0xd800..0xdc00).contains(&high)) {
                Some(low) => (of_code(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)), 11),
                None => (of_code(high), 5),
            });
        }
        other @ (b'"' | b'\\' | b'/') => char::from(*other),
        _ => return None,
    };
    Some((character, 1))
}

fn of_code(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
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
