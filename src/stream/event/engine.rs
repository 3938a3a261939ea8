//! The fast engine: a tape for each line.

use super::{Body, Event, parse};
use crate::rules::diagnostic::Diagnostic;
use crate::stream::line::{Ending, Line, Lines};
use crate::json::tape::{Kind, Tape};

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
        let Some((text, bytes)) = lines.rest() else {
            return lines.next().map(|line| self.alone(line, found));
        };
        // The end of the value is the end of the line: nobody has to look for it.
        if let Some(end) = self.tape.read_line(bytes).filter(|end| *end < text.len()) {
            let carriage_return = text.as_bytes()[..end].ends_with(b"\r");
            let ending = if carriage_return { Ending::CrLf } else { Ending::Lf };
            if let Some(line) = lines.take(end - usize::from(carriage_return), ending) {
                return Some(self.event(line, found));
            }
        }
        let line = lines.next()?;
        Some((line, self.plainly(&line, found)))
    }

    /// Reads a line beside one that is no UTF-8, or the last one, which may be cut.
    fn alone<'s, 'a: 's>(
        &'s mut self,
        line: Line<'a>,
        found: &mut Vec<Diagnostic>,
    ) -> (Line<'a>, Option<Event<'s>>) {
        let text = line.text().filter(|_| line.ending != Ending::EndOfStream);
        if text.is_some_and(|text| self.tape.read(line.padded(), text.len())) {
            return self.event(line, found);
        }
        (line, self.plainly(&line, found))
    }

    /// Reads a line with the reference engine, which is to have the memory that the tape took.
    fn plainly<'a>(&mut self, line: &Line<'a>, found: &mut Vec<Diagnostic>) -> Option<Event<'a>> {
        self.tape.forget();
        parse(line, found)
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
