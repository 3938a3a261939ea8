//! Stage: the start of the session, its id, and the order of time.

use std::time::Duration;

use crate::check::end_of_run::duration;
use crate::facts::{BoundedId, Facts, Restart};
use crate::limits::CALL_ID_BYTES_MAX;
use crate::profile::{Repeats, SessionRules};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::clipped;

use super::order::OrderCheck;

/// A note on another session in the same stream.
pub(super) const ONE_RUN: &str = "one stream is one run";

fn in_words(ms: f64) -> String {
    let whole = Duration::try_from_secs_f64(ms / 1_000.0).ok().filter(|it| it.as_millis() > 0);
    whole.map_or_else(|| format!("{ms} ms"), duration)
}

#[derive(Debug)]
pub(crate) struct SessionCheck<'p> {
    pub(crate) rules: &'p SessionRules,
    /// Also observes what comes after the end of the run.
    pub(crate) order: OrderCheck<'p>,
    first_event: Option<(u64, u64)>,
    /// The first event that came too early: the start must precede it.
    early: Option<u64>,
    /// The latest start, and whether its turn is still open: then it is not repeated.
    start_line: Option<u64>,
    in_turn: bool,
    /// Whether there was a terminal event, and whether there was one in this turn.
    has_ended: bool,
    has_turn_ended: bool,
    /// The latest event after which the session may start again in the same turn, and how many such
    /// starts may come: each sub-agent that ended allows one.
    restart: Option<Restart>,
    restarts: u64,
    /// Whether the id may change until the next start.
    has_new_id: bool,
    /// How many turns began before an earlier one had ended. The terminal events of the earlier
    /// ones come first.
    held_back_ends: u64,
    /// The latest session, and the latest line of it.
    session: Option<(u64, BoundedId)>,
    /// The id in the latest start.
    started: Option<BoundedId>,
    session_id: Option<String>,
    /// Line and milliseconds of the latest time.
    time: Option<(u64, f64)>,
}

impl<'p> SessionCheck<'p> {
    pub(crate) fn new(rules: &'p SessionRules) -> Self {
        Self {
            rules,
            order: OrderCheck::new(rules.order.as_ref()),
            first_event: None,
            early: None,
            start_line: None,
            in_turn: false,
            has_ended: false,
            has_turn_ended: false,
            restart: None,
            restarts: 0,
            has_new_id: false,
            held_back_ends: 0,
            session: None,
            started: None,
            session_id: None,
            time: None,
        }
    }

    #[inline]
    pub(crate) fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if facts.marks.starts_session {
            // Hooks may have run before, in a session that is resumed as another one.
            if self.start_line.is_none() && self.early.is_none() && !self.has_ended {
                self.session = None;
            }
            self.started = facts.session.map(BoundedId::from);
            self.start(facts, found);
        }
        if let Some(restart) = facts.rare.as_ref().and_then(|rare| rare.restart) {
            self.restart = Some(restart);
            self.restarts += 1;
            self.has_new_id |= restart.has_new_id;
        }
        // An end without an id is of the session before it.
        let is_in_turn = self.in_turn && !self.has_turn_ended;
        let is_lost = |id: &&str| id.is_empty() && facts.terminal().is_some() && is_in_turn;
        if let Some(id) = facts.session.filter(|id| !is_lost(id)) {
            self.session(id, facts, found);
        }
        if facts.marks.starts_session {
            self.has_new_id = false;
        }
        if let Some(ms) = facts.time.filter(|_| self.rules.time.is_some()) {
            self.time(ms, facts, found);
        }
        self.has_turn_ended |= facts.terminal().is_some();
        self.has_ended |= self.has_turn_ended;
        self.first_event.get_or_insert((facts.line, facts.offset));
        let is_early = || self.rules.must_be_first.precedes(facts.tag);
        if self.start_line.is_none() && self.early.is_none() && is_early() {
            self.early = Some(facts.line);
        }
    }

    /// Whether the id differs from that of the latest start, or of the latest event if no start
    /// has one. None if an id is missing.
    pub(crate) fn is_other(&self, id: Option<&str>) -> Option<bool> {
        let id = id.filter(|id| !id.is_empty());
        let latest = self.session.as_ref().map(|(_, id)| id);
        let is_same = self.started.as_ref().or(latest)?.is(id?);
        // Where ids change within a run, what may begin once more is of the same run.
        let is_expected = self.restart.is_some() && !self.rules.id_is_constant.0;
        Some(!(self.has_new_id || is_expected || is_same))
    }

    /// Whether another start begins another run, although neither has an id.
    pub(crate) fn starts_once(&self) -> bool {
        self.start_line.is_some() && self.rules.repeats == Repeats::Never
    }

    pub(crate) fn new_turn(&mut self) {
        self.in_turn = false;
        self.has_turn_ended = false;
        (self.restart, self.restarts) = (None, 0);
        self.held_back_ends = 0;
    }

    /// Whether the terminal event that comes now is that of an earlier turn.
    pub(crate) fn takes_held_back_end(&mut self) -> bool {
        let is_held_back = self.held_back_ends > 0;
        self.held_back_ends -= u64::from(is_held_back);
        is_held_back
    }

    /// Whether turns that have begun lack their terminal events.
    pub(crate) fn holds_back_ends(&self) -> bool {
        self.held_back_ends > 0
    }

    fn start(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        // What ends the session as well begins only one that nothing else has begun.
        if self.in_turn && facts.terminal().is_some() {
            return;
        }
        let restart = self.restart;
        self.restarts = self.restarts.saturating_sub(1);
        if self.restarts == 0 {
            self.restart = None;
        }
        let diagnostic = if let Some(line) = self.start_line {
            let is_of_new_turn = !std::mem::replace(&mut self.in_turn, true);
            let restart = restart.filter(|_| !is_of_new_turn);
            self.held_back_ends += u64::from(restart.is_some_and(|it| it.is_turn));
            self.start_line = Some(facts.line);
            let message = match self.rules.repeats {
                Repeats::Always => return,
                Repeats::EachTurn if is_of_new_turn || restart.is_some() => return,
                Repeats::EachTurn => "the session starts again, but its turn has not ended",
                Repeats::Never => "the session starts a second time",
            };
            let ids = self.session.as_ref().zip(facts.session);
            let is_same = ids.is_some_and(|((_, before), id)| before.is(id));
            let diagnostic = Diagnostic::new(Rule::DuplicateSessionStart, message).related(line);
            if is_same { diagnostic } else { diagnostic.note(ONE_RUN) }
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
            if before.is(id) {
                return;
            }
            *before = BoundedId::from(id);
            if self.has_new_id {
                self.session_id = Some(clipped(id, CALL_ID_BYTES_MAX).into_owned());
                return;
            }
            if !self.rules.id_is_constant.0 {
                return;
            }
            let message = "the session id differs from that of the previous event";
            let diagnostic = Diagnostic::new(Rule::SessionIdChanged, message).related(before_line);
            let is_start = facts.marks.starts_session;
            let diagnostic = if is_start { diagnostic.note(ONE_RUN) } else { diagnostic };
            found.push(diagnostic.at(facts.line, facts.offset));
            return;
        }
        self.session = Some((facts.line, BoundedId::from(id)));
        self.session_id = Some(clipped(id, CALL_ID_BYTES_MAX).into_owned());
    }

    fn time(&mut self, ms: f64, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        if let Some((line, before)) = self.time
            && ms < before
        {
            let earlier = in_words(before - ms);
            let message = format!("the timestamp is {earlier} earlier than the previous one");
            let diagnostic = Diagnostic::new(Rule::TimestampWentBackwards, message).related(line);
            found.push(diagnostic.at(facts.line, facts.offset));
        }
        self.time = Some((facts.line, ms));
    }

    /// `starts` says whether the format begins with a session start.
    pub(crate) fn finish(&self, starts: bool, found: &mut Vec<Diagnostic>) {
        let starts = starts && self.rules.required.0 && !self.rules.start.is_empty();
        if let (true, None, Some((line, offset))) = (starts, self.start_line, self.first_event) {
            let message = "no event starts the session";
            found.push(Diagnostic::new(Rule::MissingSessionStart, message).at(line, offset));
        }
    }

    /// The id of the session: the first, or the latest if the agent announces that it changes.
    pub(crate) fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }
}
