//! Stage: the session's start, its identity, and the order of time.

use std::hash::{BuildHasher, RandomState};

use crate::rules::diagnostic::Diagnostic;
use crate::facts::{Fact, Facts, Subject};
use crate::limits::CALL_ID_BYTES_MAX;
use crate::profile::{Repeats, SessionRules};
use crate::rules::Rule;
use crate::rules::escape::clipped;

/// Follows the session through the stream.
#[derive(Debug)]
pub struct Sequence<'p> {
    rules: &'p SessionRules,
    first_event: Option<(u64, u64)>,
    /// The first event that the start had to come before.
    early: Option<u64>,
    /// The latest start, and whether its turn goes on.
    start_line: Option<u64>,
    in_turn: bool,
    /// The latest session, and the latest line of it.
    session: Option<(u64, Session)>,
    session_id: Option<String>,
    /// Line and milliseconds of the latest time.
    time: Option<(u64, f64)>,
    state: RandomState,
}

/// A session's id, in bounded memory.
#[derive(Debug)]
enum Session {
    Id(String),
    /// The fingerprint of a very long one.
    Long(u64),
}

impl Session {
    fn new(id: &str, state: &RandomState) -> Self {
        if id.len() <= CALL_ID_BYTES_MAX {
            Self::Id(id.to_owned())
        } else {
            Self::Long(state.hash_one(id))
        }
    }

    fn is(&self, id: &str, state: &RandomState) -> bool {
        match self {
            Self::Id(own) => own == id,
            Self::Long(own) => id.len() > CALL_ID_BYTES_MAX && *own == state.hash_one(id),
        }
    }
}

impl<'p> Sequence<'p> {
    /// Follows it by these rules.
    pub fn new(rules: &'p SessionRules) -> Self {
        Self {
            rules,
            first_event: None,
            early: None,
            start_line: None,
            in_turn: false,
            session: None,
            session_id: None,
            time: None,
            state: RandomState::new(),
        }
    }

    /// Takes an event into account.
    pub fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let starts = |fact: &Fact<'_>| matches!(fact, Fact::SessionStart);
        if facts.are_about(Subject::Start) && facts.list().iter().any(starts) {
            self.start(facts, found);
        }
        if let Some(id) = &facts.session {
            self.session(id, facts, found);
        }
        if let Some(ms) = facts.time {
            self.time(ms, facts, found);
        }
        self.first_event.get_or_insert((facts.line, facts.offset));
        let is_late = || self.rules.must_be_first.precedes(&facts.tag);
        if self.start_line.is_none() && self.early.is_none() && is_late() {
            self.early = Some(facts.line);
        }
    }

    /// A new turn begins.
    pub fn reopen(&mut self) {
        self.in_turn = false;
    }

    fn start(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        let diagnostic = if let Some(line) = self.start_line {
            let is_of_new_turn = !std::mem::replace(&mut self.in_turn, true);
            self.start_line = Some(facts.line);
            match self.rules.repeats {
                Repeats::Always => return,
                Repeats::EachTurn if is_of_new_turn => return,
                Repeats::EachTurn | Repeats::Never => {}
            }
            Diagnostic::new(Rule::RepeatedSessionStart, "the session starts a second time")
                .related(line)
        } else {
            (self.start_line, self.in_turn) = (Some(facts.line), true);
            let Some(line) = self.early else { return };
            let message = "the session starts after other events";
            Diagnostic::new(Rule::LateSessionStart, message).related(line)
        };
        found.push(diagnostic.at(facts.line, facts.offset));
    }

    fn session(&mut self, id: &str, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if let Some((line, before)) = &mut self.session {
            let before_line = std::mem::replace(line, facts.line);
            if before.is(id, &self.state) {
                return;
            }
            *before = Session::new(id, &self.state);
            if !self.rules.id_is_constant {
                return;
            }
            let message = "the event belongs to another session than the one before it";
            let diagnostic = Diagnostic::new(Rule::SessionChanged, message).related(before_line);
            found.push(diagnostic.at(facts.line, facts.offset));
            return;
        }
        self.session = Some((facts.line, Session::new(id, &self.state)));
        self.session_id = Some(clipped(id, CALL_ID_BYTES_MAX).into_owned());
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
        let starts = starts && self.rules.required && !self.rules.start.is_empty();
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
