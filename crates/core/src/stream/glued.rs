//! Events behind other text on the same line: a warning without a newline, a log prefix.

use super::{Line, ParsedEvent, parse_line};
use crate::limits::GLUED_OBJECTS_MAX;

/// An event behind other text.
pub(crate) struct GluedEvent<'a> {
    pub(crate) before: &'a str,
    pub(crate) line: Line<'a>,
    pub(crate) event: ParsedEvent<'a>,
}

/// The objects that reach from a place behind the start of the line to its end, the longest first;
/// a limited number of places is tried. Such an object may also be part of a log message.
pub(crate) fn glued_events<'a>(line: &Line<'a>) -> impl Iterator<Item = GluedEvent<'a>> + use<'a> {
    let line = *line;
    line.text().into_iter().flat_map(move |text| {
        let braces = text.match_indices('{').map(|(at, _)| at).filter(|at| *at > 0);
        let objects = braces.filter(|at| text[at + 1..].trim_start().starts_with('"'));
        objects.take(GLUED_OBJECTS_MAX).filter_map(move |at| {
            let rest = line.rest(at);
            let event = parse_line(&rest).ok()?;
            Some(GluedEvent { before: &text[..at], line: rest, event })
        })
    })
}
