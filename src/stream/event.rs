//! Stage 2: [`Line`] → [`Event`], a line that is one JSON object.
//!
//! Two engines read lines. The reference engine is `serde_json` and a tree; it alone knows what is
//! wrong with a line. The fast one is an [`Engine`] with a tape; a line that it does not accept
//! goes to the other. Whoever looks at an event asks its [`Node`]s, which answer the same for both;
//! only who saves work for the fast one asks which it was.

mod engine;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_json::error::Category;

use crate::rules::diagnostic::Diagnostic;
use crate::error::Error;
use crate::limits::{DEPTH_MAX, DUPLICATES_PER_LINE_MAX, PIPE_BUFFER_BYTES};
use crate::stream::line::{Ending, Line};
use crate::rules::Rule;
use crate::json::schema::{Schema, Violation};
use crate::json::tape::Doc;
use crate::rules::escape::shown;

pub use engine::Engine;
pub(crate) use crate::json::locate::member;
use crate::json::{locate, tree};
pub use crate::json::json_ref::Node;
pub(crate) use tree::parse as tree;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event of the stream: a line that is one JSON object.
#[derive(Debug)]
pub struct Event<'a> {
    /// The number of its line, from 1.
    pub line: u64,
    /// The offset of its first byte in the stream, from 0.
    pub offset: u64,
    text: &'a str,
    body: Body<'a>,
}

/// What an engine made of the text.
#[derive(Debug)]
enum Body<'a> {
    Tree(Value),
    Tape(Doc<'a>),
}

impl Event<'_> {
    /// The object itself.
    pub fn root(&self) -> Node<'_> {
        match &self.body {
            Body::Tree(value) => Node::Tree(value),
            Body::Tape(doc) => Node::Tape(doc.root()),
        }
    }

    /// The object's members as they are written: each key, quotes included, and its value.
    pub(crate) fn members(&self) -> Vec<(&str, &str)> {
        locate::members(self.text)
    }

    /// Whether it satisfies a schema; `at_once` allows a validator that was made with the program.
    pub(crate) fn satisfies(&self, schema: &Schema, at_once: bool) -> bool {
        match &self.body {
            Body::Tree(value) if at_once => schema.is_valid_at_once(value),
            Body::Tree(value) => schema.is_valid(value),
            Body::Tape(doc) => schema.is_valid_on_tape(doc),
        }
    }

    /// How it fails a schema.
    ///
    /// # Errors
    ///
    /// When the schema cannot be evaluated.
    pub(crate) fn violations(&self, schema: &Schema) -> Result<Vec<Violation>, Error> {
        match &self.body {
            Body::Tree(value) => schema.violations(value),
            Body::Tape(_) => match read(self.text.as_bytes()) {
                Ok((_, value, _)) => schema.violations(&value),
                // The tape accepts nothing that the tree does not.
                Err(_) => Ok(Vec::new()),
            },
        }
    }

    /// The tape that it was read with, if it was.
    pub(crate) fn tape(&self) -> Option<&Doc<'_>> {
        match &self.body {
            Body::Tree(_) => None,
            Body::Tape(doc) => Some(doc),
        }
    }

    /// The offsets in the stream of the values that these JSON Pointers name.
    pub(crate) fn offsets(&self, pointers: &BTreeSet<String>) -> BTreeMap<String, u64> {
        let places = locate::places(self.text, pointers).into_iter();
        places.map(|(pointer, at)| (pointer, self.offset + at.value as u64)).collect()
    }

    /// The size of the event in bytes.
    pub(crate) fn length(&self) -> usize {
        self.text.len()
    }
}

/// Reads a line as one JSON object, with the reference engine.
///
/// Anything else is reported here, once, and is no event: `None`. A byte order mark, a missing
/// final newline and duplicate keys are reported, and the line is an event all the same.
///
/// Source: NDJSON 1.0.0 §3.1, RFC 8259; contract S1 and N1.
pub fn parse<'a>(line: &Line<'a>, found: &mut Vec<Diagnostic>) -> Option<Event<'a>> {
    let mut report = |diagnostic: Diagnostic, at: usize| {
        found.push(diagnostic.at(line.number, line.offset + at as u64));
    };
    if line.is_too_long() {
        let message =
            format!("the line has {} bytes, more than --max-line-bytes; skipped", line.length);
        report(Diagnostic::new(Rule::LineTooLong, message), 0);
        return None;
    }
    let (bytes, mark) = match line.bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) if line.offset == 0 => (rest, BYTE_ORDER_MARK.len()),
        Some(_) | None => (line.bytes, 0),
    };
    if mark > 0 {
        let message = "the stream begins with a UTF-8 byte order mark";
        report(Diagnostic::new(Rule::ByteOrderMark, message), 0);
    }
    if bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        report(Diagnostic::new(Rule::BlankLine, "the line is blank"), 0);
        return None;
    }
    let flaw = match read(bytes) {
        Ok((text, value, duplicates)) => {
            if line.ending == Ending::EndOfStream {
                let message = "the last event does not end with a newline";
                report(Diagnostic::new(Rule::MissingFinalNewline, message), mark + bytes.len());
            }
            let places = locate::places(text, &duplicates);
            for pointer in &duplicates {
                let at = places.get(pointer).and_then(|place| place.key).unwrap_or(0);
                let message = format!("the key {} occurs more than once", shown(pointer));
                report(Diagnostic::new(Rule::DuplicateKey, message), mark + at);
            }
            let offset = line.offset + mark as u64;
            return Some(Event { line: line.number, offset, text, body: Body::Tree(value) });
        }
        Err(flaw) => flaw,
    };
    let (diagnostic, at) = flaw.explain(line, bytes);
    report(diagnostic, mark + at);
    None
}

/// Why some bytes are no event. Offsets count from the first of them.
enum Flaw {
    Utf8 {
        at: usize,
    },
    /// The text ends before its value does.
    Unfinished,
    TooDeep {
        at: usize,
    },
    Syntax {
        at: usize,
        what: String,
    },
    NotAnObject {
        what: &'static str,
    },
}

type Object<'a> = (&'a str, Value, BTreeSet<String>);

fn read(bytes: &[u8]) -> Result<Object<'_>, Flaw> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            // A character that the end of the line cuts is part of an unfinished text.
            let cut =
                error.error_len().is_none() && matches!(read(&bytes[..at]), Err(Flaw::Unfinished));
            return Err(if cut { Flaw::Unfinished } else { Flaw::Utf8 { at } });
        }
    };
    let (value, duplicates) = tree::parse(text, DUPLICATES_PER_LINE_MAX).map_err(|error| {
        // Columns of the parser count from 1 and name the offending byte.
        let at = error.column().saturating_sub(1).min(text.len());
        if depth(&bytes[..(at + 1).min(bytes.len())]) > DEPTH_MAX {
            return Flaw::TooDeep { at };
        }
        match error.classify() {
            Category::Eof => Flaw::Unfinished,
            Category::Syntax | Category::Data | Category::Io => {
                let message = error.to_string();
                let what = message.split(" at line ").next().unwrap_or_default().to_owned();
                Flaw::Syntax { at, what }
            }
        }
    })?;
    match value {
        Value::Object(_) => Ok((text, value, duplicates)),
        Value::Array(_) => Err(Flaw::NotAnObject { what: "an array" }),
        Value::String(_) => Err(Flaw::NotAnObject { what: "a string" }),
        Value::Number(_) => Err(Flaw::NotAnObject { what: "a number" }),
        Value::Bool(_) => Err(Flaw::NotAnObject { what: "a boolean" }),
        Value::Null => Err(Flaw::NotAnObject { what: "null" }),
    }
}

/// How many arrays and objects are open at the end of `json`, strings left out.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

impl Flaw {
    /// The diagnostic, and the offset in the line where the defect begins.
    fn explain(self, line: &Line<'_>, bytes: &[u8]) -> (Diagnostic, usize) {
        match self {
            Self::Utf8 { at } => {
                let message = format!("byte {at} of the line is not valid UTF-8");
                (Diagnostic::new(Rule::InvalidUtf8, message), at)
            }
            Self::Unfinished if line.ending == Ending::EndOfStream => (truncated(line), 0),
            Self::Unfinished => {
                let message = "the line ends inside a JSON text";
                let note = "one event is one line; was the line broken, or cut by other output?";
                (Diagnostic::new(Rule::InvalidJson, message).note(note), bytes.len())
            }
            Self::TooDeep { at } => {
                let message = format!("arrays and objects are nested over {DEPTH_MAX} levels deep");
                (Diagnostic::new(Rule::NestingTooDeep, message), at)
            }
            Self::Syntax { at, what } => syntax(bytes, at, &what),
            Self::NotAnObject { what } => {
                let message = format!("the line is {what}, not an object");
                (Diagnostic::new(Rule::NotAnObject, message), 0)
            }
        }
    }
}

fn truncated(line: &Line<'_>) -> Diagnostic {
    let total = line.offset + line.length;
    let cut = if total.is_multiple_of(PIPE_BUFFER_BYTES) {
        format!(
            ", cut at {total} bytes, a multiple of the pipe buffer: \
             the producer exited before its output was drained"
        )
    } else {
        String::new()
    };
    let message =
        format!("the stream ends inside a JSON text, after {} bytes of it{cut}", line.length);
    Diagnostic::new(Rule::TruncatedLine, message)
}

/// Tells noise from a broken text: what the parser says of a line of prose helps nobody.
fn syntax(bytes: &[u8], at: usize, what: &str) -> (Diagnostic, usize) {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let object = memchr::memmem::find(bytes, b"{\"");
    let (message, note) = match object {
        _ if bytes[start] == b'{' && what == "trailing characters" && bytes[at] == b'{' => (
            format!("a second object follows, from byte {at} of the line"),
            Some("a newline is missing between two events"),
        ),
        _ if bytes[start] == b'{' && what == "trailing characters" => (
            format!("something follows the JSON text, from byte {at} of the line"),
            Some("two writers on one line: is stderr merged into stdout (2>&1)?"),
        ),
        _ if bytes[start] == b'{' => (format!("{}, at byte {at} of the line", plain(what)), None),
        _ if bytes.starts_with(BYTE_ORDER_MARK) => (
            "a byte order mark stands before the text".to_owned(),
            Some("it belongs at the start of a stream, if anywhere; were two put together?"),
        ),
        Some(object) if object > start => (
            format!("text stands before the object that begins at byte {object} of the line"),
            Some("two writers on one line: is stderr merged into stdout (2>&1)?"),
        ),
        Some(_) | None => (
            "the line is no JSON text".to_owned(),
            Some("output of something else: is stderr merged into stdout (2>&1)?"),
        ),
    };
    let diagnostic = Diagnostic::new(Rule::InvalidJson, message);
    (
        match note {
            Some(note) => diagnostic.note(note),
            None => diagnostic,
        },
        at,
    )
}

/// The parser's words where they would puzzle.
fn plain(what: &str) -> &str {
    match what {
        "unexpected end of hex escape" | "lone leading surrogate in hex escape" => {
            "half of a surrogate pair, or a broken \\u escape"
        }
        "expected ident" => "a word that is not true, false or null",
        what => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::line::LineReader;

    /// What a stream of one line raises, as `rule@offset`.
    fn raised(stream: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        let mut reader = LineReader::new(stream, 1_000_000);
        while let Some(lines) = reader.next_lines().expect("memory reads") {
            lines.for_each(|line| drop(parse(&line, &mut found)));
        }
        found.iter().map(|d| format!("{}@{}", d.rule, d.offset.expect("a place"))).collect()
    }

    #[test]
    fn each_flaw_has_its_rule_and_its_byte() {
        let deep = |levels: usize| format!("{}1{}\n", "{\"a\":".repeat(levels), "}".repeat(levels));
        let cases: &[(&[u8], &[&str])] = &[
            (b"{\"a\":1}\n", &[]),
            (b"{\"a\":1}\r\n", &[]),
            (b" {\"a\":1} \n", &[]),
            (b"{\"a\":1}", &["missing-final-newline@7"]),
            (b"\xef\xbb\xbf{\"a\":1}\n", &["byte-order-mark@0"]),
            (b"{}\n\xef\xbb\xbf{\"a\":1}\n", &["invalid-json@3"]),
            (b"{}\n \t\n", &["blank-line@3"]),
            (b"{\"a\":\"\xff\"}\n", &["invalid-utf-8@6"]),
            (b"{\"a\":\"\xe2\x82\"}\n", &["invalid-utf-8@6"]),
            (b"{\"a\":\"\xe2\x82", &["truncated-line@0"]),
            (b"{\"a\":\"\xe2\x82\n", &["invalid-json@8"]),
            (b"{\"a\":tru", &["truncated-line@0"]),
            (b"{\"a\":\"\\ud83d", &["truncated-line@0"]),
            (b"{\"a\":\"\\u00", &["truncated-line@0"]),
            (b"{\"a\":x}\n", &["invalid-json@5"]),
            (b"{\"a\":1,}\n", &["invalid-json@7"]),
            (b"{\"a\":1}{\"b\":2}\n", &["invalid-json@7"]),
            (b"Error: no\n", &["invalid-json@0"]),
            (b"npm warn {\"a\":1}\n", &["invalid-json@1"]),
            (b"[1]\n", &["not-an-object@0"]),
            (b"\"a\"\n", &["not-an-object@0"]),
            (b"{\"a\":1,\"b\":2,\"a\":3}\n", &["duplicate-key@13"]),
            (b"{\"x\":[{\"a\":1,\"\\u0061\":2}]}\n", &["duplicate-key@13"]),
            (
                b"{\"a\":1,\"b\":1,\"a\":1,\"b\":1,\"a\":1}\n",
                &["duplicate-key@25", "duplicate-key@19"],
            ),
            (b"{\"a\":1e999}\n", &["invalid-json@9"]),
        ];
        for (stream, expected) in cases {
            assert_eq!(raised(stream), *expected, "{}", String::from_utf8_lossy(stream));
        }
        assert_eq!(raised(deep(127).as_bytes()), [""; 0]);
        assert_eq!(raised(deep(128).as_bytes()), [format!("nesting-too-deep@{}", 127 * 5)]);
        assert_eq!(raised("[".repeat(100_000).as_bytes()), ["nesting-too-deep@127"]);
    }

    #[test]
    fn a_cut_at_the_pipe_buffer_says_so() {
        let stream = format!("{{\"a\":\"{}", "x".repeat(65_536 - 6));
        let mut found = Vec::new();
        let mut reader = LineReader::new(stream.as_bytes(), 1_000_000);
        let mut lines = reader.next_lines().expect("memory reads").expect("one line");
        parse(&lines.next().expect("one line"), &mut found);
        assert!(found[0].message.contains("multiple of the pipe buffer"), "{}", found[0].message);
    }
}
