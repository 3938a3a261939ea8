//! A line → an event, by one of two parsers that find the same.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::defect::{LineDefect, PlainObject, read_object, without_byte_order_mark};
use super::{Block, Ending, Line, ParsedEvent};
use crate::json::{self, Kind, ParsedJson, Repaired, TREE_BYTES_MAX, Tape, duplicate_keys};
use crate::limits::DUPLICATES_PER_LINE_MAX;

/// Reads a line as one JSON object, by the plain parser, which alone knows what is wrong with a
/// line.
///
/// # Errors
///
/// When it is something else. A byte order mark at the start of the stream, a missing final
/// newline, and duplicate keys are not such defects.
///
/// Source: NDJSON 1.0.0 §3.1, RFC 8259; contract S1 and N1.
pub(crate) fn parse_line<'a>(line: &Line<'a>) -> Result<ParsedEvent<'a>, LineDefect> {
    if line.is_too_long() {
        return Err(LineDefect::TooLong);
    }
    let (bytes, offset) = without_byte_order_mark(line);
    if bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        return Err(LineDefect::Blank);
    }
    let object = read_object(bytes).map_err(|defect| match defect {
        LineDefect::Unfinished if line.ending == Ending::EndOfStream => LineDefect::Truncated,
        defect => defect,
    })?;
    let PlainObject { text, lone_halves, value, duplicate_keys } = object;
    let json = ParsedJson::Tree(value);
    Ok(ParsedEvent { line: line.number, offset, text, lone_halves, json, duplicate_keys })
}

/// Reads the lines of a block; what it needs for one line serves the next.
#[derive(Debug, Default)]
pub(crate) struct LineParser {
    /// Whether every line goes to the plain parser.
    is_plain: bool,
    /// Whether an event with duplicate keys is read on the tape, too, however short.
    prefers_tape: bool,
    tape: Tape,
    /// The latest line with halves of surrogate pairs, without them.
    repaired: Option<Repaired>,
}

impl LineParser {
    pub(crate) fn new(is_plain: bool) -> Self {
        Self { is_plain, ..Self::default() }
    }

    /// One whose events have notes of what was read.
    pub(crate) fn on_tape() -> Self {
        Self { prefers_tape: true, ..Self::default() }
    }

    /// Takes the next line and reads it: what [`parse_line`] finds, faster.
    pub(crate) fn next<'s, 'a: 's>(
        &'s mut self,
        block: &mut Block<'a>,
    ) -> Option<(Line<'a>, Result<ParsedEvent<'s>, LineDefect>)> {
        if self.is_plain {
            return block.next().map(|line| (line, parse_line(&line)));
        }
        let Some((text, bytes)) = block.rest() else {
            return block.next().map(|line| (line, self.read(&line)));
        };
        // The end of the value is the end of the line, so there is no need to search for it.
        if let Some(end) = self.tape.read_line(bytes).filter(|end| *end < text.len()) {
            let carriage_return = text.as_bytes()[..end].ends_with(b"\r");
            let ending = if carriage_return { Ending::CrLf } else { Ending::Lf };
            if let Some(line) = block.take(end - usize::from(carriage_return), ending) {
                return Some((line, self.event(&line)));
            }
        }
        block.next().map(|line| (line, self.plainly(&line)))
    }

    /// A line next to one that is not UTF-8, or the last one, which may be cut.
    pub(crate) fn read<'s, 'a: 's>(
        &'s mut self,
        line: &Line<'a>,
    ) -> Result<ParsedEvent<'s>, LineDefect> {
        if line.text().is_some_and(|text| self.tape.read(line.padded, text.len())) {
            return self.event(line);
        }
        self.plainly(line)
    }

    /// A line that the tape refuses. Gives the tape's memory back first: a tree needs it.
    fn plainly<'s, 'a: 's>(&'s mut self, line: &Line<'a>) -> Result<ParsedEvent<'s>, LineDefect> {
        let Self { tape, repaired, .. } = self;
        tape.forget();
        let (text, offset) = without_byte_order_mark(line);
        let text = str::from_utf8(text).unwrap_or_default();
        *repaired = json::repaired(text);
        let lone_halves = repaired.as_ref().map(|it| it.halves);
        let text = repaired.as_ref().map_or(text, |it| it.text.as_str());
        // A tree of a long line would take too much memory.
        if (self.prefers_tape || text.len() > TREE_BYTES_MAX)
            && let Some(duplicate_keys) = duplicate_keys(text, DUPLICATES_PER_LINE_MAX)
            && tape.read_with_duplicates(text.as_bytes())
        {
            let json = ParsedJson::Tape(tape.doc(text));
            let text = Cow::Borrowed(text);
            let line = line.number;
            return Ok(ParsedEvent { line, offset, text, lone_halves, json, duplicate_keys });
        }
        parse_line(line)
    }

    /// The event of a line that the tape has read.
    fn event<'s, 'a: 's>(&'s self, line: &Line<'a>) -> Result<ParsedEvent<'s>, LineDefect> {
        if let Some(text) = line.text()
            && let doc = self.tape.doc(text)
            && doc.root().kind() == Kind::Object
        {
            let (line, offset) = (line.number, line.offset);
            let json = ParsedJson::Tape(doc);
            let (text, duplicate_keys) = (Cow::Borrowed(text), BTreeSet::new());
            return Ok(ParsedEvent { line, offset, text, lone_halves: None, json, duplicate_keys });
        }
        parse_line(line)
    }
}
