//! Formats that are not NDJSON, and what the lines of each look like.

use super::{Ending, Line};
use crate::limits::{FRAMING_LINES_MAX, FRAMING_TEXT_LINES_MAX};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// What a line of server-sent events begins with.
pub(crate) const SSE_FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b": "];

/// What a file of some format begins with, the name of the format, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileFormat {
    start: &'static [u8],
    name: &'static str,
    how: &'static str,
}

const UNPACK: &str = "unpack it, and check the files in it";
const NO_STREAM: &str = "name the recording of the agent";
const PROGRAM: &str = "to check what a program writes: `ndjson-check -- PROGRAM`";

const fn file(start: &'static [u8], name: &'static str, how: &'static str) -> FileFormat {
    FileFormat { start, name, how }
}

pub(super) const FILES: [FileFormat; 16] = [
    file(b"PK\x03\x04", "a zip archive", UNPACK),
    file(b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    file(b"\xfd7zXZ\0", "xz-compressed", "decompress it: `xz -dc FILE | ndjson-check`"),
    file(b"BZh", "bzip2-compressed", "decompress it: `bzip2 -dc FILE | ndjson-check`"),
    file(b"\x04\x22\x4d\x18", "lz4-compressed", "decompress it: `lz4 -dc FILE | ndjson-check`"),
    // Only the program unpacks it.
    file(b"\x28\xb5\x2f\xfd", "Zstandard-compressed", "decompress it: `zstd -dc FILE`"),
    file(b"\x89PNG", "an image", NO_STREAM),
    file(b"\xff\xd8\xff", "an image", NO_STREAM),
    file(b"GIF8", "an image", NO_STREAM),
    file(b"%PDF-", "a PDF document", NO_STREAM),
    file(b"SQLite format 3\0", "an SQLite database", "export the events from it, one on each line"),
    file(b"\x7fELF", "a program", PROGRAM),
    file(b"\xcf\xfa\xed\xfe", "a program", PROGRAM),
    file(b"\xca\xfe\xba\xbe", "a program", PROGRAM),
    file(b"MZ\x90\0", "a program", PROGRAM),
    file(b"\0\0\0\0", "NUL bytes", "the file is empty or damaged: record the run again"),
];

const TAR: FileFormat = file(b"", "a tar archive", UNPACK);

/// What a page begins with, in small letters.
const MARKUP: [&[u8]; 3] = [b"<!doctype html", b"<html", b"<?xml"];

/// Longest text in front of each event, in bytes.
const PREFIX_BYTES_MAX: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    Gzip,
    File(&'static FileFormat),
    /// Bytes that are no text.
    Binary,
    /// A page of the web, or XML.
    Markup,
    Yaml,
    Toml,
    /// Rows with a separator, and how many of them each has.
    Table(u8, usize),
    /// Events with a time stamp or a name in front.
    Prefixed,
    /// UTF-16, with or without a byte order mark.
    Utf16,
    Utf32,
    /// Record separators, RFC 7464.
    RecordSeparators,
    ServerSentEvents,
    /// One JSON array over the whole input that is not one of events.
    Array,
    /// Anything but the array that the user wants.
    NoArray,
    /// JSON over several lines.
    PrettyPrinted,
}

impl Foreign {
    /// What the first line that is not blank and no event points to.
    pub(super) fn begun_by(line: &Line<'_>) -> Option<Self> {
        let bytes = line.bytes;
        if bytes.starts_with(b"\x1f\x8b\x08") {
            return Some(Self::Gzip);
        }
        if let Some(format) = FILES.iter().find(|format| bytes.starts_with(format.start)) {
            return Some(Self::File(format));
        }
        if bytes.get(257..262) == Some(b"ustar") {
            return Some(Self::File(&TAR));
        }
        let starts: [&[u8]; 4] = [b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"{\0\0\0", b"\0\0\0{"];
        if starts.iter().any(|start| bytes.starts_with(start)) {
            return Some(Self::Utf32);
        }
        if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..]) {
            return Some(Self::Utf16);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
        if bytes.starts_with(b"\x1e") {
            return Some(Self::RecordSeparators);
        }
        let begin = bytes[..bytes.len().min(15)].to_ascii_lowercase();
        if MARKUP.iter().any(|start| begin.starts_with(start)) {
            return Some(Self::Markup);
        }
        let of_lines = [Self::ServerSentEvents, Self::Prefixed, Self::Binary];
        if let Some(found) = of_lines.into_iter().find(|it| it.goes_on_with(line)) {
            return Some(found);
        }
        // What the end of the stream cuts is a cut line, whatever it looks like.
        let goes_on =
            matches!(bytes.last(), Some(b'{' | b'[' | b',')) && line.ending != Ending::EndOfStream;
        match bytes.first() {
            Some(b'[') if goes_on || bytes.ends_with(b"}]") => Some(Self::Array),
            Some(b'{') if goes_on => Some(Self::PrettyPrinted),
            Some(b'#' | b'"' | b']') => table(bytes),
            _ if begins_toml(bytes) => Some(Self::Toml),
            Some(b'{' | b'[') => None,
            _ if begins_yaml(bytes) => Some(Self::Yaml),
            _ => table(bytes),
        }
    }

    /// Whether one line of it is enough.
    pub(super) fn is_certain(self) -> bool {
        match self {
            Self::Gzip
            | Self::File(_)
            | Self::Markup
            | Self::Utf16
            | Self::Utf32
            | Self::RecordSeparators
            | Self::NoArray => true,
            Self::Binary
            | Self::Yaml
            | Self::Toml
            | Self::Table(..)
            | Self::Prefixed
            | Self::ServerSentEvents
            | Self::Array
            | Self::PrettyPrinted => false,
        }
    }

    /// Whether a single line says too little.
    pub(super) fn needs_lines(self) -> bool {
        matches!(self, Self::Yaml | Self::Toml | Self::Table(..) | Self::Prefixed)
    }

    /// Whether a program may write such text in place of events.
    pub(crate) fn is_plain_text(self) -> bool {
        matches!(self, Self::Yaml | Self::Toml | Self::Table(..))
    }

    /// How many lines show it before the end of the stream does. An agent's log in front of its
    /// events looks like text formats, so these need more.
    pub(super) fn lines_max(self) -> usize {
        if self.needs_lines() { FRAMING_TEXT_LINES_MAX } else { FRAMING_LINES_MAX }
    }

    /// Whether a line may occur in a stream of this framing.
    pub(super) fn goes_on_with(self, line: &Line<'_>) -> bool {
        let bytes = line.bytes.trim_ascii();
        match self {
            _ if self.is_certain() => true,
            // A damaged event is no binary data.
            Self::Binary => !bytes.starts_with(b"{") && is_binary(line.bytes),
            Self::Yaml => goes_on_yaml(bytes),
            Self::Toml => goes_on_toml(bytes),
            Self::Table(separator, count) => separators(bytes, separator) == count,
            Self::Prefixed => has_prefix(bytes),
            Self::ServerSentEvents => SSE_FIELDS.iter().any(|field| bytes.starts_with(field)),
            _ => {
                matches!(bytes.first(), Some(b'"' | b'{' | b'}' | b'[' | b']' | b'-' | b'0'..=b'9'))
                    || [&b"true"[..], b"false", b"null"].iter().any(|it| bytes.starts_with(it))
            }
        }
    }

    pub(crate) fn diagnostic(self) -> Diagnostic {
        let (what, how) = match self {
            Self::Gzip => ("gzip-compressed", "decompress it: `zcat FILE | ndjson-check`"),
            Self::File(format) => (format.name, format.how),
            Self::Binary => {
                ("binary data", "it may be compressed or encrypted: `file FILE` names it")
            }
            Self::Markup => {
                ("HTML or XML", "look at it: it may be an error page of the server or a proxy")
            }
            Self::Yaml => ("YAML", NO_STREAM),
            Self::Toml => ("TOML", NO_STREAM),
            Self::Table(b',', _) => ("CSV", NO_STREAM),
            Self::Table(..) => ("a table", NO_STREAM),
            Self::Prefixed => (
                "a log with text in front of each event",
                "remove that text: `sed 's/^[^{]*//' FILE | ndjson-check`",
            ),
            Self::Utf16 => (
                "UTF-16 text",
                "re-encode it as UTF-8; PowerShell writes UTF-16 with `>`, and UTF-8 with \
                 `| Out-File -Encoding utf8`",
            ),
            Self::Utf32 => ("UTF-32 text", "re-encode it as UTF-8: `iconv -f UTF-32 -t UTF-8`"),
            Self::RecordSeparators => {
                ("a JSON text sequence (RFC 7464)", "remove the record separators: `tr -d '\\036'`")
            }
            Self::ServerSentEvents => (
                "a stream of server-sent events",
                "keep the data lines only: `sed -n 's/^data: *//p'`",
            ),
            Self::Array => (
                "one JSON array",
                "its first element is no object, or another format was asked for",
            ),
            Self::NoArray => {
                ("one JSON array", "the format `array` was asked for; leave it out, or use `auto`")
            }
            Self::PrettyPrinted => {
                ("JSON over several lines", "write one event on each line: `jq -c .`")
            }
        };
        let message = match self {
            Self::NoArray => format!("the input is not {what}; nothing else was checked"),
            _ => format!("the input is {what}, not NDJSON; nothing else was checked"),
        };
        Diagnostic::new(Rule::NotNdjson, message).at(1, 0).note(how)
    }
}

/// Whether a line is neither text nor a sequence of colours.
fn is_binary(bytes: &[u8]) -> bool {
    let is_control =
        |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\r' | b'\x0c' | b'\x1b');
    str::from_utf8(bytes).is_err() && bytes.iter().any(is_control)
}

/// Whether there is a time of the day, or a name and a bar, in front of an object.
fn has_prefix(bytes: &[u8]) -> bool {
    let Some(object) = memchr::memmem::find(bytes, b"{\"") else { return false };
    let prefix = &bytes[..object];
    let has_time = prefix.windows(5).any(|it| {
        let digits = [it[0], it[1], it[3], it[4]];
        it[2] == b':' && digits.iter().all(u8::is_ascii_digit)
    });
    (1..=PREFIX_BYTES_MAX).contains(&object)
        && bytes.ends_with(b"}")
        && (has_time || prefix.ends_with(b"| "))
}

/// The value behind a key of YAML; none if the line is something else.
fn yaml_value(bytes: &[u8]) -> Option<&[u8]> {
    let item = bytes.strip_prefix(b"- ").unwrap_or(bytes);
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
    let end = item.iter().position(|byte| !is_key(byte)).filter(|end| *end > 0)?;
    let value = item[end..].strip_prefix(b":")?;
    (value.is_empty() || value.starts_with(b" ")).then_some(value)
}

const MESSAGE_LEVELS: [&[u8]; 5] = [b"error", b"fatal", b"warning", b"warn", b"info"];

/// A mark, or a key whose value follows on the next lines. What is in front of a sentence, or says
/// how bad something is, is no key but a message of a program.
fn begins_yaml(bytes: &[u8]) -> bool {
    let is_empty = |value: &[u8]| value.trim_ascii().is_empty();
    let key = bytes.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_level = MESSAGE_LEVELS.iter().any(|level| key.eq_ignore_ascii_case(level));
    bytes == b"---" || !is_level && yaml_value(bytes).is_some_and(is_empty)
}

fn goes_on_yaml(bytes: &[u8]) -> bool {
    bytes.starts_with(b"#") || yaml_value(bytes).is_some()
}

/// A table, or a key with a string: programs write other values behind `=`, too.
fn begins_toml(bytes: &[u8]) -> bool {
    let is_table = bytes.starts_with(b"[");
    goes_on_toml(bytes) && (is_table || bytes.windows(3).any(|it| it == b"= \""))
}

/// A table, a key with a value, the rest of a value, or a remark.
fn goes_on_toml(bytes: &[u8]) -> bool {
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"".contains(byte);
    let is_name = |name: &[u8]| name.iter().all(is_key) && name.iter().any(u8::is_ascii_alphabetic);
    let table = bytes.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]"));
    let table =
        table.map(|it| it.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]")).unwrap_or(it));
    let mut words = bytes.splitn(2, |byte| *byte == b'=');
    let key = words.next().filter(|_| words.next().is_some_and(|it| !it.is_empty()));
    let key = key.map(<[u8]>::trim_ascii);
    let is_rest = matches!(bytes.first(), Some(b'#' | b'"' | b']'));
    is_rest || table.or(key).is_some_and(is_name)
}

/// The table whose head the line may be: its columns have names without spaces.
fn table(bytes: &[u8]) -> Option<Foreign> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"".contains(byte);
    let separator = [b',', b';', b'\t'].into_iter().find(|separator| {
        let mut columns = bytes.split(|byte| byte == separator);
        bytes.contains(separator) && columns.all(|it| !it.is_empty() && it.iter().all(is_name))
    })?;
    Some(Foreign::Table(separator, separators(bytes, separator)))
}

/// How many separators there are outside quotes.
fn separators(bytes: &[u8], separator: u8) -> usize {
    let mut in_quotes = false;
    let is_counted = |byte: &&u8| {
        in_quotes ^= **byte == b'"';
        **byte == separator && !in_quotes
    };
    bytes.iter().filter(is_counted).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_a_time_or_a_bar_in_front_of_each_object() {
        for (line, expected) in [
            ("10:00:01 {\"a\":1}", true),
            ("web-1 | {\"a\":1}", true),
            ("ab:cd {\"a\":1}", false),
            ("10:00:01 {\"a\":1} done", false),
            ("{\"at\":\"10:00:01\"}", false),
        ] {
            assert_eq!(has_prefix(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_line_of_toml_is_a_table_or_has_a_key() {
        for (line, expected) in [
            ("[tool.x]", true),
            ("[[bin]]", true),
            ("name = \"x\"", true),
            ("a=1", true),
            ("[1]", false),
            ("[info] it = 1", false),
            ("it is = 1", false),
        ] {
            assert_eq!(goes_on_toml(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_line_of_yaml_has_a_key() {
        assert!(begins_yaml(b"---") && begins_yaml(b"jobs:"));
        assert!(!begins_yaml(b"Unauthorized: 401") && !begins_toml(b"key=1"));
        assert!(begins_toml(b"[tool.x]") && begins_toml(b"name = \"x\""));
        assert!(!begins_yaml(b"error: it is not signed in"));
        assert_eq!(yaml_value(b"a: x"), Some(&b" x"[..]));
        assert_eq!(yaml_value(b"- a:"), Some(&b""[..]));
        assert_eq!(yaml_value(b"a:x"), None);
        assert_eq!(yaml_value(b": x"), None);
    }
}
