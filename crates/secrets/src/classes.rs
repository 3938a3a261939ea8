//! Kinds of bytes, and how far a run of one kind goes.

use std::ops::Range;

/// Which bytes a run consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Digits,
    Hex,
    /// Capitals and digits.
    Upper,
    Alnum,
    /// Letters, digits, `_` and `-`.
    Url,
    /// The above, `.` and `=`.
    Dotted,
    /// What a token in an HTTP header may have: also `+`, `/` and `~`.
    Token,
    /// A part of the names of keys: letters, digits, `_`, `-` and `.`.
    Name,
    /// Users and hosts in a URL, without the `:` of a port.
    User,
    /// Passwords in a URL.
    Password,
    /// Values without quotes.
    Value,
    /// The same in the environment, where `&` and brackets end nothing.
    Variable,
}

const COUNT: usize = 12;

const fn has(class: usize, byte: u8) -> bool {
    let alnum = byte.is_ascii_alphanumeric();
    let printable = byte > b' ' && byte != 0x7f;
    let is_quote = matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    match class {
        0 => byte.is_ascii_digit(),
        1 => byte.is_ascii_hexdigit(),
        2 => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        3 => alnum,
        4 => alnum || matches!(byte, b'_' | b'-'),
        5 => alnum || matches!(byte, b'_' | b'-' | b'.' | b'='),
        6 => alnum || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'+' | b'/' | b'~'),
        7 => alnum || matches!(byte, b'_' | b'-' | b'.'),
        8 => {
            alnum
                || !byte.is_ascii()
                || matches!(
                    byte,
                    b'.' | b'_' | b'%' | b'+' | b'~' | b'!' | b'*' | b'-' | b'@' | b'$' | b'='
                )
        }
        9 => printable && !matches!(byte, b'"' | b'`' | b'<' | b'>' | b'\\'),
        10 => {
            printable
                && !is_quote
                && !matches!(
                    byte,
                    b',' | b';'
                        | b'|'
                        | b'<'
                        | b'>'
                        | b'('
                        | b')'
                        | b'{'
                        | b'}'
                        | b'['
                        | b']'
                        | b'&'
                )
        }
        _ => printable && !is_quote,
    }
}

/// A bit for each class of a byte.
const CLASSES: [u16; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut class = 0;
        while class < COUNT {
            #[expect(clippy::cast_possible_truncation, reason = "below 256")]
            if has(class, byte as u8) {
                classes[byte] |= 1 << class;
            }
            class += 1;
        }
        byte += 1;
    }
    classes
};

impl Class {
    #[inline]
    pub(crate) fn has(self, byte: u8) -> bool {
        CLASSES[usize::from(byte)] >> (self as usize) & 1 != 0
    }

    /// How many bytes of this class a text begins with.
    pub(crate) fn length(self, text: &[u8]) -> usize {
        text.iter().position(|byte| !self.has(*byte)).unwrap_or(text.len())
    }

    /// How many bytes of this class a text ends with.
    pub(crate) fn length_before(self, text: &[u8]) -> usize {
        text.iter().rev().position(|byte| !self.has(*byte)).unwrap_or(text.len())
    }
}

/// The ends of runs in one text. Each byte is looked at once for each class, also where many
/// secrets may begin in one run.
#[derive(Debug)]
pub(crate) struct Runs<'a> {
    pub(crate) text: &'a [u8],
    known: [Range<usize>; COUNT],
}

impl<'a> Runs<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, known: [const { 0..0 }; COUNT] }
    }

    pub(crate) fn end(&mut self, class: Class, from: usize) -> usize {
        let known = &mut self.known[class as usize];
        if known.contains(&from) {
            return known.end;
        }
        let mut at = from;
        while at < self.text.len() && class.has(self.text[at]) {
            if at == known.start && at < known.end {
                at = known.end;
                break;
            }
            at += 1;
        }
        if at > known.end {
            *known = from..at;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_where_its_class_ends() {
        let text = b"ab12-xy.z";
        let mut runs = Runs::new(text);
        for from in [3, 0, 2, 5, 4, 8, 9] {
            for class in [Class::Alnum, Class::Url, Class::Name, Class::Digits] {
                assert_eq!(runs.end(class, from), from + class.length(&text[from..]));
            }
        }
        assert_eq!(Class::Alnum.length_before(text), 1);
        assert_eq!(Class::Name.length_before(text), text.len());
    }
}
