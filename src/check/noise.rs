//! Lines that are no events, and that the profile knows.

use super::stream::Check;
use crate::diagnostic::Diagnostic;
use crate::event::{self, Event};
use crate::line::Line;
use crate::profile::{Noise, NoiseKind, NoisePlace};
use crate::rule::Rule;

/// What is left of a line when what the profile knows is taken away.
pub(super) enum Left<'a> {
    /// All of it: the profile knows nothing of it.
    All,
    /// The event behind it.
    Event(Line<'a>, Event<'a>),
    /// Nothing.
    Nothing,
}

impl Check<'_> {
    /// Looks at a line that is no event, and takes back what was found wrong with it if the
    /// profile knows better.
    pub(super) fn without_noise<'a>(&mut self, line: &Line<'a>) -> Left<'a> {
        let (noise, looking) = (&self.contract.profile().noise, self.is_looking());
        if noise.is_empty() || !looking || !self.found.last().is_some_and(is_about_text) {
            return Left::All;
        }
        let Some((kind, rest)) = line.text().and_then(|text| known(text, noise)) else {
            return Left::All;
        };
        let mut found = Vec::new();
        let left = match rest {
            None => Left::Nothing,
            Some(at) => {
                let offset = line.offset + at as u64;
                let rest = Line::new(line.number, offset, &line.bytes[at..], line.ending);
                let Some(event) = event::parse(&rest, &mut found) else { return Left::All };
                Left::Event(rest, event)
            }
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

/// Whether a diagnostic is about a line that may be text.
fn is_about_text(diagnostic: &Diagnostic) -> bool {
    let rules = [Rule::InvalidJson, Rule::NotAnObject, Rule::BlankLine, Rule::TruncatedLine];
    rules.contains(&diagnostic.rule)
}

/// What is known of a text, and where in it the event begins, if one follows.
fn known(text: &str, noise: &[Noise]) -> Option<(NoiseKind, Option<usize>)> {
    let object = text.find("{\"").filter(|at| *at > 0);
    noise.iter().find_map(|noise| {
        let (text, event) = match noise.place {
            NoisePlace::Line => (text, None),
            NoisePlace::Before => (&text[..object?], object),
        };
        noise.matches.is_in(text).then_some((noise.is, event))
    })
}
