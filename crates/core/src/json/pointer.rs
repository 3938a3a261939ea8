//! JSON Pointer (RFC 6901).

/// `pointer` with one reference token appended, escaped as §3 says.
pub fn joined(pointer: &str, token: &str) -> String {
    let mut joined = pointer.to_owned();
    push(&mut joined, token);
    joined
}

/// Appends one reference token.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(character),
        }
    }
}

/// The reference tokens of a pointer, unescaped as §4 says.
pub fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| {
        // As nearly all are; a profile has hundreds, which are read at every start.
        let is_plain = !token.contains('~');
        if is_plain { token.to_owned() } else { token.replace("~1", "/").replace("~0", "~") }
    })
}
