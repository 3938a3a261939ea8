//! The rest of a private key, behind its first words.

use memchr::memmem;

use crate::classes::Class;

/// Longest private key that is found as a whole, in bytes.
pub const PRIVATE_KEY_BYTES_MAX: usize = 16 * 1024;

const LABEL_BYTES_MAX: usize = 48;

/// Longest text in front of a line: its number, the name of a container, a mark of a difference.
const MARGIN_BYTES_MAX: usize = 64;

/// Longest margin of an empty line, without digits and spaces.
const BLANK_BYTES_MAX: usize = 12;

/// Longest line that is looked at; a key may be written without line feeds.
const LINE_BYTES_MAX: usize = 4096;

/// What a line of a key has at least: this many characters of base64 at its end.
const LINE_BYTES_MIN: usize = 16;

/// What begins the last line of a key of `PuTTY`.
const PUTTY_END: &[u8] = b"Private-MAC: ";

/// What a whole key in base64 has at least, behind its first characters.
const ENCODED_BYTES_MIN: usize = 40;

/// What follows the first words of a key.
pub(crate) enum Key {
    No,
    /// The text ends inside the label; whether it is that of a private key is known.
    Cut(bool),
    /// Its length, and whether it has its end.
    Yes(usize, bool),
}

/// The rest of a block, behind `-----BEGIN ` and the like.
pub(crate) fn key(prefix: &[u8], body: &[u8]) -> Key {
    if prefix.starts_with(b"PuTTY") {
        return putty(body);
    }
    if prefix.starts_with(b"LS0t") {
        return base64(body);
    }
    let label = &body[..body.len().min(LABEL_BYTES_MAX)];
    let label = &label[..label.iter().position(|it| !is_of_label(*it)).unwrap_or(label.len())];
    let is_private = memmem::find(&label.to_ascii_uppercase(), b"PRIVATE KEY").is_some();
    let dashes = dashes(&body[label.len()..]);
    if !is_private || dashes < 4 {
        let is_cut = label.len() + dashes == body.len() && body.len() < LABEL_BYTES_MAX;
        return if is_cut { Key::Cut(is_private) } else { Key::No };
    }
    let start = label.len() + dashes;
    let block = &body[start..body.len().min(start + PRIVATE_KEY_BYTES_MAX)];
    let mut from = 0;
    // The next dashes are those of the end, or of another key.
    while let Some(at) = memmem::find(&block[from..], b"----") {
        let at = from + at;
        let rest = &block[at + self::dashes(&block[at..])..];
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        if starts_with_word(rest, b"end ") {
            let label = 4 + rest[4..].iter().take_while(|it| is_of_label(**it)).count();
            let behind = block.len() - rest.len() + label;
            let end = behind + self::dashes(&block[behind..]);
            // All dashes are there, or something else follows.
            return Key::Yes(start + end, end >= behind + 5 || start + end < body.len());
        }
        if starts_with_word(rest, b"begin ") {
            return Key::Yes(start + lines(&block[..at]), true);
        }
        from = block.len() - rest.len();
    }
    let length = lines(block);
    Key::Yes(start + length, start + length < body.len())
}

/// Whether a key has a last line that has not come. What is written in base64 has none.
pub(crate) fn lacks_end(key: &[u8]) -> bool {
    let has = |end: &[u8]| memmem::find(key, end).is_some();
    match () {
        () if key.starts_with(b"LS0t") => false,
        () if key.starts_with(b"PuTTY") => !has(PUTTY_END),
        () => !(has(b"END ") || has(b"end ")),
    }
}

/// A key of `PuTTY`, behind `PuTTY-User-Key-File-`: its MAC ends it.
fn putty(body: &[u8]) -> Key {
    let block = &body[..body.len().min(PRIVATE_KEY_BYTES_MAX)];
    if let Some(at) = memmem::find(block, PUTTY_END) {
        let mac = at + PUTTY_END.len();
        let end = mac + Class::Hex.length(&block[mac..]);
        return Key::Yes(end, end < body.len());
    }
    // The kind of the key is on the first line.
    let (line, feed) = next_line(block);
    let start = line.len() + feed;
    let length = start + lines(&block[start..]);
    Key::Yes(length, length < body.len())
}

/// A whole key in base64, which may be printed in lines.
fn base64(body: &[u8]) -> Key {
    let block = &body[..body.len().min(PRIVATE_KEY_BYTES_MAX)];
    let length = |at: usize| block[at..].iter().take_while(|it| is_base64(**it)).count();
    let mut end = length(0);
    if end < ENCODED_BYTES_MIN {
        return if end == body.len() { Key::Cut(true) } else { Key::No };
    }
    loop {
        let (rest, feed) = next_line(&block[end..block.len().min(end + MARGIN_BYTES_MAX)]);
        if !rest.is_empty() || feed == 0 {
            break;
        }
        let spaces = block[end + feed..].iter().take_while(|it| **it == b' ').count();
        let line = length(end + feed + spaces);
        let next = end + feed + spaces + line;
        let is_last = next == block.len() || (line > 0 && line % 4 == 0);
        if !(line >= LINE_BYTES_MIN || is_last) || block.get(next).is_some_and(|it| *it > b' ') {
            break;
        }
        end = next;
        if line < LINE_BYTES_MIN {
            break;
        }
    }
    Key::Yes(end, end < body.len())
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// How far the lines of a key go; the first is the rest of the line of its first words.
fn lines(block: &[u8]) -> usize {
    let (mut end, mut at) = (0, 0);
    let mut margin = Vec::new();
    loop {
        let (line, feed) = next_line(&block[at..block.len().min(at + LINE_BYTES_MAX)]);
        let body = &line[margin_length(line)..];
        let shape = shape(&line[..line.len() - body.len()]);
        let is_rest = at == 0;
        let is_long = body.len() >= LINE_BYTES_MIN;
        let is_last = at + line.len() + feed == block.len();
        // The text may end in the middle of a line.
        let is_cut = is_last
            && line.len() <= MARGIN_BYTES_MAX
            && (margin.starts_with(&self::shape(line)) || is_cut_head(line) || is_cut_end(line));
        let is_short = !is_rest && shape == margin;
        // An empty line in front of the first one shows no more than what margins look like.
        let is_blank = margin.is_empty() && body.is_empty() && shape.len() <= BLANK_BYTES_MAX;
        let is_of_key =
            is_blank || (is_rest && body.len() == line.len()) || is_long || is_short || is_cut;
        if !is_of_key && !is_head(line) {
            return end;
        }
        if is_long && !is_rest {
            margin = shape;
        }
        at += line.len() + feed;
        if is_last {
            return at;
        }
        // A line feed behind the last line stays.
        end = if body.is_empty() && !is_head(line) { end } else { at - feed };
        if is_short && !is_long && !body.is_empty() {
            return end;
        }
    }
}

/// A line, and the length of the line feed behind it, which may be written as an escape.
fn next_line(text: &[u8]) -> (&[u8], usize) {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'\n', b'\\', &text[at..]) {
        at += found;
        if text[at] == b'\n' {
            let line = text[..at].strip_suffix(b"\r").unwrap_or(&text[..at]);
            return (line, at + 1 - line.len());
        }
        let slashes = text[at..].iter().take_while(|it| **it == b'\\').count();
        if matches!(text.get(at + slashes), Some(b'n' | b'r')) {
            return (&text[..at], slashes + 1);
        }
        at += slashes;
    }
    (text, 0)
}

/// Where the base64 at the end of a line begins.
fn margin_length(line: &[u8]) -> usize {
    let base64 = line.iter().rev().take_while(|it| is_base64(**it)).count();
    // The mark of an added line is a character of base64, too.
    let is_mark = base64 == line.len() && line.first() == Some(&b'+');
    let margin = line.len() - base64 + usize::from(is_mark);
    // What is in front is short, or this is a line of something else.
    if margin <= MARGIN_BYTES_MAX { margin } else { line.len() }
}

/// What is in front of a line, without its digits and spaces.
fn shape(margin: &[u8]) -> Vec<u8> {
    margin.iter().filter(|it| !it.is_ascii_digit() && **it != b' ').copied().collect()
}

/// What headers inside a block begin with.
const HEADS: &[&[u8]] = &[
    b"Proc-Type",
    b"DEK-Info",
    b"Comment",
    b"Version",
    b"Encryption",
    b"Hash",
    b"Public-Lines",
    b"Private-Lines",
    b"Private-MAC",
    b"Key-Derivation",
    b"Argon2-Salt",
    b"Subject",
];

/// A header inside a block: `Proc-Type: 4,ENCRYPTED`.
fn is_head(line: &[u8]) -> bool {
    let Some(colon) = memmem::find(line, b": ") else { return false };
    let word = Class::Url.length_before(&line[..colon]);
    line.len() <= 2 * MARGIN_BYTES_MAX && HEADS.contains(&&line[colon - word..colon])
}

/// The start of a header that the text cuts.
fn is_cut_head(line: &[u8]) -> bool {
    let line = line.strip_suffix(b":").unwrap_or(line);
    let word = &line[line.len() - Class::Url.length_before(line)..];
    word.len() >= 3 && HEADS.iter().any(|head| head.starts_with(word))
}

/// The start of the last line that the text cuts.
fn is_cut_end(line: &[u8]) -> bool {
    let rest = &line[memchr::memchr(b'-', line).unwrap_or(line.len())..];
    !rest.is_empty()
        && [&b"-----END "[..], b"---- END "]
            .iter()
            .any(|it| it.get(..rest.len()).is_some_and(|start| start.eq_ignore_ascii_case(rest)))
}

fn starts_with_word(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word))
}

fn dashes(text: &[u8]) -> usize {
    let spaces = usize::from(text.first() == Some(&b' ') && text.get(1) == Some(&b'-'));
    spaces + text[spaces..].iter().take(5).take_while(|it| **it == b'-').count()
}

fn is_of_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b' '
}
