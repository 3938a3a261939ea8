//! Where a word begins.

/// What is before a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Border {
    /// A word begins here.
    Word,
    Underscore,
    /// A letter or digit.
    Inside,
}

/// How much is looked at, in bytes.
const BEFORE_BYTES: usize = 16;

/// What kind of border is at a place. What is escaped once more inside the text (`\n`, `\x22`,
/// `%20`), a sequence of a terminal, and a short option end with a letter, and a word may follow.
pub(crate) fn border(text: &[u8], at: usize) -> Border {
    let before = &text[at.saturating_sub(BEFORE_BYTES)..at];
    let Some((last, rest)) = before.split_last() else { return Border::Word };
    if !(last.is_ascii_alphanumeric() || *last == b'_') {
        return Border::Word;
    }
    if is_end_of_escape(before, *last, rest) || is_option(before) {
        return Border::Word;
    }
    if *last == b'_' { Border::Underscore } else { Border::Inside }
}

fn is_end_of_escape(before: &[u8], last: u8, rest: &[u8]) -> bool {
    let most = before.iter().rev().take(4).take_while(|it| it.is_ascii_hexdigit()).count();
    let behind = |digits: usize, mark: &[u8]| {
        digits <= most && before[..before.len() - digits].ends_with(mark)
    };
    (b"nrtbfe0".contains(&last) && rest.ends_with(b"\\"))
        || behind(2, b"%")
        || behind(2, b"\\x")
        || behind(3, b"\\0")
        || behind(2, b"\\0")
        || behind(3, b"\\")
        || behind(4, b"\\u")
        || (last.is_ascii_alphabetic() && is_sequence(rest))
}

/// Whether the text ends with `[`, digits, semicolons and question marks.
fn is_sequence(text: &[u8]) -> bool {
    let rest = text.iter().rposition(|it| !it.is_ascii_digit() && !b";?:".contains(it));
    rest.is_some_and(|at| text[at] == b'[' && at > 0 && b"\x1b3be".contains(&text[at - 1]))
}

/// Whether the text ends with an option of one letter.
fn is_option(before: &[u8]) -> bool {
    let Some(at) = before.len().checked_sub(2) else { return false };
    before[at] == b'-' && (at == 0 || b" \t\n\"'".contains(&before[at - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_behind_escapes_colours_and_options() {
        for before in [
            "",
            " ",
            "\"",
            "\u{1b}[01;31m",
            "\u{1b}[K",
            "\u{1b}[01;31m\u{1b}[K",
            r"\033[0m",
            r"\x1b[1m",
            r"\n",
            r"\x22",
            r"\0",
            r"\u0022",
            "%20",
            "docker login -p",
            "=",
        ] {
            assert_eq!(border(before.as_bytes(), before.len()), Border::Word, "{before:?}");
        }
        assert_eq!(border(b"task", 4), Border::Inside);
        assert_eq!(border(b"x_", 2), Border::Underscore);
        assert_eq!(border(b"[m", 2), Border::Inside);
    }
}
