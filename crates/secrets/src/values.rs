//! Values behind the names of secrets: where they are, and whether they look like secrets.

use std::ops::Range;

use crate::classes::{Class, Runs};
use crate::formats::is_encoded_pair;
use crate::randomness::{looks_like_name, looks_random};

const VALUE_BYTES_MIN: usize = 6;

/// How far away the quote at the end of a value may be.
const QUOTED_BYTES_MAX: usize = 8 * 1024;

/// Deepest indentation of a value on a separate line.
const MARGIN_BYTES_MAX: usize = 64;

/// How much of a value is looked at, in bytes.
const SAMPLE_BYTES: usize = 256;

/// What documents write where a secret goes.
const PLACEHOLDERS: &[&[u8]] = &[
    b"your",
    b"redacted",
    b"xxxx",
    b"***",
    b"...",
    b"changeme",
    b"change-me",
    b"change_me",
    b"placeholder",
    b"insert",
    b"replace",
    b"dummy",
    b"secrets.",
    b"env.",
    b"\xe2\x80\xa6",
];

/// Words with a digit that name a method.
const METHODS: &[&[u8]] = &[
    b"oauth1",
    b"oauth2",
    b"sha224",
    b"sha256",
    b"sha384",
    b"sha512",
    b"aes128",
    b"aes256",
    b"argon2",
    b"base64",
    b"ed25519",
    b"pbkdf2",
    b"sigv4",
    b"version1",
    b"version2",
];

/// A value as it is written.
#[derive(Debug)]
pub(crate) struct SecretSpan {
    pub(crate) range: Range<usize>,
    pub(crate) is_quoted: bool,
    /// Whether the text ends before the value does.
    pub(crate) is_open: bool,
}

/// The length of what may be in front of a value: the end of bold text, spaces, the mark and the
/// indentation of a block in YAML, and the kind of a literal.
fn length_in_front(text: &[u8]) -> usize {
    let spaces = |at: usize, most: usize| {
        text[at..].iter().take(most).take_while(|it| b" \t".contains(it)).count()
    };
    let mut at = if text.starts_with(b"**") { 2 } else { 0 };
    at += spaces(at, 8);
    let mark = text[at..].iter().take(3).take_while(|it| b"|>+-".contains(it)).count();
    let feed = text[at + mark..].iter().take(2).take_while(|it| b"\r\n".contains(it)).count();
    let next = at + mark + feed;
    let next = next + spaces(next, MARGIN_BYTES_MAX);
    let is_quote = |at: usize| text.get(at).is_some_and(|it| b"\"'`".contains(it));
    let is_indented = next > at + mark + feed;
    if feed > 0 && (mark > 0 || is_quote(next) || is_indented) {
        at = next;
    }
    let is_kind = text.get(at).is_some_and(|it| b"bBrRuUfF".contains(it)) && is_quote(at + 1);
    at + usize::from(is_kind)
}

/// The value that begins here or behind spaces. `class` is what it consists of without quotes.
pub(crate) fn value(runs: &mut Runs, from: usize, class: Class) -> SecretSpan {
    let text = runs.text;
    let start = from + length_in_front(&text[from..]);
    let slashes = text[start..].iter().take(8).take_while(|it| **it == b'\\').count();
    let Some(quote) = text.get(start + slashes).filter(|it| b"\"'`".contains(it)) else {
        let end = runs.end(class, start);
        let trimmed = text[start..end].iter().rposition(|it| !b",;&|)}.".contains(it));
        let length = if end == text.len() { end - start } else { trimmed.map_or(0, |it| it + 1) };
        let is_open = end + usize::from(text[end..] == *b"\\") == text.len();
        return SecretSpan { range: start..start + length, is_quoted: false, is_open };
    };
    let start = start + slashes + 1;
    let body = &text[start..text.len().min(start + QUOTED_BYTES_MAX)];
    let quoted = closing_quote(body, *quote, slashes);
    // Without its end, the value is as long as its characters go on.
    let mut end = quoted.unwrap_or_else(|| match body.len() {
        QUOTED_BYTES_MAX => runs.end(class, start) - start,
        rest => rest,
    });
    let is_open = quoted.is_none() && start + end == text.len();
    while !is_open && slashes > 0 && end > 0 && text[start + end - 1] == b'\\' {
        end -= 1;
    }
    SecretSpan { range: start..start + end, is_quoted: true, is_open }
}

/// Where the quote is that ends a value. A quote inside has more backslashes in front than the
/// first one, or an odd number of them.
fn closing_quote(body: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    memchr::memchr_iter(quote, body).find(|at| {
        let before = body[..*at].iter().rev().take_while(|it| **it == b'\\').count();
        quote != b'"' || if slashes == 0 { before % 2 == 0 } else { before <= slashes }
    })
}

/// Whether a value is one that only hides, names or computes a secret.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let value = &value[..value.len().min(SAMPLE_BYTES)];
    let Some(first) = value.first() else { return true };
    let lower = value.to_ascii_lowercase();
    is_reference(value)
        || value.iter().all(|it| it == first)
        || PLACEHOLDERS.iter().any(|it| memchr::memmem::find(&lower, it).is_some())
}

/// Whether a value only refers to a secret: a variable, a template, a mark in angle brackets.
pub(crate) fn is_reference(value: &[u8]) -> bool {
    let closes = |with: u8| value.contains(&with);
    match value {
        [b'$' | b'%', b'{' | b'(', ..] | [b'%', .., b'%'] | [b'%'] | [b'%', _] => true,
        [b'$', name @ ..] => {
            let name = name.strip_prefix(b"env:").unwrap_or(name);
            let is_name = name.iter().all(|it| it.is_ascii_alphanumeric() || *it == b'_');
            is_name && !looks_random(name)
        }
        [b'<', ..] => closes(b'>'),
        [b'{', ..] => closes(b'}'),
        [b'[', ..] => closes(b']'),
        _ => false,
    }
}

/// Whether a value behind the name of a secret is one. A literal is written in quotes, or in a
/// setting; anything else may be code.
pub(crate) fn is_secret_value(value: &[u8], is_literal: bool) -> bool {
    let sample = &value[..value.len().min(SAMPLE_BYTES)];
    value.len() >= VALUE_BYTES_MIN
        && !sample.iter().any(u8::is_ascii_whitespace)
        && if is_literal { is_secret_literal(sample) } else { is_secret_word(sample) }
        && !is_location(sample)
        && !is_placeholder(sample)
}

/// A word that may be code.
fn is_secret_word(value: &[u8]) -> bool {
    !value.iter().any(|it| b"([{".contains(it)) && (looks_random(value) || kinds(value) == 4)
}

fn is_secret_literal(value: &[u8]) -> bool {
    let is_mixed =
        value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    looks_random(value)
        || ((is_mixed || kinds(value) >= 3) && !looks_like_name(value))
        || (is_mixed && is_weak_password(value))
        || (value.len() >= 12 && is_encoded_pair(value))
}

/// How many of these a value has: small letters, capitals, digits, other characters.
fn kinds(value: &[u8]) -> usize {
    let has = |is: fn(&u8) -> bool| usize::from(value.iter().any(is));
    has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_digit)
        + has(|it| b"!@#$%^&*+=?~".contains(it))
}

/// A path or an address without chance in it.
fn is_location(value: &[u8]) -> bool {
    let is_path =
        [&b"/"[..], b"./", b"../", b"~/", b"@", b"arn:"].iter().any(|it| value.starts_with(it));
    (is_path || memchr::memmem::find(value, b"://").is_some()) && !looks_random(value)
}

/// A word with digits behind it.
fn is_weak_password(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|it| it.is_ascii_alphabetic()).count();
    letters >= 3
        && value.len() > VALUE_BYTES_MIN
        && value[letters..].iter().all(u8::is_ascii_digit)
        && !METHODS.iter().any(|it| it.eq_ignore_ascii_case(value))
}
