//! Why a line is not an event, and the diagnostic for it.

mod syntax;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;
use serde_json::error::Category;

use super::{Ending, Line};
use crate::json::{LoneHalves, parse_tree, repaired};
use crate::limits::{DEPTH_MAX, DUPLICATES_PER_LINE_MAX, PIPE_BUFFER_BYTES};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

use syntax::syntax;

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
        let text = if shows_line { line.start().filter(|it| !it.starts_with('\0')) } else { None };
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
                let note = bytes
                    .trim_ascii_start()
                    .starts_with(b"\"{\\\"")
                    .then_some("the event was encoded twice: `jq -cr . FILE | ndjson-check`");
                let diagnostic = Diagnostic::new(Rule::NotAnObject, message);
                (note.into_iter().fold(diagnostic, Diagnostic::note), 0)
            }
        }
    }
}

/// Whether there are only NUL bytes.
fn is_nul(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| *byte == 0)
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
    let bytes = if line.length == 1 { "byte" } else { "bytes" };
    let message =
        format!("the stream ends inside a JSON text, {} {bytes} into the line{cut}", line.length);
    Diagnostic::new(Rule::TruncatedLine, message)
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
            ("\0\0", "the line consists of NUL bytes"),
            ("\x1b[36m{\"a\":1", "a terminal colour comes before the object that begins at byte 5"),
            (
                "\x1b[?25l{\"a\":1",
                "control characters come before the object that begins at byte 6",
            ),
            ("\x1b[?25h\x1b[0m", "the line begins with control characters"),
            ("\x1b[31mError: no key\x1b[0m", "the line is not JSON"),
            (
                "\x1b[33mWARN\x1b[0m {\"a\":1",
                "there is text before the object that begins at byte 14",
            ),
            ("{\"a\":\"b{\"c\":\"d\"}", "the line was cut, and an object begins at byte 7 of it"),
            ("{\"a\":{\"c\":\"d\"}{\"c\":1}", "the line was cut, and an object begins at byte 14"),
            ("{\"a\":{\"c\":\"d\"}x", "expected `,` or `}`, at byte 14 of the line"),
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
        for (text, expected) in [
            ("> app@1.0.0 agent", "if `npm run` or `pnpm` wrote it"),
            ("$ agent -p hi", "if `yarn` wrote it"),
            ("make[1]: Entering directory '/home/dev/app'", "if `make` wrote it"),
            ("make: Leaving directory '/home/dev/app'", "if `make` wrote it"),
            ("make: done", "another program, or standard error, wrote it"),
            ("\x1b[1;36m{\"a\":", "the events have terminal colours"),
            ("^D\x08\x08{\"a\":", "a terminal has them, as with `script`"),
            ("\x1b[?25h", "a terminal has them, as with `script`"),
            ("Script done on 2026-11-27 02:03:00+00:00", "if `script` wrote it"),
            ("{}\r{}", "the lines end with a carriage return alone"),
            ("{'type': 'system'}", "if Python wrote it"),
            ("\"{\\\"type\\\":1}\"", "the event was encoded twice"),
        ] {
            each_block(format!("{text}\n").as_bytes(), usize::MAX, 100, |block| {
                for line in block {
                    let Err(defect) = parse_line(&line) else { panic!("{text}") };
                    let note = defect.diagnostic(&line).note.unwrap_or_default();
                    assert!(note.starts_with(expected), "{text}: {note}");
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
