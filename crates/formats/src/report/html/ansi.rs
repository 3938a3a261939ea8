//! The colours of a command's output on a page.

use super::words::push_text;
use crate::ansi::{Colour, TextStyle};

/// Shows text that may have colours, piece by piece. All else that a terminal would obey is
/// visible.
#[derive(Debug, Default)]
pub(super) struct Coloured {
    style: TextStyle,
}

impl Coloured {
    pub(super) fn push(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while let Some(start) = rest.find('\x1b') {
            let mut style = self.style;
            if let Some(behind) = style.obey(&rest[start..]) {
                show(self.style, &rest[..start], out);
                (self.style, rest) = (style, behind);
            } else {
                show(self.style, &rest[..=start], out);
                rest = &rest[start + 1..];
            }
        }
        show(self.style, rest, out);
    }
}

fn show(style: TextStyle, text: &str, out: &mut String) {
    if style == TextStyle::default() || text.trim().is_empty() {
        push_text(text, out);
        return;
    }
    out.push_str("<i class=\"");
    let is_dim = style.is_dim || style.colour == Some(Colour::Grey);
    let flags = [(style.is_bold, 'b'), (is_dim, 'd'), (style.is_underlined, 'l')];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, class)| class);
    for (at, class) in flags.chain(style.colour.and_then(class)).enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push(class);
    }
    out.push_str("\">");
    push_text(text, out);
    out.push_str("</i>");
}

fn class(colour: Colour) -> Option<char> {
    match colour {
        Colour::Red => Some('r'),
        Colour::Green => Some('g'),
        Colour::Yellow => Some('y'),
        Colour::Blue => Some('u'),
        Colour::Magenta => Some('m'),
        Colour::Cyan => Some('c'),
        Colour::Grey => None,
    }
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
        let line = "A\x1b[38:5:196mR\x1b[0m \x1b[Kend \x1b[90mgrey";
        assert_eq!(shown(&[line]), "A<i class=\"r\">R</i> end <i class=\"d\">grey</i>");
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
