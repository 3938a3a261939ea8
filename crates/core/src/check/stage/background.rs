//! Stage: work that goes on in the background after its call has ended.

use std::collections::BTreeMap;

use super::calls::{CALLS_NAMED_MAX, CallTable};
use crate::facts::{BoundedId, Facts};
use crate::limits::BACKGROUND_MAX;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::shown;

/// How many sub-agents with their own sessions are known.
const AGENTS_MAX: usize = 64;

/// Keeps what has started and has not ended, by the line of its start.
#[derive(Debug, Default)]
pub(crate) struct BackgroundWork {
    open: BTreeMap<(u64, usize), BoundedId>,
    /// Work that was stopped after the end of the run: it is lost, unless another turn follows.
    stopped: Vec<BoundedId>,
    /// Work that was stopped during the run: it is lost if the agent says so.
    stopped_in_run: BTreeMap<(u64, usize), BoundedId>,
    /// The sessions of sub-agents that were started as such work.
    agents: Vec<BoundedId>,
    /// Work that ended before the stream shows that it starts.
    ended_early: Vec<BoundedId>,
    /// Whether the stream shows when such work starts.
    shows_starts: bool,
    /// The agent says that it stopped work, of which the stream does not show the start.
    has_lost_unknown: bool,
}

impl BackgroundWork {
    /// `session` is that of the run.
    pub(crate) fn observe(&mut self, facts: &Facts<'_>, session: Option<&str>, is_in_run: bool) {
        let Some(rare) = &facts.rare else { return };
        for (id, is_session) in &rare.background_started {
            self.shows_starts = true;
            let is_own = session.is_some_and(|session| id.is(session));
            if *is_session && !is_own && self.agents.len() < AGENTS_MAX && !self.agents.contains(id)
            {
                self.agents.push(id.clone());
            }
            self.stopped.retain(|stopped| stopped != id);
            self.stopped_in_run.retain(|_, stopped| stopped != id);
            let is_over = self.ended_early.iter().position(|ended| ended == id);
            if let Some(place) = is_over {
                self.ended_early.swap_remove(place);
            } else if self.open.len() < BACKGROUND_MAX && !self.open.values().any(|it| it == id) {
                self.open.insert((facts.line, self.open.len()), id.clone());
            }
        }
        for (id, only_in_run) in &rare.background_ended {
            match (is_in_run, only_in_run) {
                (_, false) => self.end(id),
                (true, true) => self.stop_in_run(id),
                (false, true) if self.stopped.len() < BACKGROUND_MAX => {
                    self.stopped.push(id.clone());
                }
                (false, true) => {}
            }
        }
        if rare.loses_stopped_work {
            self.stopped.extend(self.stopped_in_run.values().cloned());
            self.open.append(&mut self.stopped_in_run);
            self.has_lost_unknown = !self.shows_starts;
        }
    }

    /// Whether a sub-agent wrote the event. A session whose event shows how the run goes is that of
    /// the run, perhaps again: its user resumed it.
    #[inline]
    pub(crate) fn is_of_agent(&mut self, facts: &Facts<'_>) -> bool {
        let Some(session) = facts.session else { return false };
        if facts.marks.progress.is_some() {
            self.agents.retain(|agent| !agent.is(session));
        }
        self.agents.iter().any(|agent| agent.is(session))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.values().any(|it| !self.stopped.contains(it))
    }

    /// A line of plain text says that work was lost, without its name.
    pub(crate) fn lost_unknown(&mut self) {
        self.has_lost_unknown = !self.shows_starts;
    }

    fn end(&mut self, id: &BoundedId) {
        if id.as_str().is_empty() {
            self.open.clear();
            return;
        }
        let count = self.open.len();
        self.open.retain(|_, open| open != id);
        let is_new = count == self.open.len() && !self.ended_early.contains(id);
        if is_new && self.ended_early.len() < BACKGROUND_MAX {
            self.ended_early.push(id.clone());
        }
    }

    fn stop_in_run(&mut self, id: &BoundedId) {
        let has_room = self.stopped_in_run.len() < BACKGROUND_MAX;
        let place = self.open.iter().find(|(_, open)| *open == id).map(|(place, _)| *place);
        let stopped = place.and_then(|place| self.open.remove_entry(&place));
        self.stopped_in_run.extend(stopped.filter(|_| has_room));
    }

    /// The agent goes on: what has been stopped was not lost.
    pub(crate) fn new_turn(&mut self) {
        self.stopped_in_run.clear();
        self.has_lost_unknown = false;
        let stopped = std::mem::take(&mut self.stopped);
        self.open.retain(|_, open| !stopped.contains(open));
    }

    /// Reports what has not ended where the run has succeeded.
    pub(crate) fn report_open(
        &self,
        session: Option<&str>,
        (line, offset): (u64, u64),
        found: &mut Vec<Diagnostic>,
    ) {
        for ((start, _), id) in &self.open {
            let id_of_work = name(id, session);
            let name = id_of_work.map(|id| format!(" {}", shown(id))).unwrap_or_default();
            let message = if self.stopped.contains(id) {
                format!("the run succeeded, but its background work{name} was stopped")
            } else {
                format!(
                    "the run succeeded, but the stream does not show that its background \
                     work{name} ended"
                )
            };
            let mut diagnostic = Diagnostic::new(Rule::BackgroundWorkLost, message);
            if let Some(id) = id_of_work {
                diagnostic = diagnostic.of_call(id);
            }
            found.push(diagnostic.related(*start).at(line, offset));
        }
        if self.has_lost_unknown {
            let message = "the run succeeded, but the agent stopped its background work";
            found.push(Diagnostic::new(Rule::BackgroundWorkLost, message).at(line, offset));
        }
    }

    /// The open work as a clause, without that of calls which are open themselves; nothing
    /// if there is none.
    pub(crate) fn open_summary(
        &self,
        session: Option<&str>,
        calls: &CallTable<'_>,
    ) -> Option<String> {
        let open: Vec<_> = self.open.iter().filter(|(_, id)| !calls.is_open(id)).collect();
        let named = open.iter().take(CALLS_NAMED_MAX);
        let named = named.map(|((line, _), id)| match name(id, session) {
            Some(id) => format!("{} since line {line}", shown(id)),
            None => format!("since line {line}"),
        });
        let mut named: Vec<String> = named.collect();
        if named.len() < open.len() {
            named.push(format!("{} more", open.len() - named.len()));
        }
        (!named.is_empty()).then(|| format!("background work: {}", named.join(", ")))
    }
}

/// Work with the id of the session has no name.
fn name<'i>(id: &'i BoundedId, session: Option<&str>) -> Option<&'i str> {
    Some(id.as_str()).filter(|id| session != Some(id))
}
