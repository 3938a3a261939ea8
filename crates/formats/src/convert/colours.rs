//! Lines of a command's output for a terminal, in the colours that we know.

use std::fmt::Write as _;

use ndjson_check_core::escape::Escaper;

use crate::ansi::{Colour, TextStyle};

pub(super) const RESET: &str = "\x1b[0m";

/// One line of a result: at most so many characters of it, without its colours or with ours.
pub(super) fn shown_line(line: &str, chars_max: usize, has_color: bool) -> String {
    let mut shown = String::new();
    let mut escaper = Escaper::new(false);
    let (mut style, mut written) = (TextStyle::default(), TextStyle::default());
    let (mut chars, mut rest) = (0, line);
    while let Some(character) = rest.chars().next() {
        if let Some(behind) = style.obey(rest) {
            rest = behind;
            continue;
        }
        if has_color && style != written {
            escaper.end(&mut shown);
            begin(style, written, &mut shown);
            written = style;
        }
        if chars == chars_max {
            escaper.end(&mut shown);
            shown.push('…');
            break;
        }
        let (this, behind) = rest.split_at(character.len_utf8());
        escaper.text(this, &mut shown);
        (chars, rest) = (chars + 1, behind);
    }
    escaper.end(&mut shown);
    begin(TextStyle::default(), written, &mut shown);
    shown
}

/// Appends the sequences that lead from one style to another.
fn begin(style: TextStyle, last: TextStyle, shown: &mut String) {
    if last != TextStyle::default() {
        shown.push_str(RESET);
    }
    let flags = [(style.is_bold, 1), (style.is_dim, 2), (style.is_underlined, 4)];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, code)| code);
    for code in flags.chain(style.colour.map(code)) {
        // Writing to a string cannot fail.
        let _ = write!(shown, "\x1b[{code}m");
    }
}

fn code(colour: Colour) -> u8 {
    match colour {
        Colour::Red => 31,
        Colour::Green => 32,
        Colour::Yellow => 33,
        Colour::Blue => 34,
        Colour::Magenta => 35,
        Colour::Cyan => 36,
        // Dim: a theme may show grey as the background.
        Colour::Grey => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_rewritten_or_removed() {
        for (line, with, without) in [
            ("a\x1b[31mb\x1b[0mc", "a\x1b[31mb\x1b[0mc", "abc"),
            ("\x1b[1;32mok", "\x1b[1m\x1b[32mok\x1b[0m", "ok"),
            ("\x1b[38;5;196mx", "\x1b[31mx\x1b[0m", "x"),
            ("A\x1b[38:5:196mR\x1b[0m \x1b[Kend", "A\x1b[31mR\x1b[0m end", "AR end"),
            ("\x1b[90mx\x1b[39my", "\x1b[2mx\x1b[0my", "xy"),
            ("\x1b[31mx\x1b[1my", "\x1b[31mx\x1b[0m\x1b[1m\x1b[31my\x1b[0m", "xy"),
            ("\x1b[38;5;240mx", "x", "x"),
            ("a\r\x1b[32mb", "a\\r\x1b[32mb\x1b[0m", "a\\rb"),
        ] {
            assert_eq!(shown_line(line, 100, true), with);
            assert_eq!(shown_line(line, 100, false), without);
        }
    }

    /// Goal: nothing but colours of ours is ever written as it is.
    #[test]
    fn nothing_else_is_obeyed() {
        for (line, shown) in [
            ("\x1b[8mhidden", "hidden"),
            ("\x1b[30;40mblack on black", "black on black"),
            ("\x1b[5;7mx", "x"),
            ("\x1b[48;5;1mx", "x"),
            ("\x1b[2Jx", "\\x1b[2Jx"),
            ("\x1b[31", "\\x1b[31"),
            ("\x1b[31\x1b[1mx", "\\x1b[31\x1b[1mx\x1b[0m"),
            ("\x1b]0;title\x07x", "\\x1b]0;title\\x07x"),
            ("\x1b[?25lx", "\\x1b[?25lx"),
            ("\u{9b}31mx", "\\u{9b}31mx"),
        ] {
            assert_eq!(shown_line(line, 100, true), shown);
        }
        let long = format!("\x1b[{}m", "1;".repeat(100));
        assert!(!shown_line(&long, 1_000, true).contains('\x1b'));
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(shown_line("ab\x1b[31mcd", 3, true), "ab\x1b[31mc…\x1b[0m");
        assert_eq!(shown_line("ab\x1b[31mcd", 3, false), "abc…");
        assert_eq!(shown_line("äöü", 3, false), "äöü");
    }
}
