//! What is wrong with a line that is not JSON, and what may have caused it.

use super::{BYTE_ORDER_MARK, is_nul, read_object};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::stream::foreign::OF_PAGE;

/// Distinguishes noise from a broken text: the parser's message does not help with a line of prose.
pub(super) fn syntax(bytes: &[u8], at: usize, what: &str, noun: &str) -> (Diagnostic, usize) {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let (message, note) = if bytes[start] != b'{' {
        other_text(bytes, start, noun)
    } else if what == "trailing characters" {
        behind_object(bytes, at, noun)
    } else if let Some(next) = object_behind_cut(bytes, start, at) {
        let message = format!("the {noun} was cut, and an object begins at byte {next} of it");
        (message, Some(APPENDED))
    } else {
        let note = bytes[start..].starts_with(b"{'").then_some(PYTHON);
        (format!("{}, at byte {at} of the {noun}", plain(what)), note)
    };
    let diagnostic = Diagnostic::new(Rule::InvalidJson, message);
    (note.into_iter().fold(diagnostic, Diagnostic::note), at)
}

/// Where an object begins that reaches to the end of the line, inside a text that broke at `at`.
fn object_behind_cut(bytes: &[u8], start: usize, at: usize) -> Option<usize> {
    let end = bytes.len().min(at + 2);
    let next = memchr::memmem::rfind(bytes.get(start + 1..end)?, b"{\"")? + start + 1;
    // The text may have broken at a brace of the next object.
    read_object(&bytes[next..]).is_ok().then_some(next)
}

/// A message, and a note about the cause.
type Explanation = (String, Option<&'static str>);

const JSON_SPACE: &str = "in JSON only a space, a tab and a line end are white space";
const APPENDED: &str =
    "another stream was appended to one that was cut, or two programs write to one file";
const CARRIAGE_RETURNS: &str =
    "the lines end with a carriage return alone: `tr '\\r' '\\n' < FILE | ndjson-check`";
const COLOURS: &str = "the events have terminal colours: call the agent with NO_COLOR=1";
const NUL: &str = "a file has them where its end was not written, as when a machine lost its power";
const PYTHON: &str = "if Python wrote it, print `json.dumps(event)` in place of the dictionary";
const STDERR: &str =
    "another program, or standard error, wrote it: is stderr merged into stdout (2>&1)?";
const TERMINAL: &str =
    "a terminal has them, as with `script` or `docker run -t`: redirect the agent's output";
const TWO_WRITERS: &str = "two programs wrote on one line: is stderr merged into stdout (2>&1)?";

/// A whole object, and more from byte `at` on.
fn behind_object(bytes: &[u8], at: usize, noun: &str) -> Explanation {
    if bytes[at] == b'{' {
        let note = match noun {
            "element" => "a comma is missing between two events",
            _ if bytes[..at].ends_with(b"\r") => CARRIAGE_RETURNS,
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
    if is_nul(bytes) {
        return (format!("the {noun} consists of NUL bytes"), Some(NUL));
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
            if is_colour(&bytes[start..object]) {
                return (format!("a terminal colour comes before {place}"), Some(COLOURS));
            }
            if is_of_terminal(&bytes[start..object]) {
                return (format!("control characters come before {place}"), Some(TERMINAL));
            }
            (format!("there is text before {place}"), Some(TWO_WRITERS))
        }
        (None, None) if is_of_terminal(&bytes[start..]) => {
            (format!("the {noun} begins with control characters"), Some(TERMINAL))
        }
        (Some(_) | None, None) => {
            let note = of_writer(&bytes[start..]).unwrap_or(STDERR);
            (format!("the {noun} is not JSON"), Some(note))
        }
    }
}

/// Whether there is nothing but a sequence that colours what follows.
fn is_colour(bytes: &[u8]) -> bool {
    let sequence = bytes.strip_prefix(b"\x1b[").and_then(|it| it.strip_suffix(b"m"));
    sequence.is_some_and(|it| it.iter().all(|byte| byte.is_ascii_digit() || *byte == b';'))
}

/// Whether it begins with a sequence for a terminal, or with the `^D` that `script` of macOS writes
/// and deletes. Colours are not enough: programs write them to a pipe, too.
fn is_of_terminal(bytes: &[u8]) -> bool {
    let Some(sequence) = bytes.strip_prefix(b"\x1b") else { return bytes.starts_with(b"^D\x08") };
    let end = sequence.iter().position(u8::is_ascii_alphabetic);
    !end.is_some_and(|end| is_colour(&bytes[..end + 2]))
}

/// How lines of web pages and of programs that run a script begin, and what to do about them.
const WRITERS: [(&str, &[&str], &str); 5] = [
    ("> ", &[], "if `npm run` or `pnpm` wrote it, add `--silent` to that command"),
    ("", &["yarn run v", "$ ", "Done in "], "if `yarn` wrote it, add `--silent` to that command"),
    (
        "make",
        &[": Entering directory ", ": Leaving directory "],
        "if `make` wrote it, call it as `make -s`",
    ),
    (
        "Script ",
        &["started on ", "done on "],
        "if `script` wrote it, redirect the agent's output to a file without `script`",
    ),
    (
        "<",
        &[
            "!DOCTYPE", "!doctype", "html", "/html", "head", "/head", "body", "/body", "title",
            "center", "h1", "hr>",
        ],
        OF_PAGE,
    ),
];

/// What to do about a line of one of these.
fn of_writer(line: &[u8]) -> Option<&'static str> {
    let line = str::from_utf8(line).ok()?;
    WRITERS.iter().find_map(|(begin, parts, how)| {
        let rest = line.strip_prefix(begin)?;
        // `make[1]: `
        let level = rest.strip_prefix('[').and_then(|it| it.split_once(']'));
        let rest = level.filter(|_| *begin == "make").map_or(rest, |(_, rest)| rest);
        let is_so = parts.is_empty() || parts.iter().any(|part| rest.starts_with(part));
        is_so.then_some(*how)
    })
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
