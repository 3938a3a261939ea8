//! The colours of a command's output. A stream chooses which; we write them: eight colours, and no
//! sequence that moves the cursor, hides a word or sets a background.

use ndjson_check_core::escape::Escaper;

pub(super) const RESET: &str = "\x1b[0m";

const CODES_BYTES_MAX: usize = 48;

/// One line of a result: at most so many characters of it, without its colours or with ours.
pub(super) fn shown_line(line: &str, chars_max: usize, has_color: bool) -> String {
    let mut shown = String::new();
    let mut escaper = Escaper::new(false);
    let (mut chars, mut is_colored, mut rest) = (0, false, line);
    while let Some(character) = rest.chars().next() {
        if let Some((codes, behind)) = sequence(rest) {
            rest = behind;
            let ours = if has_color { ours(codes) } else { String::new() };
            if !ours.is_empty() {
                escaper.end(&mut shown);
                shown.push_str(&ours);
                is_colored = ours != RESET;
            }
            continue;
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
    if is_colored {
        shown.push_str(RESET);
    }
    shown
}

/// The codes of a sequence for colours with which the text begins, and what is behind it.
fn sequence(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("\x1b[")?;
    let end = text.find(|it: char| !(it.is_ascii_digit() || it == ';' || it == ':'))?;
    let (codes, behind) = text.split_at(end);
    let behind = behind.strip_prefix('m')?;
    (codes.len() <= CODES_BYTES_MAX).then_some((codes, behind))
}

/// Our sequence for these codes; empty if we have none for them.
fn ours(codes: &str) -> String {
    let mut numbers = codes.split([';', ':']).map(|code| match code {
        "" => Some(0),
        code => code.parse::<u8>().ok(),
    });
    let mut ours = String::new();
    while let Some(Some(code)) = numbers.next() {
        let code = match code {
            0 => {
                RESET.clone_into(&mut ours);
                continue;
            }
            // Bold, dim, italic, underlined, and the ends of these.
            1..=4 | 22..=24 | 31..=36 | 39 | 91..=96 => Some(code),
            // A theme may show it as the background.
            90 => Some(2),
            30 | 37 | 97 => Some(39),
            38 => Some(extended(&mut numbers).unwrap_or(39)),
            48 => {
                extended(&mut numbers);
                None
            }
            _ => None,
        };
        ours.extend(code.map(|code| format!("\x1b[{code}m")));
    }
    ours
}

/// The colour of ours that is most like one of 256, or like one of red, green and blue.
fn extended(numbers: &mut impl Iterator<Item = Option<u8>>) -> Option<u8> {
    let mut next = || numbers.next().flatten();
    match next()? {
        5 => match next()? {
            code @ 1..=6 => Some(30 + code),
            code @ 9..=14 => Some(82 + code),
            code @ 16..=231 => {
                let code = code - 16;
                nearest([code / 36, code / 6 % 6, code % 6].map(|part| part * 51))
            }
            _ => None,
        },
        2 => nearest([next()?, next()?, next()?]),
        _ => None,
    }
}

/// None for what is close to black, grey or white.
fn nearest(parts: [u8; 3]) -> Option<u8> {
    let most = parts.into_iter().max().filter(|most| *most >= 64)?;
    let bits = parts.map(|part| u8::from(part > most / 2));
    let code = bits[0] | bits[1] << 1 | bits[2] << 2;
    (code != 7).then_some(30 + code)
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
            ("\x1b[38;2;20;200;30mx\x1b[m", "\x1b[32mx\x1b[0m", "x"),
            ("\x1b[38;5;240mx", "\x1b[39mx\x1b[0m", "x"),
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
            ("\x1b[30;40mblack on black", "\x1b[39mblack on black\x1b[0m"),
            ("\x1b[5;7mx", "x"),
            ("\x1b[48;5;1mx", "x"),
            ("\x1b[48;2;0;0;0;31mx", "\x1b[31mx\x1b[0m"),
            ("\x1b[999;31mx", "x"),
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
