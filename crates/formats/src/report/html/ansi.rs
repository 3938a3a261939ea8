//! The colours of a command's output.

use super::words::push_text;

/// The colours that a page has, in the order of their codes. Black and white are the page's own.
const COLOURS: [Option<char>; 8] =
    [None, Some('r'), Some('g'), Some('y'), Some('u'), Some('m'), Some('c'), None];

/// Shows text that may have colours, piece by piece. All else that a terminal would obey is
/// visible.
#[derive(Debug, Default)]
pub(super) struct Coloured {
    style: TextColour,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TextColour {
    colour: Option<char>,
    is_bold: bool,
    is_dim: bool,
    is_underlined: bool,
}

impl Coloured {
    pub(super) fn push(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while let Some(start) = rest.find('\x1b') {
            if let Some((length, codes)) = sequence(&rest[start..]) {
                self.style.show(&rest[..start], out);
                if let Some(codes) = codes {
                    self.style.obey(codes);
                }
                rest = &rest[start + length..];
            } else {
                self.style.show(&rest[..=start], out);
                rest = &rest[start + 1..];
            }
        }
        self.style.show(rest, out);
    }
}

/// The length of a sequence that sets colours, and its codes; or of one that erases nothing that
/// a page shows.
fn sequence(text: &str) -> Option<(usize, Option<&str>)> {
    let body = text.strip_prefix("\x1b[")?;
    let end = body.find(|it: char| !matches!(it, '0'..='9' | ';'))?;
    match (&body[..end], body.as_bytes()[end]) {
        (codes, b'm') => Some((end + 3, Some(codes))),
        ("" | "0", b'K') => Some((end + 3, None)),
        _ => None,
    }
}

impl TextColour {
    fn show(self, text: &str, out: &mut String) {
        if self == Self::default() || text.trim().is_empty() {
            push_text(text, out);
            return;
        }
        out.push_str("<i class=\"");
        let flags = [(self.is_bold, 'b'), (self.is_dim, 'd'), (self.is_underlined, 'l')];
        let flags = flags.iter().filter(|it| it.0).map(|it| it.1);
        for (at, class) in flags.chain(self.colour).enumerate() {
            if at > 0 {
                out.push(' ');
            }
            out.push(class);
        }
        out.push_str("\">");
        push_text(text, out);
        out.push_str("</i>");
    }

    fn obey(&mut self, codes: &str) {
        let mut codes = codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.is_bold = true,
                2 => self.is_dim = true,
                4 => self.is_underlined = true,
                22 => (self.is_bold, self.is_dim) = (false, false),
                24 => self.is_underlined = false,
                30..=37 => self.colour = COLOURS[usize::from(code - 30)],
                90..=97 => self.colour = COLOURS[usize::from(code - 90)],
                39 => self.colour = None,
                38 | 48 => {
                    let colour = match codes.next() {
                        Some(5) => codes.next().and_then(of_palette),
                        Some(2) => {
                            let part = |it: Option<u8>| it.unwrap_or(0);
                            let rgb = [codes.next(), codes.next(), codes.next()].map(part);
                            nearest(rgb)
                        }
                        _ => None,
                    };
                    if code == 38 {
                        self.colour = colour;
                    }
                }
                _ => {}
            }
        }
    }
}

fn of_palette(number: u8) -> Option<char> {
    match number {
        0..=15 => COLOURS[usize::from(number % 8)],
        16..=231 => {
            let cube = number - 16;
            nearest([cube / 36, cube / 6 % 6, cube % 6].map(|it| it * 51))
        }
        232.. => None,
    }
}

/// The colour of ours that has the same strong parts; none for a grey.
fn nearest(rgb: [u8; 3]) -> Option<char> {
    let (most, least) = (rgb.into_iter().max()?, rgb.into_iter().min()?);
    if most - least < 48 {
        return None;
    }
    let middle = least + (most - least) / 2;
    let code = rgb.iter().zip([1, 2, 4]).filter(|it| *it.0 > middle).map(|it| it.1).sum::<usize>();
    COLOURS[code]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str]) -> String {
        let (mut coloured, mut out) = (Coloured::default(), String::new());
        for piece in pieces {
            coloured.push(piece, &mut out);
        }
        out
    }

    #[test]
    fn colours_are_colours() {
        let line = "\x1b[1;31mfail\x1b[0m ok \x1b[38;5;46mgreen\x1b[39m \x1b[38;2;0;0;255mblue";
        let expected =
            "<i class=\"b r\">fail</i> ok <i class=\"g\">green</i> <i class=\"u\">blue</i>";
        assert_eq!(shown(&[line]), expected);
        assert_eq!(
            shown(&["\x1b[32ma", "b\x1b[m\x1b[Kc"]),
            "<i class=\"g\">a</i><i class=\"g\">b</i>c"
        );
    }

    /// Goal: nothing that hides or moves text is obeyed, and all of it is visible.
    #[test]
    fn nothing_else_is_obeyed() {
        assert_eq!(shown(&["\x1b[8mhidden\x1b[28m"]), "hidden");
        assert_eq!(shown(&["a\x1b[2Kb\x1b]8;;x\x07\x1b"]), "a\\x1b[2Kb\\x1b]8;;x\\x07\\x1b");
        assert_eq!(shown(&["\x1b[31m<b>\x1b[999999;;m"]), "<i class=\"r\">&lt;b&gt;</i>");
    }
}
