//! Lines that break between words, at the width of a terminal.

use ndjson_check_core::escape::without_colours;
use unicode_width::UnicodeWidthStr as _;

/// Adds a text as one line, and breaks it between words where it is longer than `width`. What
/// follows a break is indented by so many columns. Escape sequences for colour have no width.
pub fn push_wrapped(text: &str, indent: usize, width: Option<usize>, out: &mut String) {
    let Some(width) = width else {
        out.push_str(text);
        out.push('\n');
        return;
    };
    let begin = text.len() - text.trim_start_matches(' ').len();
    out.push_str(&text[..begin]);
    let (mut column, mut gap) = (begin, 0);
    for (number, word) in text[begin..].split(' ').enumerate() {
        gap += usize::from(number > 0);
        if word.is_empty() {
            continue;
        }
        let length = without_colours(word).width();
        if gap > 0 && column + gap + length > width && column > indent {
            out.push('\n');
            (column, gap) = (0, indent);
        }
        out.extend(std::iter::repeat_n(' ', gap));
        out.push_str(word);
        column += gap + length;
        gap = 0;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, indent: usize, width: usize) -> String {
        let mut out = String::new();
        push_wrapped(text, indent, Some(width), &mut out);
        out
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 2, 9), "one two\n  three\n");
        assert_eq!(wrapped("  one two", 4, 7), "  one\n    two\n");
        assert_eq!(wrapped("one two", 2, 7), "one two\n");
        assert_eq!(wrapped("", 2, 7), "\n");
        assert_eq!(wrapped("onetwo  three", 2, 7), "onetwo\n  three\n");
        assert_eq!(wrapped("one  two", 2, 9), "one  two\n");
        let mut out = String::new();
        push_wrapped(&"a ".repeat(90), 2, None, &mut out);
        assert_eq!(out.lines().count(), 1);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(wrapped("実行 one two", 2, 9), "実行 one\n  two\n");
        assert_eq!(wrapped("実行 実行", 2, 8), "実行\n  実行\n");
    }

    #[test]
    fn a_long_word_stays_whole() {
        assert_eq!(wrapped("see /a/very/long/path", 2, 9), "see\n  /a/very/long/path\n");
        assert_eq!(wrapped("/a/very/long/path", 2, 9), "/a/very/long/path\n");
    }

    #[test]
    fn colour_has_no_width() {
        assert_eq!(wrapped("\x1b[31mone\x1b[0m two", 2, 7), "\x1b[31mone\x1b[0m two\n");
    }
}
