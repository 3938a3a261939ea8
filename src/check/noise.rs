//! Lines that are no events, and that the profile knows.

use super::inference::is_lost_event;
use super::stream::Check;
use crate::rules::diagnostic::Diagnostic;
use crate::stream::event::{self, Event, Node};
use crate::stream::framing::Framing;
use crate::limits::GLUED_OBJECTS_MAX;
use crate::stream::line::Line;
use crate::profile::{Noise, NoiseKind, NoisePlace};
use crate::rules::Rule;

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
    /// profile knows better. Where it does not, that stays, and the event counts that follows:
    /// `knows` tells whether the profile has one of this kind.
    pub(super) fn without_noise<'a>(
        &mut self,
        line: &Line<'a>,
        knows: impl FnMut(Node<'_>) -> bool,
    ) -> Left<'a> {
        let noise = &self.contract.profile().noise;
        // What was to be an event is never noise, whatever it holds.
        let is_text = self.found.last().is_some_and(is_about_text) && !is_lost_event(line);
        let Some(text) = line.text().filter(|_| self.is_looking() && is_text) else {
            return Left::All;
        };
        let (kind, left, wrong) = match behind(line, text, noise, knows) {
            Some(Behind { kind: None, .. }) if !self.is_ndjson(line) => return Left::All,
            Some(Behind { kind, line, event, found }) => {
                if kind.is_some() {
                    self.found.pop();
                }
                (kind, Left::Event(line, event), found)
            }
            None => {
                let mut rules = noise.iter().filter(|it| it.place == NoisePlace::Line);
                let Some(rule) = rules.find(|it| it.matches.is_in(text)) else { return Left::All };
                self.found.pop();
                (Some(rule.is), Left::Nothing, Vec::new())
            }
        };
        if kind == Some(NoiseKind::Stderr) {
            let message = match left {
                Left::Event(..) => "text of standard error stands before the event",
                Left::Nothing | Left::All => "the line was written to standard error",
            };
            let diagnostic = Diagnostic::new(Rule::StderrInStream, message);
            let diagnostic = diagnostic.note("is stderr merged into stdout (2>&1)?");
            self.found.push(diagnostic.at(line.number, line.offset));
        }
        self.found.extend(wrong);
        left
    }

    /// Whether a line that is no event leaves the stream one of lines.
    fn is_ndjson(&self, line: &Line<'_>) -> bool {
        self.framing.observe(line, false) == Framing::Ndjson
    }
}

/// An event that stands behind a text.
struct Behind<'a> {
    /// What the text is, if the profile knows.
    kind: Option<NoiseKind>,
    line: Line<'a>,
    event: Event<'a>,
    /// What is wrong with the event.
    found: Vec<Diagnostic>,
}

/// The event behind a text: the first object to the line's end that the profile knows, or that
/// stands behind a text that it knows. Such an object may also be part of what somebody logs.
fn behind<'a>(
    line: &Line<'a>,
    text: &str,
    noise: &[Noise],
    mut knows: impl FnMut(Node<'_>) -> bool,
) -> Option<Behind<'a>> {
    let begins = |at: &usize| text[at + 1..].trim_start().starts_with('"');
    let objects = text.match_indices('{').map(|(at, _)| at).filter(|at| *at > 0).filter(begins);
    objects.take(GLUED_OBJECTS_MAX).find_map(|at| {
        let mut found = Vec::new();
        let line = Line::new(line.number, line.offset + at as u64, &line.bytes[at..], line.ending);
        let event = event::parse(&line, &mut found)?;
        let rule = noise.iter().find(|it| it.matches.is_in(&text[..at]));
        let announced = rule.is_some_and(|it| it.place == NoisePlace::Before);
        let counts = announced || knows(event.root());
        counts.then(|| Behind { kind: rule.map(|it| it.is), line, event, found })
    })
}

/// Whether a diagnostic is about a line that may be text.
fn is_about_text(diagnostic: &Diagnostic) -> bool {
    let rules = [Rule::InvalidJson, Rule::NotAnObject, Rule::BlankLine, Rule::TruncatedLine];
    rules.contains(&diagnostic.rule)
}
