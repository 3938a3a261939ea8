//! What is called during a check.

use std::borrow::Cow;
use std::sync::Arc;

use super::stage::terminal::Place;
use super::{Event, EventKind, StreamSummary, Wordings};
use crate::error::Error;
use crate::facts::Facts;
use crate::json::compact;
use crate::profile::detect::ProfileSource;
use crate::profile::{NoticeKind, Profile};
use crate::rules::diagnostic::Diagnostic;
use crate::stream::{Ending, Line};

/// Receives what a check finds, while the stream arrives. All methods do nothing by default.
///
/// Calls come in this order for each stream: `begin`; events and diagnostics as they are found;
/// `stream_ended`; the last diagnostics; `summary`. They stop where the check returns an error.
///
/// An observer that writes keeps its first failure; only `begin` can stop the check.
pub trait Observer {
    /// The profile of the stream is known; the first event follows.
    ///
    /// # Errors
    ///
    /// When the observer cannot work with this profile. The stream is not checked then.
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        let _ = start;
        Ok(())
    }

    /// Events came, and the profile is not known yet. `hides_open_calls` says whether each agent
    /// that may have written them shows a call only when it has ended.
    fn undetected_events(&mut self, hides_open_calls: bool) {
        let _ = hides_open_calls;
    }

    /// An event came.
    fn event(&mut self, event: &CheckedLine<'_>) {
        let _ = event;
    }

    /// What that event, or the end of the stream, says about the run. Defects, and the last event
    /// of the run, come through [`Self::diagnostic`] and [`Self::summary`].
    fn events(&mut self, events: &[Event<'_>]) {
        let _ = events;
    }

    /// Which events [`Self::events`] is called with; asked after [`Self::begin`].
    fn wants(&self) -> WantedEvents {
        WantedEvents::ALL
    }

    /// A defect was found. At most 100 are reported for one rule and stream.
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let _ = diagnostic;
    }

    /// Nothing more is known for now: what was written must become visible. Also called before and
    /// after diagnostics, so that several outputs on one terminal stay in order.
    fn flush(&mut self) {}

    /// No more events will come.
    fn stream_ended(&mut self) {}

    /// The result.
    fn summary(&mut self, summary: &StreamSummary) {
        let _ = summary;
    }
}

/// Which events an observer is called with, and what is in them. What is large or rare is read from
/// a line only if an observer wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedEvents {
    pub(super) any: bool,
    pub(super) details: bool,
    pub(super) values: bool,
    pub(super) times: bool,
}

impl WantedEvents {
    /// No events.
    pub const NONE: Self = Self { any: false, details: false, values: false, times: false };
    /// All events but reasoning and notices; calls are without arguments and results. The only
    /// times are those that a rule reads.
    pub const PLAIN: Self = Self { any: true, ..Self::NONE };
    /// These, and reasoning and notices.
    pub const DETAILS: Self = Self { details: true, ..Self::PLAIN };
    /// All events but reasoning and notices; calls are with arguments and results.
    pub const VALUES: Self = Self { values: true, ..Self::PLAIN };
    /// As `PLAIN`, with all times that the profile knows, and so with the durations of calls.
    pub const TIMES: Self = Self { times: true, ..Self::PLAIN };
    /// All events, with all that they have.
    pub const ALL: Self = Self { any: true, details: true, values: true, times: true };

    /// What either wants.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            any: self.any || other.any,
            details: self.details || other.details,
            values: self.values || other.values,
            times: self.times || other.times,
        }
    }
}

impl Observer for () {
    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }
}

/// Collects the diagnostics.
impl Observer for Vec<Diagnostic> {
    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.push(diagnostic.clone());
    }
}

/// Two observers; the first one sees everything first.
impl<A: Observer + ?Sized, B: Observer + ?Sized> Observer for (&mut A, &mut B) {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.0.begin(start)?;
        self.1.begin(start)
    }

    fn undetected_events(&mut self, hides_open_calls: bool) {
        self.0.undetected_events(hides_open_calls);
        self.1.undetected_events(hides_open_calls);
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        self.0.event(event);
        self.1.event(event);
    }

    fn events(&mut self, events: &[Event<'_>]) {
        self.0.events(events);
        self.1.events(events);
    }

    fn wants(&self) -> WantedEvents {
        self.0.wants().or(self.1.wants())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.0.diagnostic(diagnostic);
        self.1.diagnostic(diagnostic);
    }

    fn flush(&mut self) {
        self.0.flush();
        self.1.flush();
    }

    fn stream_ended(&mut self) {
        self.0.stream_ended();
        self.1.stream_ended();
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.0.summary(summary);
        self.1.summary(summary);
    }
}

/// The start of a stream.
#[derive(Debug, Clone)]
pub struct StreamStart<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) source: ProfileSource,
}

impl StreamStart<'_> {
    /// The stream's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the profile.
    pub fn profile(&self) -> &str {
        &self.profile.name
    }

    /// The name of the agent, as a reader knows it.
    pub fn title(&self) -> &str {
        &self.profile.title
    }

    /// How the profile was chosen.
    pub fn source(&self) -> ProfileSource {
        self.source
    }

    /// The same, without borrowing.
    pub fn into_owned(self) -> StreamStart<'static> {
        let Self { name, profile, source } = self;
        StreamStart { name: Cow::Owned(name.into_owned()), profile, source }
    }

    /// How the agent's tools are described to people.
    pub fn wordings(&self) -> Wordings {
        Wordings::new(&self.profile)
    }

    /// Whether the stream shows a call before it has ended.
    pub fn shows_open_calls(&self) -> bool {
        !self.profile.calls.only_ended
    }

    /// Whether the agent has a format that is a single object.
    pub fn has_single_object(&self) -> bool {
        self.profile.single_object.is_some()
    }

    /// The error that the agent has no format that is a single object.
    pub fn no_single_object(&self) -> Error {
        let (stream, profile) = (self.name.to_string(), self.profile.name.clone());
        Error::NoSingleObject { stream, profile }
    }
}

/// An event, and what it means.
#[derive(Debug, Clone, Copy)]
pub struct CheckedLine<'a> {
    pub(crate) line: &'a Line<'a>,
    pub(crate) facts: &'a Facts<'a>,
    pub(crate) profile: &'a Profile,
    pub(crate) events: &'a [Event<'a>],
    pub(crate) is_valid: bool,
    pub(crate) place: Place,
    /// Whether the run has exceeded a limit, and that is an error.
    pub(crate) exceeds_limit: bool,
    /// Whether the run has not started as it must, and that is an error.
    pub(crate) starts_wrong: bool,
    pub(crate) waits_for_work: bool,
}

impl<'a> CheckedLine<'a> {
    /// The number of its line, from 1; of an element of an array, of the line on which it begins.
    pub fn line(&self) -> u64 {
        self.line.number
    }

    /// Its bytes, as they arrived, without the line's terminator. An element of an array has spaces
    /// in place of its line breaks.
    pub fn bytes(&self) -> &'a [u8] {
        self.line.bytes
    }

    /// The same as a line of NDJSON, with its terminator if it has one. An element of an array
    /// loses its white space.
    pub fn json_line(&self) -> Cow<'a, [u8]> {
        let end = self.line.ending.bytes();
        if self.line.ending == Ending::Element {
            Cow::Owned([&*compact(self.line.bytes), end].concat())
        } else {
            Cow::Owned([self.line.bytes, end].concat())
        }
    }

    /// Its kind, as the profile names it: `system/init`.
    pub fn tag(&self) -> &'a str {
        self.facts.tag
    }

    /// The agent's own time of it, in milliseconds.
    pub fn time_ms(&self) -> Option<f64> {
        self.facts.time
    }

    /// Whether it ends the run for good.
    pub fn is_end(&self) -> bool {
        self.ends_turn() && !self.facts.terminal().is_some_and(|end| end.expects_turn)
    }

    /// Whether it ends the turn for good. Another turn may have to follow.
    pub fn ends_turn(&self) -> bool {
        self.facts.terminal().is_some_and(|end| !end.is_provisional)
    }

    /// Whether it satisfies the schemas.
    pub fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// Whether it belongs to the run; it does not if the terminal event came before it.
    pub fn is_in_run(&self) -> bool {
        self.place.is_in_run()
    }

    /// Whether it answers a message that begins no turn, such as a change of the model.
    pub fn is_reply(&self) -> bool {
        self.facts.rare.as_ref().is_some_and(|rare| rare.is_reply)
    }

    /// Whether it shows that the agent is at work: all events do, but notices of retries.
    pub fn is_progress(&self) -> bool {
        !self.events.iter().any(|event| match &event.kind {
            EventKind::Notice(notice) => notice.kind == NoticeKind::Retry,
            _ => false,
        })
    }

    /// Whether the run has exceeded one of its limits, with this event or before, and that is an
    /// error.
    pub fn exceeds_limit(&self) -> bool {
        self.exceeds_limit
    }

    /// Whether the run has another model or session than is expected, or lacks tools that are, and
    /// that is an error.
    pub fn starts_wrong(&self) -> bool {
        self.starts_wrong
    }

    /// Whether the agent waits for its work in the background before it exits, as far as the stream
    /// shows: more events may follow the terminal event.
    pub fn waits_for_work(&self) -> bool {
        self.waits_for_work
    }

    /// What it says about the run, as far as it is wanted; [`Observer::events`] is called with the
    /// same.
    pub fn events(&self) -> &'a [Event<'a>] {
        self.events
    }
}
