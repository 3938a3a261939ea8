//! Filler in place of letters and digits, as long as they are.

use std::ops::Range;

use crate::redact::written::{decoded, unit};

/// What replaces a character. A character that is replaced keeps its length in UTF-8; punctuation,
/// white space and control characters stay. So a text and the sum of its pieces stay equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Filler {
    #[default]
    X,
    /// For a text that differs from another one of the same form.
    Y,
    /// For one that differs from both.
    Z,
}

impl Filler {
    fn of(self, character: char) -> char {
        let row = match character {
            'a'..='z' | 'A'..='Z' => ['x', 'y', 'z'],
            '0'..='9' => ['0', '1', '2'],
            _ if !is_content(character) => return character,
            _ => match character.len_utf8() {
                2 => ['χ', 'ψ', 'ω'],
                3 => ['\u{ff58}', '\u{ff59}', '\u{ff5a}'],
                _ => ['\u{1d431}', '\u{1d432}', '\u{1d433}'],
            },
        };
        row[self as usize]
    }

    /// The text with its characters replaced, but for these parts.
    pub(super) fn filled(self, text: &str, kept: &[Range<usize>]) -> String {
        let mut filled = text.as_bytes().to_vec();
        self.text(&mut filled, kept);
        String::from_utf8(filled).unwrap_or_default()
    }

    /// Replaces the characters of a text, but for these parts. Bytes that are not UTF-8 stay.
    pub(super) fn text(self, text: &mut [u8], kept: &[Range<usize>]) {
        let mut kept = kept.to_vec();
        kept.sort_unstable_by_key(|part| part.start);
        let mut kept = kept.into_iter().peekable();
        let mut at = 0;
        while at < text.len() {
            if let Some(part) = kept.next_if(|part| part.start <= at) {
                at = at.max(part.end);
                continue;
            }
            let Some(character) = first_char(&text[at..]) else {
                at += 1;
                continue;
            };
            let length = character.len_utf8();
            self.of(character).encode_utf8(&mut text[at..at + length]);
            at += length;
        }
    }

    /// Replaces the characters of a string that is written in JSON, given without its quotes. The
    /// parts that stay are those of its text.
    pub(super) fn string(self, written: &mut [u8], kept: &[Range<usize>]) {
        if memchr::memchr(b'\\', written).is_none() {
            return self.text(written, kept);
        }
        let old = decoded(written).into_owned();
        let mut new = old.clone();
        self.text(&mut new, kept);
        rewrite(written, &old, &new);
        self.halves(written);
    }

    /// Replaces the halves of characters that a pair does not join: the next piece of the text may
    /// begin with the other half.
    fn halves(self, written: &mut [u8]) {
        let mut codes = [0; 2];
        self.of('\u{1f600}').encode_utf16(&mut codes);
        let mut at = 0;
        while at < written.len() {
            let (length, _) = unit(&written[at..]);
            let half = match &written[at..at + length] {
                [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', _, _] => {
                    Some(0)
                }
                [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', _, _] => Some(1),
                _ => None,
            };
            if let Some(half) = half {
                written[at + 2..at + 6].copy_from_slice(format!("{:04x}", codes[half]).as_bytes());
            }
            at += length;
        }
    }
}

/// Whether a character says something: letters and digits, accents, pictures, and what a font
/// defines. Frames, spaces, dashes and quotes do not. Of a pair of surrogates each half is content,
/// as the other one may be in another string.
fn is_content(character: char) -> bool {
    let is_picture = character >= '\u{10000}';
    let is_of_font = ('\u{e000}'..='\u{f8ff}').contains(&character);
    let is_accent = ('\u{300}'..='\u{36f}').contains(&character);
    character.is_alphanumeric() || is_picture || is_of_font || is_accent
}

fn first_char(bytes: &[u8]) -> Option<char> {
    let length = match bytes.first()? {
        byte @ ..=0x7f => return Some(char::from(*byte)),
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    str::from_utf8(bytes.get(..length)?).ok()?.chars().next()
}

/// Makes a string mean `new` instead of `old`: each character has the same length in both, and
/// stays written as it was.
pub(super) fn rewrite(written: &mut [u8], old: &[u8], new: &[u8]) {
    let (mut at, mut decoded) = (0, 0);
    while at < written.len() {
        let (length, before) = unit(&written[at..]);
        let part = decoded..decoded + before.len();
        if old[part.clone()] != new[part.clone()] {
            write_unit(&mut written[at..at + length], &new[part.clone()]);
        }
        (at, decoded) = (at + length, part.end);
    }
}

fn write_unit(written: &mut [u8], meaning: &[u8]) {
    if written[0] != b'\\' {
        written.copy_from_slice(meaning);
    } else if let Some(character) = first_char(meaning) {
        let mut codes = [0; 2];
        let codes = character.encode_utf16(&mut codes);
        if written.len() == 6 * codes.len() {
            for (escape, code) in written.chunks_exact_mut(6).zip(codes) {
                escape.copy_from_slice(format!("\\u{code:04x}").as_bytes());
            }
        }
    }
}

pub(super) fn text_of(written: &str) -> String {
    String::from_utf8_lossy(&decoded(written.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(filler: Filler, written: &str) -> String {
        let mut bytes = written.as_bytes().to_vec();
        filler.string(&mut bytes, &[]);
        assert_eq!(bytes.len(), written.len());
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn every_character_keeps_its_length_and_its_form() {
        assert_eq!(filled(Filler::X, "Ab-9 \u{e9}\u{4e2d}\u{1f600}"), "xx-0 χｘ𝐱");
        let written = r"a\n\u0041\u00e9\u4e2d\ud83d\ude00\/\\b\u2028";
        assert_eq!(filled(Filler::Y, written), r"y\n\u0079\u03c8\uff59\ud835\udc32\/\\y\u2028");
        // Broken escapes.
        assert_eq!(filled(Filler::X, r"\ud800a\q\u12"), r"\ud835x\x\x00");
        // Halves of a character, in two pieces of a text.
        assert_eq!(filled(Filler::X, r"a\ud83d") + &filled(Filler::X, r"\ude00"), r"x\ud835\udc31");
    }

    /// Goal: pieces of a text make the filler of the whole.
    #[test]
    fn filling_commutes_with_concatenation() {
        let text = "Zwölf 12 \u{1f600}\u{202e}: пять │ e\u{301}.";
        let whole = filled(Filler::X, text);
        for (at, _) in text.char_indices() {
            let (a, b) = text.split_at(at);
            assert_eq!(filled(Filler::X, a) + &filled(Filler::X, b), whole);
        }
        assert_eq!(filled(Filler::X, &whole), whole, "it is the same again");
    }
}
