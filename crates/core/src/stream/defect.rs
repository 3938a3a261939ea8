//! Why a line is not an event, and the diagnostic for it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::error::Category;

use super::{Ending, Line};
use crate::json::{LoneHalves, parse_tree, repaired};
use crate::limits::{DEPTH_MAX, DUPLICATES_PER_LINE_MAX, PIPE_BUFFER_BYTES};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a line is not an event. Offsets count from the first byte of the line, or from the first
/// byte behind its byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineDefect {
    Blank,
    /// It exceeds the limit, and was skipped.
    TooLong,
    /// The stream ends inside its JSON text.
    Truncated,
    /// The line ends inside its JSON text, and others follow.
    Unfinished,
    NotUtf8 {
        at: usize,
    },
    TooDeep {
        at: usize,
    },
    NotJson {
        at: usize,
        what: String,
    },
    NotAnObject {
        what: &'static str,
    },
}

impl LineDefect {
    /// Whether the line may be text of something else that got into the stream.
    pub(crate) fn may_be_noise(&self) -> bool {
        match self {
            Self::Blank
            | Self::Truncated
            | Self::Unfinished
            | Self::NotJson { .. }
            | Self::NotAnObject { .. } => true,
            Self::TooLong | Self::NotUtf8 { .. } | Self::TooDeep { .. } => false,
        }
    }

    pub(crate) fn diagnostic(&self, line: &Line<'_>) -> Diagnostic {
        let (bytes, offset) = without_byte_order_mark(line);
        let (diagnostic, at) = self.explain(line, bytes);
        let shows_line = matches!(diagnostic.rule, Rule::InvalidJson | Rule::NotAnObject);
        let text = if shows_line { line.start() } else { None };
        diagnostic.of_text(text).at(line.number, offset + at as u64)
    }

    /// The diagnostic, and the offset in the line where the defect begins.
    fn explain(&self, line: &Line<'_>, bytes: &[u8]) -> (Diagnostic, usize) {
        let noun = line.noun();
        match self {
            Self::Blank if line.ending == Ending::Element => {
                let message = "an element of the array is missing before `,` or `]`";
                (Diagnostic::new(Rule::InvalidJson, message), 0)
            }
            Self::Blank => (Diagnostic::new(Rule::BlankLine, "the line is blank"), 0),
            Self::TooLong => {
                let length = line.length;
                let message = format!(
                    "the {noun} has {length} bytes, more than the limit for a line; it was skipped"
                );
                (Diagnostic::new(Rule::LineTooLong, message), 0)
            }
            Self::Truncated => (truncated(line), 0),
            Self::Unfinished => {
                let message = format!("the {noun} ends inside a JSON text");
                let note = "one event is one line; was the line broken, or cut by other output?";
                (Diagnostic::new(Rule::InvalidJson, message).note(note), bytes.len())
            }
            Self::NotUtf8 { at } => {
                let message = format!("byte {at} of the {noun} is not valid UTF-8");
                (Diagnostic::new(Rule::InvalidUtf8, message), *at)
            }
            Self::TooDeep { at } => {
                let message = format!("arrays and objects are nested over {DEPTH_MAX} levels deep");
                (Diagnostic::new(Rule::NestingTooDeep, message), *at)
            }
            Self::NotJson { at, what } => syntax(bytes, *at, what, noun),
            Self::NotAnObject { what } => {
                let message = format!("the {noun} is {what}, not an object");
                (Diagnostic::new(Rule::NotAnObject, message), 0)
            }
        }
    }
}

/// The line's bytes and their offset in the stream; at its start, without a byte order mark.
pub(super) fn without_byte_order_mark<'a>(line: &Line<'a>) -> (&'a [u8], u64) {
    let mark = if line.offset == 0 { BYTE_ORDER_MARK } else { b"" };
    match line.bytes.strip_prefix(mark) {
        Some(bytes) => (bytes, line.offset + mark.len() as u64),
        None => (line.bytes, line.offset),
    }
}

/// What the plain parser reads in a line.
pub(super) struct PlainObject<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) lone_halves: Option<LoneHalves>,
    pub(super) value: Value,
    pub(super) duplicate_keys: BTreeSet<String>,
}

/// Reads one JSON object, by the plain parser.
pub(super) fn read_object(bytes: &[u8]) -> Result<PlainObject<'_>, LineDefect> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            // A character that the end of the line cuts is part of an unfinished text.
            let cut = error.error_len().is_none()
                && matches!(read_object(&bytes[..at]), Err(LineDefect::Unfinished));
            return Err(if cut { LineDefect::Unfinished } else { LineDefect::NotUtf8 { at } });
        }
    };
    let (text, lone_halves) = match repaired(text) {
        None => (Cow::Borrowed(text), None),
        Some(repaired) => (Cow::Owned(repaired.text), Some(repaired.halves)),
    };
    let parsed = parse_tree(&text, DUPLICATES_PER_LINE_MAX);
    let (value, duplicate_keys) = parsed.map_err(|error| {
        // Columns of the parser count from 1 and name the offending byte.
        let at = error.column().saturating_sub(1).min(text.len());
        if depth(&bytes[..(at + 1).min(bytes.len())]) > DEPTH_MAX {
            return LineDefect::TooDeep { at };
        }
        match error.classify() {
            Category::Eof => LineDefect::Unfinished,
            Category::Syntax | Category::Data | Category::Io => {
                let message = error.to_string();
                let what = message.split(" at line ").next().unwrap_or_default().to_owned();
                LineDefect::NotJson { at, what }
            }
        }
    })?;
    match value {
        Value::Object(_) => Ok(PlainObject { text, lone_halves, value, duplicate_keys }),
        Value::Array(_) => Err(LineDefect::NotAnObject { what: "an array" }),
        Value::String(_) => Err(LineDefect::NotAnObject { what: "a string" }),
        Value::Number(_) => Err(LineDefect::NotAnObject { what: "a number" }),
        Value::Bool(_) => Err(LineDefect::NotAnObject { what: "a boolean" }),
        Value::Null => Err(LineDefect::NotAnObject { what: "null" }),
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

fn truncated(line: &Line<'_>) -> Diagnostic {
    let total = line.offset + line.length;
    let cut = if total.is_multiple_of(PIPE_BUFFER_BYTES) {
        format!(
            ", cut at {total} bytes, a multiple of the pipe's size: \
             the agent exited before all its output was read"
        )
    } else {
        String::new()
    };
    let message =
        format!("the stream ends inside a JSON text, {} bytes into the line{cut}", line.length);
    Diagnostic::new(Rule::TruncatedLine, message)
}

/// Distinguishes noise from a broken text: the parser's message does not help with a line of prose.
fn syntax(bytes: &[u8], at: usize, what: &str, noun: &str) -> (Diagnostic, usize) {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let (message, note) = if bytes[start] != b'{' {
        other_text(bytes, start, noun)
    } else if what == "trailing characters" {
        behind_object(bytes, at, noun)
    } else {
        (format!("{}, at byte {at} of the {noun}", plain(what)), None)
    };
    let diagnostic = Diagnostic::new(Rule::InvalidJson, message);
    (note.into_iter().fold(diagnostic, Diagnostic::note), at)
}

/// A message, and a note about the cause.
type Explanation = (String, Option<&'static str>);

const JSON_SPACE: &str = "in JSON only a space, a tab and a line end are white space";
const TWO_WRITERS: &str = "two programs wrote on one line: is stderr merged into stdout (2>&1)?";

/// A whole object, and more from byte `at` on.
fn behind_object(bytes: &[u8], at: usize, noun: &str) -> Explanation {
    if bytes[at] == b'{' {
        let note = match noun {
            "element" => "a comma is missing between two events",
            _ => "a newline is missing between two events",
        };
        return (format!("a second object follows, from byte {at} of the {noun}"), Some(note));
    }
    let Some(space) = foreign_space(&bytes[at..]) else {
        let message = format!("something follows the JSON text, from byte {at} of the {noun}");
        return (message, Some(TWO_WRITERS));
    };
    (format!("{space} follows the JSON text, from byte {at} of the {noun}"), Some(JSON_SPACE))
}

/// The first byte that is not white space, at `start`, does not begin an object.
fn other_text(bytes: &[u8], start: usize, noun: &str) -> Explanation {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        let note =
            "it belongs at the start of a stream, if anywhere; were two streams concatenated?";
        return ("the line begins with a byte order mark".to_owned(), Some(note));
    }
    let object = memchr::memmem::find(bytes, b"{\"");
    let space = foreign_space(&bytes[..object.unwrap_or(bytes.len())]);
    match (object, space) {
        (Some(object), Some(space)) => {
            let place = format!("the object that begins at byte {object} of the {noun}");
            (format!("{space} comes before {place}"), Some(JSON_SPACE))
        }
        (None, Some(space)) => {
            (format!("the {noun} contains only white space, with {space}"), Some(JSON_SPACE))
        }
        (Some(object), None) if object > start => {
            let place = format!("the object that begins at byte {object} of the {noun}");
            (format!("there is text before {place}"), Some(TWO_WRITERS))
        }
        (Some(_) | None, None) => {
            let note = "another program, or standard error, wrote it: \
                        is stderr merged into stdout (2>&1)?";
            (format!("the {noun} is not JSON"), Some(note))
        }
    }
}

/// The first character that is white space elsewhere and not in JSON, if `bytes` are nothing but
/// white space.
fn foreign_space(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?;
    let foreign = text.chars().find(|it| !matches!(it, ' ' | '\t' | '\r' | '\n'))?;
    let name = format!("U+{:04X}", u32::from(foreign));
    text.chars().all(char::is_whitespace).then_some(name)
}

/// Replaces parser messages that are hard to understand.
fn plain(what: &str) -> &str {
    match what {
        "expected ident" => "a word that is not true, false or null",
        what => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{each_block, parse_line};

    #[test]
    fn the_message_says_what_the_line_is() {
        let cases = [
            ("{} x", "something follows the JSON text"),
            ("{} \u{a0}", "U+00A0 follows the JSON text"),
            ("{}{}", "a second object follows, from byte 2 of the line"),
            ("warn {\"a\":1}", "there is text before the object that begins at byte 5"),
            ("\u{a0}{\"a\":1}", "U+00A0 comes before the object that begins at byte 2"),
            ("\u{a0}", "the line contains only white space, with U+00A0"),
            ("hello", "the line is not JSON"),
            ("[]", "the line is an array, not an object"),
        ];
        for (text, expected) in cases {
            each_block(format!("{text}\n").as_bytes(), usize::MAX, 100, |block| {
                for line in block {
                    let Err(defect) = parse_line(&line) else { panic!("{text}") };
                    let message = defect.diagnostic(&line).message;
                    assert!(message.starts_with(expected), "{text}: {message}");
                    assert!(defect.may_be_noise(), "{text}");
                }
            });
        }
        assert!(!LineDefect::TooLong.may_be_noise());
        assert!(!LineDefect::NotUtf8 { at: 0 }.may_be_noise());
    }

    #[test]
    fn brackets_in_strings_open_and_close_nothing() {
        assert_eq!(depth(br#"[{"a]\"}[":[[]"#), 3);
    }
}
