//! The events of a run with its defects, and its end.

use super::{Event, EventKind, EventTime, RunResult, Session, SessionFacts};
use crate::check::{Outcome, StreamStart, StreamSummary};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// Adds to the events of one run what other calls of an observer say: the first event is always the
/// session, and the last one the end.
pub struct RunEvents {
    profile: String,
    has_begun: bool,
    /// Is said by the last event, if the stream was cut.
    missing_end: Option<Diagnostic>,
}

impl RunEvents {
    /// For a stream that begins.
    pub fn new(start: &StreamStart<'_>) -> Self {
        Self { profile: start.profile().to_owned(), has_begun: false, missing_end: None }
    }

    /// Calls `out` with these events, and before the first one with the session.
    pub fn events(&mut self, events: &[Event<'_>], out: &mut dyn FnMut(&Event<'_>)) {
        for event in events {
            match &event.kind {
                EventKind::Session(session) if self.has_begun => {
                    let session = session.session.clone();
                    if session != SessionFacts::default() {
                        let kind = EventKind::SessionChanged(Box::new(session));
                        out(&Event { kind, at: event.at });
                    }
                }
                _ => {
                    self.begin(event.at, out, matches!(event.kind, EventKind::Session(_)));
                    out(event);
                }
            }
        }
    }

    /// Calls `out` with a defect.
    pub fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &mut dyn FnMut(&Event<'_>)) {
        let at = EventTime { line: diagnostic.line, time_ms: None };
        self.begin(at, out, false);
        if diagnostic.rule == Rule::MissingTerminalEvent {
            self.missing_end = Some(diagnostic.clone());
        } else {
            out(&Event { kind: EventKind::Defect(diagnostic.into()), at });
        }
    }

    /// Calls `out` with what the end shows.
    pub fn finish(&mut self, summary: &StreamSummary, out: &mut dyn FnMut(&Event<'_>)) {
        let at = EventTime::default();
        self.begin(at, out, false);
        let open = summary.open_text.as_ref();
        if !matches!(summary.outcome, Outcome::Succeeded | Outcome::Failed) {
            let cut_text = open.map(|open| (&*open.beginning, open.bytes));
            return out(&Event {
                kind: EventKind::Cut(Box::new(RunResult::new(summary, cut_text))),
                at,
            });
        }
        if let Some(open) = open {
            out(&Event { kind: EventKind::Text(open.clone()), at });
        }
        if let Some(diagnostic) = self.missing_end.take() {
            out(&Event { kind: EventKind::Defect((&diagnostic).into()), at });
        }
        out(&Event { kind: EventKind::End(Box::new(RunResult::new(summary, None))), at });
    }

    /// Says that the session begins, unless that has been said, or is said by what follows.
    fn begin(&mut self, at: EventTime, out: &mut dyn FnMut(&Event<'_>), is_said: bool) {
        if !std::mem::replace(&mut self.has_begun, true) && !is_said {
            let session = Session::new(self.profile.clone(), SessionFacts::default());
            out(&Event { kind: EventKind::Session(Box::new(session)), at });
        }
    }
}
