//! Text from a stream, made visible: what a terminal would obey is shown instead.
//!
//! A stream is written by a model that reads untrusted pages. Control characters, escape
//! sequences, C1 controls, bidirectional overrides, zero-width and tag characters can rewrite a
//! screen or hide a word, so none of them leaves this program raw.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal, or a person reading it, could be misled by this character.
pub fn misleads(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' // C0, DEL, C1
        | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' // zero width, left-to-right and right-to-left marks
        | '\u{2028}'..='\u{202e}' // line and paragraph separator, bidirectional embeddings
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' // tag characters
    )
}

/// `text` on one line, with everything that misleads shown as `\n`, `\x1b` or `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(misleads) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if !misleads(c) => shown.push(c),
            c if u32::from(c) < 0x80 => {
                let _ = write!(shown, "\\x{:02x}", u32::from(c));
            }
            c => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(shown)
}

/// The start of `text`, at most `max` bytes of it, cut between two characters and marked with `…`.
pub fn clipped(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let room = max.saturating_sub('…'.len_utf8());
    let end = (0..=room).rfind(|&at| text.is_char_boundary(at)).unwrap_or(0);
    Cow::Owned(format!("{}…", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed_and_unchanged() {
        assert!(matches!(visible("grün – 日本 👍"), Cow::Borrowed("grün – 日本 👍")));
    }

    #[test]
    fn what_misleads_is_shown() {
        let cases = [
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{1b}]52;c;x\u{7}", "\\x1b]52;c;x\\x07"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
            ("\u{e0041}\u{200b}", "\\u{e0041}\\u{200b}"),
        ];
        for (raw, shown) in cases {
            assert_eq!(visible(raw), shown);
        }
    }

    #[test]
    fn clipping_never_splits_a_character() {
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("abcdef", 5), "ab…");
        assert_eq!(clipped("ééé", 5), "é…");
    }
}
