//! A secret that is known by its value, and the forms in which a text has it.

use std::fmt::Write as _;

/// A secret by its value.
#[derive(Debug, Clone)]
pub struct SecretValue {
    pub(crate) name: String,
    value: String,
}

impl SecretValue {
    /// Shortest value that is looked for, in bytes. A shorter one would be found everywhere.
    pub const BYTES_MIN: usize = 8;

    /// A value to replace by its name; none if it is shorter than [`SecretValue::BYTES_MIN`].
    pub fn new(name: &str, value: &str) -> Option<Self> {
        let is_long = value.len() >= Self::BYTES_MIN;
        is_long.then(|| Self { name: name.to_owned(), value: value.to_owned() })
    }

    pub(crate) fn forms(&self) -> Vec<Vec<u8>> {
        forms(&self.value)
    }
}

/// How a writer of JSON differs from others.
struct JsonWriter {
    /// Whether it escapes all characters but those of ASCII.
    is_ascii: bool,
    /// What else it escapes by its number.
    escaped: &'static [char],
    has_slash: bool,
    is_upper: bool,
}

const HTML: &[char] = &['<', '>', '&', '\u{2028}', '\u{2029}'];

const fn json(
    is_ascii: bool,
    escaped: &'static [char],
    has_slash: bool,
    is_upper: bool,
) -> JsonWriter {
    JsonWriter { is_ascii, escaped, has_slash, is_upper }
}

/// Of Rust and JavaScript, Go, Python, PHP with and without accents, .NET, and others.
const WRITERS: &[JsonWriter] = &[
    json(false, &[], false, false),
    json(false, HTML, false, false),
    json(true, &[], false, false),
    json(true, &[], true, false),
    json(false, &[], true, false),
    json(true, &['<', '>', '&', '\'', '"', '+', '`'], false, true),
    json(true, &[], false, true),
];

/// What a URL keeps as it is: in JavaScript, in Python, and strictly.
const KEPT: [&[u8]; 3] = [b"-_.~!*'()", b"-_.~/", b"-_.~"];

const ALPHABETS: [&[u8; 64]; 2] = [
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
];

/// The value as it is, as JSON writes it once more, in a URL, and in base64.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.as_bytes().to_vec()];
    forms.extend(WRITERS.iter().map(|writer| writer.form(value).into_bytes()));
    for kept in KEPT {
        for (space, is_upper) in [("%20", true), ("+", true), ("%20", false)] {
            forms.push(percent(value, kept, space, is_upper).into_bytes());
        }
    }
    for offset in 0..3 {
        forms.extend(ALPHABETS.map(|alphabet| base64(value.as_bytes(), offset, alphabet)));
    }
    forms.sort();
    forms.dedup();
    forms.retain(|form| form.len() >= SecretValue::BYTES_MIN);
    forms
}

impl JsonWriter {
    /// A text between its quotes.
    fn form(&self, value: &str) -> String {
        let mut text = String::new();
        for character in value.chars() {
            match character {
                _ if self.escaped.contains(&character) => self.escape(character, &mut text),
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                '\u{8}' => text.push_str("\\b"),
                '\u{c}' => text.push_str("\\f"),
                '/' if self.has_slash => text.push_str("\\/"),
                '\0'..='\u{1f}' => self.escape(character, &mut text),
                '\u{7f}'.. if self.is_ascii => self.escape(character, &mut text),
                _ => text.push(character),
            }
        }
        text
    }

    fn escape(&self, character: char, text: &mut String) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let written = if self.is_upper {
                write!(text, "\\u{unit:04X}")
            } else {
                write!(text, "\\u{unit:04x}")
            };
            written.unwrap_or_default();
        }
    }
}

fn percent(value: &str, kept: &[u8], space: &str, is_upper: bool) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            text.push(char::from(byte));
        } else if byte == b' ' {
            text.push_str(space);
        } else if is_upper {
            write!(text, "%{byte:02X}").unwrap_or_default();
        } else {
            write!(text, "%{byte:02x}").unwrap_or_default();
        }
    }
    text
}

/// The characters that a value makes in base64, whatever is around it, where it begins at this
/// offset of a group of three bytes.
fn base64(value: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bits = |at: usize| -> Option<u8> {
        let byte = (at / 8).checked_sub(offset).and_then(|it| value.get(it))?;
        Some(byte >> (7 - at % 8) & 1)
    };
    let characters = (0..(value.len() + offset) * 8 / 6).filter_map(|character| {
        let index = (character * 6..character * 6 + 6)
            .try_fold(0, |index, at| bits(at).map(|bit| index << 1 | usize::from(bit)))?;
        Some(alphabet[index])
    });
    characters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by Go, Python, PHP, JavaScript and .NET.
    #[test]
    fn a_value_is_known_as_others_write_it() {
        let known = forms("pa&ss<w>/\u{f6}1x \u{1f600}");
        for form in [
            "pa\\u0026ss\\u003cw\\u003e/\u{f6}1x \u{1f600}",
            "pa&ss<w>/\\u00f61x \\ud83d\\ude00",
            "pa&ss<w>\\/\\u00f61x \\ud83d\\ude00",
            "pa&ss<w>\\/\u{f6}1x \u{1f600}",
            "pa\\u0026ss\\u003Cw\\u003E/\\u00F61x \\uD83D\\uDE00",
            "pa%26ss%3Cw%3E%2F%C3%B61x%20%F0%9F%98%80",
            "pa%26ss%3Cw%3E/%C3%B61x%20%F0%9F%98%80",
            "pa%26ss%3Cw%3E%2F%C3%B61x+%F0%9F%98%80",
            "pa%26ss%3cw%3e%2f%c3%b61x%20%f0%9f%98%80",
        ] {
            assert!(known.iter().any(|it| it == form.as_bytes()), "{form}");
        }
        assert_eq!(
            forms("password1234").iter().filter(|it| it.starts_with(b"password")).count(),
            1
        );
    }
}
