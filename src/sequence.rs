//! Stage: the session's start, its identity, and the order of time.

use std::hash::{BuildHasher, RandomState};

use crate::diagnostic::Diagnostic;
use crate::facts::{Fact, Facts};
use crate::limits::CALL_ID_BYTES_MAX;
use crate::rule::Rule;
use crate::visible::clipped;

/// Follows the session through the stream.
#[derive(Debug, Default)]
pub struct Sequence {
    first_event: Option<(u64, u64)>,
    start_line: Option<u64>,
    /// Line and fingerprint of the latest session id.
    session: Option<(u64, u64)>,
    session_id: Option<String>,
    /// Line and milliseconds of the latest time.
    time: Option<(u64, f64)>,
    state: RandomState,
}

impl Sequence {
    /// Takes an event into account.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    pub fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        for fact in &facts.list {
            match fact {
                Fact::SessionStart => self.start(facts, found),
                Fact::Session(id) => self.session(id, facts, found),
                Fact::Time(ms) => self.time(*ms, facts, found),
                _ => {}
            }
        }
        self.first_event.get_or_insert((facts.line, facts.offset));
    }

    fn start(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let diagnostic = if let Some(line) = self.start_line {
            Diagnostic::new(Rule::RepeatedSessionStart, "the session starts a second time")
                .related(line)
        } else {
            self.start_line = Some(facts.line);
            let Some((line, _)) = self.first_event else { return };
            let message = "the session starts after other events";
            Diagnostic::new(Rule::LateSessionStart, message).related(line)
        };
        found.push(diagnostic.at(facts.line, facts.offset));
    }

    fn session(&mut self, id: &str, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let fingerprint = self.state.hash_one(id);
        if let Some((line, before)) = self.session
            && before != fingerprint
        {
            let message = "the event belongs to another session than the one before it";
            let diagnostic = Diagnostic::new(Rule::SessionChanged, message).related(line);
            found.push(diagnostic.at(facts.line, facts.offset));
        }
        self.session = Some((facts.line, fingerprint));
        if self.session_id.is_none() {
            self.session_id = Some(clipped(id, CALL_ID_BYTES_MAX).into_owned());
        }
    }

    fn time(&mut self, ms: f64, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if let Some((line, before)) = self.time
            && ms < before
        {
            let message = format!("the time is {} ms before that of an earlier event", before - ms);
            let diagnostic = Diagnostic::new(Rule::TimeWentBack, message).related(line);
            found.push(diagnostic.at(facts.line, facts.offset));
        }
        self.time = Some((facts.line, ms));
    }

    /// What only the end of the stream shows. `starts` says whether the format begins with a
    /// session start at all.
    pub fn finish(&self, starts: bool, found: &mut Vec<Diagnostic>) {
        if let (true, None, Some((line, offset))) = (starts, self.start_line, self.first_event) {
            let message = "no event starts the session";
            found.push(Diagnostic::new(Rule::MissingSessionStart, message).at(line, offset));
        }
    }

    /// The id of the session, the first if it changed.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }
}
