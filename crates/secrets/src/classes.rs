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

impl Class {
    const ALL: [Self; 12] = [
        Self::Digits,
        Self::Hex,
        Self::Upper,
        Self::Alnum,
        Self::Url,
        Self::Dotted,
        Self::Token,
        Self::Name,
        Self::User,
        Self::Password,
        Self::Value,
        Self::Variable,
    ];

    const fn includes(self, byte: u8) -> bool {
        let alnum = byte.is_ascii_alphanumeric();
        let printable = byte > b' ' && byte != 0x7f;
        match self {
            Self::Digits => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => alnum,
            Self::Url => alnum || is_one_of(byte, b"_-"),
            Self::Dotted => alnum || is_one_of(byte, b"_-.="),
            Self::Token => alnum || is_one_of(byte, b"_-.=+/~"),
            Self::Name => alnum || is_one_of(byte, b"_-."),
            Self::User => alnum || !byte.is_ascii() || is_one_of(byte, b"._%+~!*-@$="),
            Self::Password => printable && !is_one_of(byte, b"\"`<>\\"),
            Self::Value => printable && !is_one_of(byte, b"\"'`\\,;|<>(){}[]&"),
            Self::Variable => printable && !is_one_of(byte, b"\"'`\\"),
        }
    }
}

const fn is_one_of(byte: u8, set: &[u8]) -> bool {
    let mut index = 0;
    while index < set.len() && set[index] != byte {
        index += 1;
    }
    index < set.len()
}

/// A bit for each class of a byte.
const CLASSES: [u16; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut class = 0;
        while class < Class::ALL.len() {
            #[expect(clippy::cast_possible_truncation, reason = "below 256")]
            if Class::ALL[class].includes(byte as u8) {
                classes[byte] |= 1 << Class::ALL[class] as u16;
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
    known: [Range<usize>; Class::ALL.len()],
}

impl<'a> Runs<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, known: [const { 0..0 }; Class::ALL.len()] }
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
