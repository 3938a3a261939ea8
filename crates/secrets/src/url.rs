//! Passwords and tokens in a URL, behind its `://`.

use std::ops::Range;

use crate::classes::{Class, Runs};
use crate::randomness::looks_random;
use crate::values::is_reference;

const PASSWORD_BYTES_MIN: usize = 3;

/// Shortest user without a password that is taken for a token.
const TOKEN_BYTES_MIN: usize = 16;

/// Longest user and password that may go on in another text.
const PART_BYTES_MAX: usize = 2048;

/// Most escapes of a slash: JSON in a string of JSON, and so on.
const ESCAPES_MAX: usize = 15;

/// What is behind a `://`.
pub(crate) enum Authority {
    /// No secret.
    Plain,
    /// The text ends first; so much of a password may be there.
    Open(Range<usize>),
    Secret(Range<usize>),
}

/// The password in `user:password@host`, or the token in `token@host`; the slashes in front may be
/// escaped.
pub(crate) fn authority(runs: &mut Runs, slashes: usize) -> Authority {
    let text = runs.text;
    let mut start = slashes;
    for _ in 0..2 {
        let escapes = text[start..].iter().take(ESCAPES_MAX).take_while(|it| **it == b'\\');
        start += escapes.count();
        match text.get(start) {
            Some(b'/') => start += 1,
            Some(_) => return Authority::Plain,
            None => return Authority::Open(start..start),
        }
    }
    let user = runs.end(Class::User, start);
    match text.get(user) {
        Some(b':') => password(runs, user + 1),
        behind => match token(&text[start..user], start) {
            Authority::Plain if behind.is_none() && user - start < PART_BYTES_MAX => {
                Authority::Open(user..user)
            }
            found => found,
        },
    }
}

/// A user without a password.
fn token(part: &[u8], start: usize) -> Authority {
    let Some(length) = memchr::memrchr(b'@', part) else { return Authority::Plain };
    if length >= TOKEN_BYTES_MIN && looks_random(&part[..length]) {
        Authority::Secret(start..start + length)
    } else {
        Authority::Plain
    }
}

fn password(runs: &mut Runs, start: usize) -> Authority {
    let text = runs.text;
    let end = runs.end(Class::Password, start);
    let body = &text[start..end];
    // A variable, a placeholder or a replacement is not a password.
    let password = &body[..first_at(body).unwrap_or(body.len())];
    let is_hidden = matches!(password, [b'*'] | [b'*', b'*', ..]) || is_reference(password);
    if is_hidden || is_port(body, end == text.len()) {
        return Authority::Plain;
    }
    let Some(mut length) = first_at(body) else {
        return if end == text.len() && body.len() < PART_BYTES_MAX {
            let digits = Class::Digits.length(body);
            Authority::Open(if digits == body.len() { end..end } else { start..end })
        } else {
            Authority::Plain
        };
    };
    // The last `@` before the host ends.
    while let Some(next) = body[length + 1..].iter().position(|it| b"@/?#".contains(it))
        && body[length + 1 + next] == b'@'
    {
        length += 1 + next;
    }
    if length < PASSWORD_BYTES_MIN {
        return Authority::Plain;
    }
    Authority::Secret(start..start + length)
}

/// A quote inside is a part of the password, one at its border is not.
fn first_at(body: &[u8]) -> Option<usize> {
    let mut previous = b' ';
    for (at, byte) in body.iter().enumerate().take(PART_BYTES_MAX) {
        let next = body.get(at + 1).copied().unwrap_or(b' ');
        match byte {
            b'@' => return Some(at),
            b'\'' if !(previous.is_ascii_alphanumeric() && next.is_ascii_alphanumeric()) => {
                return None;
            }
            // Another URL.
            b':' if next == b'/' && body.get(at + 2) == Some(&b'/') => return None,
            _ => previous = *byte,
        }
    }
    None
}

/// A port, and not a password of digits.
fn is_port(body: &[u8], is_end: bool) -> bool {
    let digits = Class::Digits.length(body);
    digits > 0
        && match body.get(digits) {
            None => !is_end,
            Some(behind) => b"/?#,'".contains(behind),
        }
}
