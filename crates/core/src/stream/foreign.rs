//! Formats that are not NDJSON, and what the lines of each look like.

mod log;
mod text;

use super::{Ending, Line, parse_line};
use crate::limits::{FRAMING_BLANKS_MAX, FRAMING_LINES_MAX, FRAMING_TEXT_LINES_MAX};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

use log::{begins_log, has_colours, has_prefix, is_log_line};
use text::{begins_toml, begins_yaml, goes_on_toml, goes_on_yaml, separators, table};

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
pub(super) const OF_PAGE: &str = "look at it: it may be an error page of the server or a proxy";
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    Gzip,
    File(&'static FileFormat),
    /// Bytes that are not text.
    Binary,
    /// A page of the web, or XML.
    Markup,
    Yaml,
    Toml,
    /// Rows with a separator, and how many of them each has.
    Table(u8, usize),
    /// A log: events with a time stamp or a name in front, and perhaps other lines with one.
    Prefixed,
    /// Events in the colours of a terminal.
    Coloured,
    /// Events with a comma behind each.
    Commas,
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
        if begins_log(bytes) {
            return Some(Self::Prefixed);
        }
        let of_lines =
            [Self::ServerSentEvents, Self::Coloured, Self::Prefixed, Self::Commas, Self::Binary];
        if let Some(found) = of_lines.into_iter().find(|it| it.is_begun_by(line)) {
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
            | Self::Coloured
            | Self::Commas
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

    /// How many lines may be there that show nothing.
    pub(super) fn others_max(self) -> usize {
        if self == Self::Prefixed { FRAMING_TEXT_LINES_MAX } else { FRAMING_BLANKS_MAX }
    }

    fn is_begun_by(self, line: &Line<'_>) -> bool {
        let bytes = line.bytes.trim_ascii();
        match self {
            Self::Prefixed => has_prefix(bytes) || is_log_line(bytes),
            Self::Binary => self.goes_on_with(line) && is_binary(line.bytes),
            _ => self.goes_on_with(line),
        }
    }

    /// Whether a line that may occur shows that it is this framing.
    pub(super) fn is_shown_by(self, line: &Line<'_>) -> bool {
        match self {
            Self::Prefixed => has_prefix(line.bytes.trim_ascii()),
            Self::Binary => is_binary(line.bytes),
            _ => true,
        }
    }

    /// Whether a line may occur in a stream of this framing.
    pub(super) fn goes_on_with(self, line: &Line<'_>) -> bool {
        let bytes = line.bytes.trim_ascii();
        match self {
            _ if self.is_certain() => true,
            // A damaged event is not binary data. What runs an agent adds lines to its log.
            Self::Binary | Self::Prefixed => !bytes.starts_with(b"{"),
            Self::Yaml => goes_on_yaml(bytes),
            Self::Toml => goes_on_toml(bytes),
            Self::Table(separator, count) => separators(bytes, separator) == count,
            Self::Coloured => has_colours(bytes),
            Self::Commas => is_event_with_comma(bytes),
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
            Self::Markup => ("HTML or XML", OF_PAGE),
            Self::Yaml => ("YAML", NO_STREAM),
            Self::Toml => ("TOML", NO_STREAM),
            Self::Table(b',', _) => ("CSV", NO_STREAM),
            Self::Table(..) => ("a table", NO_STREAM),
            Self::Prefixed => (
                "a log with text in front of each event",
                "keep the events only: `sed -n 's/^[^{]*{\"/{\"/p' FILE | ndjson-check`",
            ),
            Self::Coloured => (
                "events in terminal colours",
                "call the agent with NO_COLOR=1, or remove the colours: \
                 `sed 's/\\x1b\\[[0-9;]*m//g' FILE | ndjson-check`",
            ),
            Self::Commas => (
                "events with a comma behind each",
                "remove the commas: `sed 's/,$//' FILE | ndjson-check`",
            ),
            Self::Utf16 => (
                "UTF-16 text",
                "re-encode it: `iconv -f UTF-16 -t UTF-8 FILE | ndjson-check`; PowerShell writes \
                 UTF-8 with `| Out-File -Encoding utf8`",
            ),
            Self::Utf32 => {
                ("UTF-32 text", "re-encode it: `iconv -f UTF-32 -t UTF-8 FILE | ndjson-check`")
            }
            Self::RecordSeparators => (
                "a JSON text sequence (RFC 7464)",
                "remove the record separators: `tr -d '\\036' < FILE | ndjson-check`",
            ),
            Self::ServerSentEvents => (
                "a stream of server-sent events",
                "keep the data lines only: `sed -n 's/^data: *//p' FILE | ndjson-check`",
            ),
            Self::Array => (
                "one JSON array",
                "its first element is not a complete object, or another format was requested",
            ),
            Self::NoArray => {
                ("one JSON array", "the format `array` was asked for; leave it out, or use `auto`")
            }
            Self::PrettyPrinted => (
                "JSON over several lines",
                "run the agent with its flag for events, or write one event on each line: \
                     `jq -c . FILE | ndjson-check`",
            ),
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

/// An object and a comma.
fn is_event_with_comma(bytes: &[u8]) -> bool {
    let event = bytes.strip_suffix(b",").filter(|it| it.starts_with(b"{") && it.ends_with(b"}"));
    event.is_some_and(|event| parse_line(&Line::new(0, event, Ending::Lf)).is_ok())
}
