//! Events as JSON, and what a run has to know about its stream.

use std::collections::VecDeque;

use ndjson_check::{
    Answer, CheckedLine, Diagnostic, Error, Event, Observer, RunEvents, StreamStart, StreamSummary,
};
use ndjson_check_formats::report::FirstFindings;
use ndjson_check_formats::single;

/// Collects events, once the profile of the stream is known.
#[derive(Default)]
pub(crate) struct EventArray {
    of: Option<RunEvents>,
    /// The members of an array, with a comma before each.
    new: Vec<u8>,
    pub(crate) summary: Vec<u8>,
    answer: Answer,
    found: FirstFindings,
    is_over: bool,
    /// How many events there were.
    events: u32,
    /// Whether the event whose own events come next ends a turn.
    ends_turn: bool,
    /// After how many events each turn has ended.
    turn_ends: VecDeque<u32>,
    hides_open_calls: bool,
    has_progress: bool,
    exceeds_limit: bool,
    starts_wrong: bool,
    waits_for_work: bool,
    has_reply: bool,
}

impl EventArray {
    /// The events since the last call, as a JSON array.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut array = std::mem::take(&mut self.new);
        match array.first_mut() {
            Some(comma) => *comma = b'[',
            None => array.push(b'['),
        }
        array.push(b']');
        array
    }

    /// 1: the terminal event came. 2: the agent does not show calls at work. 4: since the last
    /// call an event came that is not a retry. 8: the run has exceeded a limit. 16: it has not
    /// started as it must. 32: the agent waits for background work before it exits. 64: since
    /// the last call it has answered a message that begins no turn.
    pub(crate) fn state(&mut self) -> u32 {
        let progress = std::mem::take(&mut self.has_progress);
        let reply = std::mem::take(&mut self.has_reply);
        let bits = [
            self.is_over,
            self.hides_open_calls,
            progress,
            self.exceeds_limit,
            self.starts_wrong,
            self.waits_for_work,
            reply,
        ];
        bits.iter().rev().fold(0, |sum, bit| sum << 1 | u32::from(*bit))
    }

    /// After how many events, since the stream began, the next turn has ended; 0 if none has since
    /// the last call.
    pub(crate) fn turn_end(&mut self) -> u32 {
        self.end_turn();
        self.turn_ends.pop_front().unwrap_or_default()
    }

    fn end_turn(&mut self) {
        if std::mem::take(&mut self.ends_turn) {
            self.turn_ends.push_back(self.events);
        }
    }

    fn add(&mut self, write: impl FnOnce(&mut RunEvents, &mut dyn FnMut(&Event<'_>))) {
        let Self { of: Some(of), new, events, .. } = self else { return };
        write(of, &mut |event| {
            *events = events.wrapping_add(1);
            new.push(b',');
            serde_json::to_writer(&mut *new, event).expect("it is plain data, in memory");
        });
    }
}

impl Observer for EventArray {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.hides_open_calls = !start.shows_open_calls();
        self.of = Some(RunEvents::new(start));
        self.found.begin();
        Ok(())
    }

    fn undetected_events(&mut self, hides_open_calls: bool) {
        self.hides_open_calls = hides_open_calls;
        self.has_progress = true;
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        // A new turn takes the end back.
        self.end_turn();
        // Some agents write two terminal events for a turn.
        self.ends_turn = event.ends_turn() && !self.is_over;
        self.is_over = event.is_end() || self.is_over && !event.is_in_run();
        self.exceeds_limit |= event.exceeds_limit();
        self.starts_wrong |= event.starts_wrong();
        self.has_progress |= event.is_progress();
        self.waits_for_work = event.waits_for_work();
        self.has_reply |= event.is_reply();
    }

    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            self.answer.observe(&event.kind);
        }
        self.add(|of, out| of.events(events, out));
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.found.add(diagnostic);
        self.add(|of, out| of.diagnostic(diagnostic, out));
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.add(|of, out| of.finish(summary, out));
        self.summary = single::summary_json(summary, &self.found, &self.answer).into_bytes();
    }
}
