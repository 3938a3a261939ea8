//! Lines that are no events, and that the profile knows.

use super::inference::is_lost_event;
use super::stream::Check;
use crate::diagnostic::Diagnostic;
use crate::event::{self, Event};
use crate::framing::Framing;
use crate::line::Line;
use crate::profile::{Noise, NoiseKind, NoisePlace};
use crate::rule::Rule;

/// What is left of a line when the text in it is taken away.
pub(super) enum Left<'a> {
    /// All of it: nobody knows what it is.
    All,
    /// The event behind the text.
    Event(Line<'a>, Event<'a>),
    /// Nothing.
    Nothing,
}

impl Check<'_> {
    /// Looks at a line that is no event, and takes back what was found wrong with it if the
    /// profile knows better. Where it does not, that stays, and the event counts that follows.
    pub(super) fn without_noise<'a>(&mut self, line: &Line<'a>) -> Left<'a> {
        let (noise, looking) = (&self.contract.profile().noise, self.is_looking());
        // What was to be an event is never noise, whatever it holds.
        let is_text = self.found.last().is_some_and(is_about_text) && !is_lost_event(line);
        let Some(text) = line.text().filter(|_| looking && is_text) else { return Left::All };
        let object = text.find("{\"").filter(|at| *at > 0);
        let mut found = Vec::new();
        let Some((kind, has_event)) = known(text, object, noise) else {
            let is_ndjson = self.framing.observe(line, false) == Framing::Ndjson;
            let rest = object.filter(|_| is_ndjson).and_then(|at| event_at(line, at, &mut found));
            self.found.extend(found);
            return rest.map_or(Left::All, |(rest, event)| Left::Event(rest, event));
        };
        let left = match object.filter(|_| has_event) {
            None => Left::Nothing,
            Some(at) => match event_at(line, at, &mut found) {
                Some((rest, event)) => Left::Event(rest, event),
                None => return Left::All,
            },
        };
        self.found.pop();
        if kind == NoiseKind::Stderr {
            let message = match left {
                Left::Event(..) => "text of standard error stands before the event",
                Left::Nothing | Left::All => "the line was written to standard error",
            };
            let diagnostic = Diagnostic::new(Rule::StderrInStream, message);
            let diagnostic = diagnostic.note("is stderr merged into stdout (2>&1)?");
            self.found.push(diagnostic.at(line.number, line.offset));
        }
        self.found.extend(found);
        left
    }
}

/// The event that begins so many bytes into a line.
fn event_at<'a>(
    line: &Line<'a>,
    at: usize,
    found: &mut Vec<Diagnostic>,
) -> Option<(Line<'a>, Event<'a>)> {
    let mut wrong = Vec::new();
    let rest = Line::new(line.number, line.offset + at as u64, &line.bytes[at..], line.ending);
    let event = event::parse(&rest, &mut wrong)?;
    found.extend(wrong);
    Some((rest, event))
}

/// Whether a diagnostic is about a line that may be text.
fn is_about_text(diagnostic: &Diagnostic) -> bool {
    let rules = [Rule::InvalidJson, Rule::NotAnObject, Rule::BlankLine, Rule::TruncatedLine];
    rules.contains(&diagnostic.rule)
}

/// What is known of a text, and whether an event follows it. `object` is where an object begins.
fn known(text: &str, object: Option<usize>, noise: &[Noise]) -> Option<(NoiseKind, bool)> {
    noise.iter().find_map(|noise| {
        let (text, has_event) = match noise.place {
            NoisePlace::Line => (text, false),
            NoisePlace::Before => (&text[..object?], true),
        };
        noise.matches.is_in(text).then_some((noise.is, has_event))
    })
}
