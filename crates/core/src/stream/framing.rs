//! Notices input that is no NDJSON at all, so that it gets one diagnosis instead of thousands.

use super::{Ending, Line};
use crate::limits::{FRAMING_BLANKS_MAX, FRAMING_LINES_MAX};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// What a line of server-sent events begins with.
pub(crate) const SSE_FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b": "];

/// What archives and other packed files begin with.
const ARCHIVES: [(&[u8], &str); 5] = [
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\0", "xz-compressed"),
    (b"BZh", "bzip2-compressed"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "a program"),
];

/// What a page begins with, in small letters.
const MARKUP: [&[u8]; 3] = [b"<!doctype html", b"<html", b"<?xml"];

/// What is known of the stream's framing so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Nothing yet: no line that is not blank.
    Unseen,
    /// The same; the user says that the stream is one array, and it does not begin as one.
    ArrayWanted,
    /// It looks like something else; `lines` that are no events have been seen.
    Suspect {
        other: Foreign,
        /// How many lines point to it.
        lines: usize,
        /// How many blank lines came after the first of them.
        blanks: usize,
    },
    /// It is something else.
    NotNdjson(Foreign),
    /// One event is one line.
    Ndjson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    Gzip,
    Archive(&'static str),
    /// A page of the web, or XML.
    Markup,
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

impl Framing {
    /// Takes the next line into account. `is_event` says whether it is one JSON object.
    ///
    /// What cannot be NDJSON (UTF-16, UTF-32, record separators) is decided at once; what could be
    /// noise before a good stream is suspect until [`FRAMING_LINES_MAX`] lines fit, or one does
    /// not.
    #[must_use]
    pub(crate) fn observe(self, line: &Line<'_>, is_event: bool) -> Self {
        let blank = line.is_blank();
        match self {
            Self::NotNdjson(_) | Self::Ndjson => self,
            Self::Unseen | Self::ArrayWanted if blank => self,
            Self::ArrayWanted => Self::NotNdjson(Foreign::NoArray),
            Self::Unseen | Self::Suspect { .. } if is_event => Self::Ndjson,
            Self::Unseen => match Foreign::begun_by(line) {
                Some(other) if other.is_certain() => Self::NotNdjson(other),
                Some(other) => Self::Suspect { other, lines: 1, blanks: 0 },
                None => Self::Ndjson,
            },
            Self::Suspect { blanks, .. } if blank && blanks >= FRAMING_BLANKS_MAX => Self::Ndjson,
            Self::Suspect { other, lines, blanks } if blank => {
                Self::Suspect { other, lines, blanks: blanks + 1 }
            }
            Self::Suspect { other, lines, blanks } => {
                let ends_item = line.bytes.trim_ascii_end().ends_with(b",");
                if !other.goes_on_with(line) {
                    Self::Ndjson
                } else if lines + 1 >= FRAMING_LINES_MAX || (other == Foreign::Array && ends_item) {
                    Self::NotNdjson(other)
                } else {
                    Self::Suspect { other, lines: lines + 1, blanks }
                }
            }
        }
    }

    /// What the end of the stream decides of a suspicion: no line contradicted it.
    #[must_use]
    pub(crate) fn finish(self) -> Self {
        match self {
            Self::Suspect { other, .. } => Self::NotNdjson(other),
            Self::Unseen | Self::ArrayWanted | Self::NotNdjson(_) | Self::Ndjson => self,
        }
    }
}

impl Foreign {
    /// What the first line that is not blank and no event points to.
    fn begun_by(line: &Line<'_>) -> Option<Self> {
        let bytes = line.bytes;
        if bytes.starts_with(b"\x1f\x8b\x08") {
            return Some(Self::Gzip);
        }
        if let Some((_, name)) = ARCHIVES.iter().find(|(start, _)| bytes.starts_with(start)) {
            return Some(Self::Archive(name));
        }
        if bytes.get(257..262) == Some(b"ustar") {
            return Some(Self::Archive("a tar archive"));
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
        if Self::ServerSentEvents.goes_on_with(line) {
            return Some(Self::ServerSentEvents);
        }
        // What the end of the stream cuts is a cut line, whatever it looks like.
        let goes_on =
            matches!(bytes.last(), Some(b'{' | b'[' | b',')) && line.ending != Ending::EndOfStream;
        match bytes.first() {
            Some(b'[') if goes_on || bytes.ends_with(b"}]") => Some(Self::Array),
            Some(b'{') if goes_on => Some(Self::PrettyPrinted),
            _ => None,
        }
    }

    fn is_certain(self) -> bool {
        match self {
            Self::Gzip
            | Self::Archive(_)
            | Self::Markup
            | Self::Utf16
            | Self::Utf32
            | Self::RecordSeparators
            | Self::NoArray => true,
            Self::ServerSentEvents | Self::Array | Self::PrettyPrinted => false,
        }
    }

    /// Whether a line may occur in a stream of this framing.
    fn goes_on_with(self, line: &Line<'_>) -> bool {
        let bytes = line.bytes.trim_ascii();
        match self {
            Self::Gzip
            | Self::Archive(_)
            | Self::Markup
            | Self::Utf16
            | Self::Utf32
            | Self::RecordSeparators
            | Self::NoArray => true,
            Self::ServerSentEvents => SSE_FIELDS.iter().any(|field| bytes.starts_with(field)),
            Self::Array | Self::PrettyPrinted => {
                matches!(bytes.first(), Some(b'"' | b'{' | b'}' | b'[' | b']' | b'-' | b'0'..=b'9'))
                    || [&b"true"[..], b"false", b"null"].iter().any(|it| bytes.starts_with(it))
            }
        }
    }

    /// The diagnosis of the whole stream.
    pub(crate) fn diagnostic(self) -> Diagnostic {
        let (what, how) = match self {
            Self::Gzip => ("gzip-compressed", "decompress it: `zcat FILE | ndjson-check`"),
            Self::Archive(name) => (name, "unpack it, and check the files in it"),
            Self::Markup => {
                ("HTML or XML", "look at it: it may be an error page of the server or a proxy")
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{each_block, parse_line};

    fn framing(stream: &[u8]) -> Framing {
        let mut framing = Framing::Unseen;
        each_block(stream, usize::MAX, 1_000, |block| {
            for line in block {
                framing = framing.observe(&line, parse_line(&line).is_ok());
            }
        });
        framing.finish()
    }

    #[test]
    fn other_framings_are_named() {
        let cases: &[(&[u8], Framing)] = &[
            (b"\x1f\x8b\x08\0abc\n", Framing::NotNdjson(Foreign::Gzip)),
            (b"\xff\xfe{\0}\0\n\0", Framing::NotNdjson(Foreign::Utf16)),
            (b"{\0}\0\n\0", Framing::NotNdjson(Foreign::Utf16)),
            (b"\0{\0}\0\n", Framing::NotNdjson(Foreign::Utf16)),
            (b"\xff\xfe\0\0{\0\0\0}\0\0\0\n\0\0\0", Framing::NotNdjson(Foreign::Utf32)),
            (b"\0\0\xfe\xff\0\0\0{\0\0\0}\0\0\0\n", Framing::NotNdjson(Foreign::Utf32)),
            (b"{\0\0\0}\0\0\0\n\0\0\0", Framing::NotNdjson(Foreign::Utf32)),
            (b"\0\0\0{\0\0\0}\0\0\0\n", Framing::NotNdjson(Foreign::Utf32)),
            (b"\x1e{}\n\x1e{}\n", Framing::NotNdjson(Foreign::RecordSeparators)),
            (b"data: {}\n\ndata: {}\n", Framing::NotNdjson(Foreign::ServerSentEvents)),
            (b"event: x\ndata: {}\n", Framing::NotNdjson(Foreign::ServerSentEvents)),
            (b"[\n1,\n{\"a\":2}\n]\n", Framing::NotNdjson(Foreign::Array)),
            (b"[1,{\"a\":2}]\n", Framing::NotNdjson(Foreign::Array)),
            (b"\n{\n \"a\": 1\n}\n", Framing::NotNdjson(Foreign::PrettyPrinted)),
            (b"{\"a\": 1,\n \"b\": 2}\n", Framing::NotNdjson(Foreign::PrettyPrinted)),
            (b": ping\n\ndata: {}\n", Framing::NotNdjson(Foreign::ServerSentEvents)),
            (b"\xfe\xff\0{\0}\0\n", Framing::NotNdjson(Foreign::Utf16)),
            (b"\xef\xbb\xbf\x1e{}\n", Framing::NotNdjson(Foreign::RecordSeparators)),
            (b"\xef\xbb\xbf{\n\"a\": 1\n}\n", Framing::NotNdjson(Foreign::PrettyPrinted)),
        ];
        for (stream, expected) in cases {
            assert_eq!(framing(stream), *expected, "{}", String::from_utf8_lossy(stream));
        }
    }

    /// What is known after each line; `is_event` is what the parser says of it.
    fn steps(first: Framing, stream: &str) -> Vec<Framing> {
        let (mut framing, mut steps) = (first, Vec::new());
        each_block(stream.as_bytes(), usize::MAX, 1_000, |block| {
            for line in block {
                framing = framing.observe(&line, parse_line(&line).is_ok());
                steps.push(framing);
            }
        });
        steps
    }

    fn suspect(other: Foreign, lines: usize, blanks: usize) -> Framing {
        Framing::Suspect { other, lines, blanks }
    }

    #[test]
    fn each_line_adds_to_a_suspicion_or_ends_it() {
        use Foreign::{Array, NoArray, PrettyPrinted, RecordSeparators, ServerSentEvents};
        use Framing::{ArrayWanted, Ndjson, NotNdjson, Unseen};

        let rows: &[(&str, &[Framing])] = &[
            ("\n \n{}\n", &[Unseen, Unseen, Ndjson]),
            ("hello\n", &[Ndjson]),
            ("{\"a\":\n", &[Ndjson]),
            // What is known does not change.
            ("{}\ndata: {}\n", &[Ndjson, Ndjson]),
            ("\x1e{}\n{}\n", &[NotNdjson(RecordSeparators), NotNdjson(RecordSeparators)]),
            // A suspicion waits for lines, not for blank ones.
            ("data: {}\n\n", &[suspect(ServerSentEvents, 1, 0), suspect(ServerSentEvents, 1, 1)]),
            (
                "data: {}\n\ndata: {}\n",
                &[
                    suspect(ServerSentEvents, 1, 0),
                    suspect(ServerSentEvents, 1, 1),
                    suspect(ServerSentEvents, 2, 1),
                ],
            ),
            ("data: {}\nhello\n", &[suspect(ServerSentEvents, 1, 0), Ndjson]),
            ("data: {}\n{}\n", &[suspect(ServerSentEvents, 1, 0), Ndjson]),
            ("{\n\"a\": 1\n", &[suspect(PrettyPrinted, 1, 0), suspect(PrettyPrinted, 2, 0)]),
            ("{\ntrue\n", &[suspect(PrettyPrinted, 1, 0), suspect(PrettyPrinted, 2, 0)]),
            ("{\nTrue\n", &[suspect(PrettyPrinted, 1, 0), Ndjson]),
            ("{\n{}\n", &[suspect(PrettyPrinted, 1, 0), Ndjson]),
            // An item of an array is enough.
            ("[\n1,\n", &[suspect(Array, 1, 0), NotNdjson(Array)]),
            ("[\n1\n", &[suspect(Array, 1, 0), suspect(Array, 2, 0)]),
            ("{\n\"a\": 1,\n", &[suspect(PrettyPrinted, 1, 0), suspect(PrettyPrinted, 2, 0)]),
        ];
        for (stream, expected) in rows {
            assert_eq!(steps(Unseen, stream), *expected, "{stream:?}");
        }
        let rows: &[(&str, &[Framing])] = &[
            ("\n{}\n", &[ArrayWanted, NotNdjson(NoArray)]),
            ("hello\n{}\n", &[NotNdjson(NoArray), NotNdjson(NoArray)]),
        ];
        for (stream, expected) in rows {
            assert_eq!(steps(ArrayWanted, stream), *expected, "{stream:?}");
        }
    }

    #[test]
    fn a_suspicion_ends_after_some_lines() {
        let last = |stream: String| steps(Framing::Unseen, &stream).pop().expect("a line");
        let lines = |count: usize| last("data: {}\n".repeat(count));
        let other = Foreign::ServerSentEvents;
        assert_eq!(lines(FRAMING_LINES_MAX - 1), suspect(other, FRAMING_LINES_MAX - 1, 0));
        assert_eq!(lines(FRAMING_LINES_MAX), Framing::NotNdjson(other));
        let blanks = |count: usize| last("data: {}\n".to_owned() + &"\n".repeat(count));
        assert_eq!(blanks(FRAMING_BLANKS_MAX), suspect(other, 1, FRAMING_BLANKS_MAX));
        assert_eq!(blanks(FRAMING_BLANKS_MAX + 1), Framing::Ndjson);
    }

    #[test]
    fn the_end_confirms_a_suspicion() {
        let other = Foreign::PrettyPrinted;
        for (framing, expected) in [
            (suspect(other, 1, 0), Framing::NotNdjson(other)),
            (Framing::NotNdjson(other), Framing::NotNdjson(other)),
            (Framing::Unseen, Framing::Unseen),
            (Framing::ArrayWanted, Framing::ArrayWanted),
            (Framing::Ndjson, Framing::Ndjson),
        ] {
            assert_eq!(framing.finish(), expected, "{framing:?}");
        }
    }

    #[test]
    fn noise_before_a_stream_is_not_another_framing() {
        let streams: [&[u8]; 6] = [
            b"{\"a\":1}\n{\n\"b\": 1\n}\n",
            b"{\n debug: true\n}\n{\"a\":1}\n",
            b"loading: 5\n{\"a\":1}\n",
            b"[1,2]\n{\"a\":1}\n",
            b"{\"a\":\"cut\nError: x\n",
            b"retry: 1\nnpm warn a\nnpm warn b\nnpm warn c\nnpm warn d\n{\"a\":1}\n",
        ];
        for stream in streams {
            assert_eq!(framing(stream), Framing::Ndjson, "{}", String::from_utf8_lossy(stream));
        }
        assert_eq!(framing(b"\n \n"), Framing::Unseen);
        assert_eq!(framing(b"{\"a\":1,"), Framing::Ndjson);
        assert_eq!(framing(b"["), Framing::Ndjson);
    }
}
