//! The colours of a command's output. The stream chooses them; a log and a page show six colours
//! and grey, and follow no sequence that moves the cursor, hides a word or sets a background.

/// How a text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextStyle {
    /// None is the default colour, as are black and white.
    pub(crate) colour: Option<Colour>,
    pub(crate) is_bold: bool,
    pub(crate) is_dim: bool,
    pub(crate) is_underlined: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    Grey,
}

/// In the order of their codes.
const COLOURS: [Option<Colour>; 8] = [
    None,
    Some(Colour::Red),
    Some(Colour::Green),
    Some(Colour::Yellow),
    Some(Colour::Blue),
    Some(Colour::Magenta),
    Some(Colour::Cyan),
    None,
];

/// One of the eight colours, or of their bright forms after them; bright black is a grey.
fn basic(code: u8) -> Option<Colour> {
    if code == 8 { Some(Colour::Grey) } else { COLOURS[usize::from(code % 8)] }
}

/// The parts of a colour differ at least so much; otherwise it is a grey.
const DIFFERENCE_MIN: u8 = 48;

impl TextStyle {
    /// If a text begins with a sequence for colours, takes the style from it and returns what
    /// follows. A sequence that erases the rest of a line, which is empty, changes nothing.
    pub(crate) fn obey<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let body = text.strip_prefix("\x1b[")?;
        let end = body.find(|it: char| !matches!(it, '0'..='9' | ';' | ':'))?;
        let (codes, rest) = body.split_at(end);
        if let Some(rest) = rest.strip_prefix('m') {
            self.apply(codes);
            return Some(rest);
        }
        rest.strip_prefix('K').filter(|_| matches!(codes, "" | "0"))
    }

    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';');
        while let Some(code) = codes.next() {
            let (code, parts) = match code.split_once(':') {
                Some((code, parts)) => (code, Some(parts)),
                None => (code, None),
            };
            let code = if code.is_empty() { Some(0) } else { number(code) };
            match code {
                Some(0) => *self = Self::default(),
                Some(1) => self.is_bold = true,
                Some(2) => self.is_dim = true,
                Some(4) => self.is_underlined = parts != Some("0"),
                Some(22) => (self.is_bold, self.is_dim) = (false, false),
                Some(24) => self.is_underlined = false,
                Some(code @ 30..=37) => self.colour = basic(code - 30),
                Some(code @ 90..=97) => self.colour = basic(code - 82),
                Some(39) => self.colour = None,
                Some(code @ (38 | 48)) => {
                    let colour = match parts {
                        // The number of a colour space may be missing.
                        Some(parts) => extended(parts.split(':').filter(|part| !part.is_empty())),
                        None => extended(&mut codes),
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

fn number(code: &str) -> Option<u8> {
    code.parse().ok()
}

/// One of 256 colours, or red, green and blue.
fn extended<'t>(mut codes: impl Iterator<Item = &'t str>) -> Option<Colour> {
    let mut next = || codes.next().and_then(number);
    match next()? {
        5 => match next()? {
            code @ 0..=15 => basic(code),
            code @ 16..=231 => {
                let code = code - 16;
                nearest([code / 36, code / 6 % 6, code % 6].map(|part| part * 51))
            }
            232.. => None,
        },
        2 => nearest([next()?, next()?, next()?]),
        _ => None,
    }
}

/// The colour with the same strong parts.
fn nearest(parts: [u8; 3]) -> Option<Colour> {
    let (most, least) = (parts.into_iter().max()?, parts.into_iter().min()?);
    if most - least < DIFFERENCE_MIN {
        return None;
    }
    let middle = least + (most - least) / 2;
    let strong = parts.iter().zip([1, 2, 4]).filter(|(part, _)| **part > middle);
    COLOURS[strong.map(|(_, bit)| bit).sum::<usize>()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(codes: &str) -> TextStyle {
        let mut style = TextStyle::default();
        assert_eq!(style.obey(&format!("\x1b[{codes}mx")), Some("x"), "{codes}");
        style
    }

    #[test]
    fn each_way_to_name_a_colour_is_known() {
        use Colour::{Blue, Green, Grey, Red, Yellow};
        for (codes, colour) in [
            ("31", Some(Red)),
            ("91", Some(Red)),
            ("38;5;196", Some(Red)),
            ("38:5:196", Some(Red)),
            ("38;2;20;200;30", Some(Green)),
            ("38:2::0:0:255", Some(Blue)),
            ("38:2:0:0:255", Some(Blue)),
            ("38;5;3", Some(Yellow)),
            ("90", Some(Grey)),
            ("38;5;8", Some(Grey)),
            ("30", None),
            ("38;5;240", None),
            ("38;2;90;100;110", None),
            ("31;48;2;0;255;0", Some(Red)),
            ("31;39", None),
            ("999;31", Some(Red)),
            ("31;", None),
        ] {
            assert_eq!(style(codes), TextStyle { colour, ..TextStyle::default() }, "{codes}");
        }
    }

    #[test]
    fn a_style_has_an_end() {
        let all = TextStyle { is_bold: true, is_dim: true, is_underlined: true, colour: None };
        assert_eq!(style("1;2;4"), all);
        assert_eq!(style("4:3"), TextStyle { is_underlined: true, ..TextStyle::default() });
        for codes in ["1;2;4;22;24", "4;4:0", "1;31;0", "5;7;8;40", "38;5", "38"] {
            assert_eq!(style(codes), TextStyle::default(), "{codes}");
        }
    }

    #[test]
    fn other_sequences_are_text() {
        let mut style = TextStyle::default();
        for text in ["\x1b[2Jx", "\x1b[2Kx", "\x1b[31", "\x1b]0;x\x07", "\x1b[?25l", "x\x1b[1m"] {
            assert_eq!(style.obey(text), None, "{text}");
        }
        assert_eq!((style.obey("\x1b[Kx"), style.obey("\x1b[0Kx")), (Some("x"), Some("x")));
        assert_eq!(style, TextStyle::default());
    }
}
