//! Makes control characters in text from a stream visible.
//!
//! A model that reads untrusted pages writes the stream. Control characters, escape sequences, C1
//! controls, bidirectional overrides, zero-width and tag characters can rewrite a screen or hide a
//! word, so this program writes none of them raw.

use std::borrow::Cow;
use std::fmt::Write as _;

use wide::u8x16;

/// Longest name (tag, tool, call id, property) inside a message, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Whether this character could mislead a terminal or its reader.
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
        if misleads(character) {
            push_visible(character, &mut shown);
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn push_visible(character: char, shown: &mut String) {
    // Writing to a string cannot fail.
    let _ = match character {
        '\n' => write!(shown, "\\n"),
        '\r' => write!(shown, "\\r"),
        '\t' => write!(shown, "\\t"),
        c if c.is_ascii() => write!(shown, "\\x{:02x}", u32::from(c)),
        c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
    };
}

/// The same JSON on one line with everything that misleads escaped: such characters occur in
/// strings only. Readers that split on more than `\n` find nothing else to split on.
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    push_escaped_json(json, &mut out);
    out
}

/// Escapes the JSON lines that begin at this byte; the line breaks between them stay.
pub fn escape_json_lines(out: &mut String, start: usize) {
    let lines = &out[start..];
    if misleading(lines).all(|(_, character)| character == '\n') {
        return;
    }
    let mut escaped = String::with_capacity(lines.len());
    for line in lines.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        push_escaped_json(line, &mut escaped);
        escaped.push_str(end);
    }
    out.replace_range(start.., &escaped);
}

fn push_escaped_json(json: &str, out: &mut String) {
    let mut copied = 0;
    for (at, character) in misleading(json) {
        out.push_str(&json[copied..at]);
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
        copied = at + character.len_utf8();
    }
    out.push_str(&json[copied..]);
}

/// The characters that mislead. Most texts are plain, so their bytes are searched, many at a time.
fn misleading(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut from = 0;
    let suspects = std::iter::from_fn(move || {
        let at = from + first_suspect(&text.as_bytes()[from..])?;
        let character = text[at..].chars().next()?;
        from = at + character.len_utf8();
        Some((at, character))
    });
    suspects.filter(|(_, character)| misleads(*character))
}

/// The first byte of a character that may mislead.
fn first_suspect(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks();
    let mut last = [b' '; 16];
    last[..rest.len()].copy_from_slice(rest);
    let mut suspects = blocks.iter().chain([&last]).map(|block| suspects(*block)).enumerate();
    let (block, suspects) = suspects.find(|(_, suspects)| *suspects != 0)?;
    Some(block * 16 + suspects.trailing_zeros() as usize)
}

/// A bit for each byte that is not printable ASCII.
#[inline]
fn suspects(block: [u8; 16]) -> u32 {
    let from_space = u8x16::new(block) - u8x16::splat(b' ');
    let plain = from_space.min(u8x16::splat(b'~' - b' ')).simd_eq(from_space);
    !plain.to_bitmask() & 0xffff
}

/// Shows a text of several lines that comes in chunks: line breaks and tabs stay, `\r\n` becomes a
/// line break, everything else that misleads becomes visible. A joiner behind a character
/// that is not ASCII stays: emoji, and Persian and Indic words, need it.
#[derive(Debug, Clone, Copy)]
pub struct Escaper {
    /// Whether everything is shown unchanged.
    raw: bool,
    /// A carriage return at the end of the last chunk: the next may begin with its line feed.
    carriage_return: bool,
    /// The last character may be joined to the next one.
    may_join: bool,
}

impl Escaper {
    /// Unless `raw`, what misleads becomes visible.
    pub fn new(raw: bool) -> Self {
        Self { raw, carriage_return: false, may_join: false }
    }

    /// Appends the next chunk to `out`.
    pub fn text(&mut self, chunk: &str, out: &mut String) {
        if self.raw {
            out.push_str(chunk);
            return;
        }
        for character in chunk.chars() {
            if character != '\n' {
                self.end(out);
            }
            let is_joiner = matches!(character, '\u{200c}' | '\u{200d}');
            let may_join = std::mem::replace(
                &mut self.may_join,
                !character.is_ascii() && !misleads(character),
            );
            match character {
                '\r' => self.carriage_return = true,
                '\n' => {
                    self.carriage_return = false;
                    out.push('\n');
                }
                '\t' => out.push('\t'),
                c if is_joiner && may_join => out.push(c),
                c if misleads(c) => push_visible(c, out),
                c => out.push(c),
            }
        }
    }

    /// Appends a carriage return that ends the text.
    pub fn end(&mut self, out: &mut String) {
        if std::mem::take(&mut self.carriage_return) {
            out.push_str("\\r");
        }
    }
}

/// `text` without the sequences of a terminal that begin with `ESC [`.
pub fn without_colours(text: &str) -> Cow<'_, str> {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let rest = parts.map(|part| {
        let end = part.find(|it: char| ('@'..='~').contains(&it));
        end.map_or("", |end| &part[end + 1..])
    });
    Cow::Owned(std::iter::once(first).chain(rest).collect())
}

/// At most `max` bytes of `text`, cut between two characters and marked with `…`.
pub fn clipped(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let (start, _) = split_before(text, max.saturating_sub('…'.len_utf8()));
    Cow::Owned(format!("{start}…"))
}

/// At most so many characters of a text, with an ellipsis behind them if some are missing.
pub fn clipped_chars(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A text in two: as many of its characters as fit into this many bytes, and the others.
pub fn split_before(text: &str, bytes_max: usize) -> (&str, &str) {
    let end = (0..=bytes_max.min(text.len())).rfind(|&at| text.is_char_boundary(at));
    text.split_at(end.unwrap_or(0))
}

/// A name from the stream (tag, tool, property, call id) for a message: on one line, visible,
/// short.
pub fn shown(name: &str) -> String {
    format!("`{}`", clipped_chars(&visible(name), NAME_CHARS_MAX))
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
    fn a_joiner_stays_behind_what_it_joins() {
        let cases = [
            ("\u{6cc}\u{200c}\u{62e} 👨\u{200d}💻", "\u{6cc}\u{200c}\u{62e} 👨\u{200d}💻"),
            ("a\u{200d}b", "a\\u{200d}b"),
            ("é\u{200d}\u{200c}", "é\u{200d}\\u{200c}"),
            ("é\u{200b}\u{200d}", "é\\u{200b}\\u{200d}"),
        ];
        for (text, expected) in cases {
            let (mut whole, mut pieces) = (String::new(), String::new());
            Escaper::new(false).text(text, &mut whole);
            let mut escaper = Escaper::new(false);
            text.chars().for_each(|it| escaper.text(it.encode_utf8(&mut [0; 4]), &mut pieces));
            assert_eq!((&*whole, &*pieces), (expected, expected));
        }
    }

    #[test]
    fn json_lines_keep_their_line_breaks_only() {
        let plain = "é".repeat(50) + "\n";
        let mut out = format!("kept\u{1b}{plain}");
        escape_json_lines(&mut out, 5);
        assert_eq!(out, format!("kept\u{1b}{plain}"));
        escape_json_lines(&mut out, 0);
        assert_eq!(out, format!("kept\\u001b{plain}"));
        for length in 0..70 {
            let before = "x".repeat(length);
            let mut out = format!("{before}\u{e0041}é\n\u{2028}\n");
            assert_eq!(escaped_json(&out), format!("{before}\\udb40\\udc41é\\u000a\\u2028\\u000a"));
            escape_json_lines(&mut out, 0);
            assert_eq!(out, format!("{before}\\udb40\\udc41é\n\\u2028\n"));
        }
    }

    #[test]
    fn a_text_without_colours_has_all_its_words() {
        assert!(matches!(without_colours("plain"), Cow::Borrowed("plain")));
        assert_eq!(without_colours("a\x1b[1;31mé\x1b[0m\x1b[Kb\x1b[31"), "aéb");
    }

    #[test]
    fn clipping_never_splits_a_character() {
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("abcdef", 5), "ab…");
        assert_eq!(clipped("ééé", 5), "é…");
    }
}
