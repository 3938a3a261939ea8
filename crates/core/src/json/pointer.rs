//! JSON Pointer (RFC 6901).

use std::borrow::Cow;

/// `pointer` with one reference token appended, escaped as §3 says.
pub fn joined(pointer: &str, token: &str) -> String {
    let mut joined = pointer.to_owned();
    push(&mut joined, token);
    joined
}

/// Appends one reference token.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if !token.contains(['~', '/']) {
        return pointer.push_str(token);
    }
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(character),
        }
    }
}

/// The reference tokens of a pointer, unescaped as §4 says.
pub fn tokens(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    // An array is faster than a character: a profile has hundreds of short pointers, which are
    // read at every start.
    pointer.split(['/']).skip(1).map(|token| {
        // As nearly all are.
        let is_plain = !token.as_bytes().contains(&b'~');
        if is_plain { token.into() } else { token.replace("~1", "/").replace("~0", "~").into() }
    })
}
