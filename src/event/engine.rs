//! The fast engine: a tape for each line.

use super::{Body, Event, parse};
use crate::diagnostic::Diagnostic;
use crate::line::{Ending, Line, Lines};
use crate::tape::{Kind, Tape};

/// Reads lines with a tape where that can be done; what it needs for one serves the next.
#[derive(Debug, Default)]
pub struct Engine {
    tape: Tape,
}

impl Engine {
    /// Takes the next line and reads it as one JSON object: what [`parse`] finds, faster.
    pub fn next<'s, 'a: 's>(
        &'s mut self,
        lines: &mut Lines<'a>,
        found: &mut Vec<Diagnostic>,
    ) -> Option<(Line<'a>, Option<Event<'s>>)> {
        // The end of the value is the end of the line: nobody has to look for it.
        if let Some((text, bytes)) = lines.rest()
            && let Some(end) = self.tape.read_line(bytes)
            && end < text.len()
            && let carriage_return = text.as_bytes()[..end].ends_with(b"\r")
            && let ending = if carriage_return { Ending::CrLf } else { Ending::Lf }
            && let Some(line) = lines.take(end - usize::from(carriage_return), ending)
        {
            return Some(self.event(line, found));
        }
        let line = lines.next()?;
        let text = line.text().filter(|_| line.ending != Ending::EndOfStream);
        if text.is_some_and(|text| self.tape.read(line.padded(), text.len())) {
            return Some(self.event(line, found));
        }
        Some((line, parse(&line, found)))
    }

    /// The event of a line that the tape has read.
    fn event<'s, 'a: 's>(
        &'s self,
        line: Line<'a>,
        found: &mut Vec<Diagnostic>,
    ) -> (Line<'a>, Option<Event<'s>>) {
        if let Some(text) = line.text()
            && let doc = self.tape.doc(text)
            && doc.root().kind() == Kind::Object
        {
            let body = Body::Tape(doc);
            return (line, Some(Event { line: line.number, offset: line.offset, text, body }));
        }
        (line, parse(&line, found))
    }
}
