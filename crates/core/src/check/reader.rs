//! Reads a stream as events, without an observer.

use std::fmt;
use std::sync::Arc;

use super::{
    CheckedLine, Contracts, Event, Learned, Observer, ProducerExit, RunEvents, StreamCheck,
    StreamStart, StreamSummary,
};
use crate::error::Error;
use crate::rules::diagnostic::Diagnostic;

// A stream borrows from its contracts; the reader keeps both together.
self_cell::self_cell!(
    struct OwnStream {
        owner: Arc<Contracts>,
        #[not_covariant]
        dependent: StreamCheck,
    }
);

/// Reads one stream as [`Event`]s. It owns all that it needs, so that a program may keep any number
/// of readers, in a table or in tasks.
///
/// After an error the stream is lost.
pub struct Reader {
    stream: OwnStream,
    events: NewEvents,
}

/// What only the end of a stream shows.
#[derive(Debug)]
#[non_exhaustive]
pub struct LastEvents {
    /// The last events; the very last is [`EventKind::End`](super::EventKind::End) or
    /// [`EventKind::Cut`](super::EventKind::Cut).
    pub events: Vec<Event<'static>>,
    /// The result.
    pub summary: StreamSummary,
    /// The first finding of each rule, and the first one with a note.
    pub findings: Vec<Diagnostic>,
}

/// Collects the events, once the profile of the stream is known.
#[derive(Default)]
struct NewEvents {
    of: Option<RunEvents>,
    new: Vec<Event<'static>>,
    findings: Vec<Diagnostic>,
    is_complete: bool,
    /// Whether the event whose own events come next ends a turn.
    ends_turn: bool,
    /// The turns that end in `new`: after how many of its events.
    turn_ends: Vec<usize>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn open(name: &str, contracts: Arc<Contracts>) -> Self {
        let stream = OwnStream::new(contracts, |contracts| {
            StreamCheck::new(name, contracts, Learned::nothing(contracts))
        });
        Self { stream, events: NewEvents::default() }
    }

    /// Takes bytes that have come, cut anywhere, and returns the events that they complete.
    ///
    /// # Errors
    ///
    /// As [`StreamCheck::feed`]. Defects of the stream are events, not errors.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event<'static>>, Error> {
        let events = &mut self.events;
        self.stream.with_dependent_mut(|_, stream| stream.feed(bytes, events))?;
        self.events.turn_ends.clear();
        Ok(std::mem::take(&mut self.events.new))
    }

    /// As [`Reader::feed`]; `other` observes the same events. Also returns how many of the events
    /// come before the end of each turn.
    #[cfg(feature = "run")]
    pub(crate) fn feed_with(
        &mut self,
        bytes: &[u8],
        other: &mut dyn Observer,
    ) -> Result<(Vec<Event<'static>>, Vec<usize>), Error> {
        let mut both = (other, &mut self.events);
        self.stream.with_dependent_mut(|_, stream| stream.feed(bytes, &mut both))?;
        self.events.end_turn();
        let NewEvents { new, turn_ends, .. } = &mut self.events;
        Ok((std::mem::take(new), std::mem::take(turn_ends)))
    }

    /// Whether the terminal event has come, so that the agent has only to exit. A new turn after it
    /// takes that back. Always false for an agent that writes no terminal event.
    pub fn is_complete(&self) -> bool {
        self.events.is_complete
    }

    /// The end of the stream, and what is known about its producer.
    ///
    /// # Errors
    ///
    /// As [`StreamCheck::feed`].
    pub fn finish(self, exit: &ProducerExit) -> Result<LastEvents, Error> {
        let Self { mut stream, mut events } = self;
        let summary = stream.with_dependent_mut(|_, stream| stream.close(exit, &mut events))?;
        Ok(LastEvents { events: events.new, summary, findings: events.findings })
    }
}

impl NewEvents {
    /// The events of the latest line have come.
    fn end_turn(&mut self) {
        if std::mem::take(&mut self.ends_turn) {
            self.turn_ends.push(self.new.len());
        }
    }

    fn add(&mut self, write: impl FnOnce(&mut RunEvents, &mut dyn FnMut(&Event<'_>))) {
        let Self { of, new, .. } = self;
        if let Some(of) = of {
            write(of, &mut |event| new.push(event.clone().into_owned()));
        }
    }
}

impl Observer for NewEvents {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.of = Some(RunEvents::new(start));
        Ok(())
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        self.end_turn();
        // Some agents write two terminal events for a turn.
        self.ends_turn = event.ends_turn() && !self.is_complete;
        self.is_complete = event.is_end() || self.is_complete && !event.is_in_run();
    }

    fn events(&mut self, events: &[Event<'_>]) {
        self.add(|of, out| of.events(events, out));
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let is_like = |known: &Diagnostic| {
            known.rule == diagnostic.rule && known.note.is_some() >= diagnostic.note.is_some()
        };
        if !self.findings.iter().any(is_like) {
            self.findings.push(diagnostic.clone());
        }
        self.add(|of, out| of.diagnostic(diagnostic, out));
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.add(|of, out| of.finish(summary, out));
    }
}
