//! What is called during a check.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::StreamSummary;
use super::stage::actions::Action;
use super::stage::terminal::Place;
use crate::error::Error;
use crate::facts::{Call, DetailReader, EventDetails, Facts, RunFacts, time_ms};
use crate::json::JsonRef;
use crate::limits::DURATION_MS_MAX;
use crate::profile::detect::ProfileSource;
use crate::profile::path::Path;
use crate::profile::{ActionKind, CallDuration, CallOutcome, CallRules, Profile};
use crate::rules::diagnostic::Diagnostic;
use crate::stream::Line;

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

    /// An event came, and the profile is not known yet.
    fn undetected_event(&mut self) {}

    /// An event came.
    fn event(&mut self, event: &CheckedEvent<'_>) {
        let _ = event;
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

/// Observes nothing.
impl Observer for () {}

/// Collects the diagnostics.
impl Observer for Vec<Diagnostic> {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.push(diagnostic.clone());
    }
}

/// The start of a stream.
#[derive(Debug, Clone, Copy)]
pub struct StreamStart<'a> {
    pub(crate) name: &'a str,
    pub(crate) profile: &'a Arc<Profile>,
    pub(crate) source: ProfileSource,
}

impl<'a> StreamStart<'a> {
    /// The stream's name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The name of the profile.
    pub fn profile(&self) -> &'a str {
        &self.profile.name
    }

    /// How the profile was chosen.
    pub fn source(&self) -> ProfileSource {
        self.source
    }

    pub(crate) fn no_single_object(&self) -> Error {
        let (stream, profile) = (self.name.to_owned(), self.profile.name.clone());
        Error::NoSingleObject { stream, profile }
    }
}

/// An event, and what it means.
#[derive(Debug, Clone, Copy)]
pub struct CheckedEvent<'a> {
    pub(crate) line: &'a Line<'a>,
    pub(crate) facts: &'a Facts<'a>,
    /// What the agent has reported about the run so far.
    pub(crate) run_facts: &'a RunFacts,
    pub(crate) text: &'a [TextUpdate<'a>],
    pub(crate) calls: &'a [CallUpdate<'a>],
    pub(crate) is_valid: bool,
    pub(crate) place: Place,
    /// Whether the run has exceeded a limit, and that is an error.
    pub(crate) exceeds_limit: bool,
}

impl<'a> CheckedEvent<'a> {
    /// The number of its line, from 1; of an element of an array, of the line on which it begins.
    pub fn line(&self) -> u64 {
        self.line.number
    }

    /// Its bytes, as they arrived, without the line's terminator. An element of an array has spaces
    /// in place of its line breaks.
    pub fn bytes(&self) -> &'a [u8] {
        self.line.bytes
    }

    /// Its kind, as the profile names it: `system/init`.
    pub fn tag(&self) -> &'a str {
        self.facts.tag
    }

    /// The agent's own time of it, in milliseconds.
    pub fn time_ms(&self) -> Option<f64> {
        self.facts.time
    }

    /// Whether it satisfies the schemas.
    pub fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// Whether it belongs to the run; it does not if the terminal event came before it.
    pub fn is_in_run(&self) -> bool {
        self.place.is_in_run()
    }

    /// Whether the run has exceeded one of its limits, with this event or before, and that is an
    /// error.
    pub fn exceeds_limit(&self) -> bool {
        self.exceeds_limit
    }

    /// What it adds to the assistant's text.
    pub fn text(&self) -> &'a [TextUpdate<'a>] {
        self.text
    }

    /// Its reasoning and its notices.
    pub(crate) fn details(&self, reader: &mut DetailReader) -> EventDetails {
        let is_other_block = !(self.text.is_empty() && self.calls.is_empty());
        reader.read(self.tag(), self.line, is_other_block)
    }

    /// The tool calls that it starts and completes.
    pub fn calls(&self) -> &'a [CallUpdate<'a>] {
        self.calls
    }
}

/// What an event adds to the assistant's text. Text that the agent sends twice comes once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextUpdate<'a> {
    /// More text of the open segment.
    Chunk(Cow<'a, str>),
    /// The agent repeats the open segment as a whole, and it differs: this is its final version.
    Replaced(&'a str),
    /// The segment is complete.
    SegmentEnd,
    /// The agent gives up the open segment: its chunks are not part of the answer.
    Abandoned,
    /// The text of the answer, as the terminal event gives it.
    Answer(Cow<'a, str>),
    /// A new turn begins.
    NewTurn,
}

/// What an event says about a tool call.
#[derive(Debug, Clone)]
pub struct CallUpdate<'a> {
    pub(crate) change: CallChange,
    /// The number of the call in the stream, from 1.
    pub(crate) number: u64,
    /// Whether this is the first that is known of the call.
    pub(crate) is_new: bool,
    /// The half of the call in the event; none where the event only corrects the call.
    pub(crate) call: Option<&'a Call<'a>>,
    pub(crate) action: Action,
    id: Cow<'a, str>,
    rules: &'a CallRules,
}

impl<'a> CallUpdate<'a> {
    pub(crate) fn new(
        (change, number, is_new): (CallChange, u64, bool),
        call: &'a Call<'a>,
        rules: &'a CallRules,
    ) -> Self {
        let id = Cow::Borrowed(call.id.as_str());
        Self { change, number, is_new, call: Some(call), action: Action::default(), id, rules }
    }

    /// An event that is not about this call says how it really ended.
    pub(crate) fn correction(
        change: CallChange,
        number: u64,
        id: String,
        rules: &'a CallRules,
    ) -> Self {
        let (action, id) = (Action::default(), Cow::Owned(id));
        Self { change, number, is_new: false, call: None, action, id, rules }
    }

    /// What happened.
    pub fn change(&self) -> CallChange {
        self.change
    }

    /// The call's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool's name, if this event has it.
    pub fn tool(&self) -> Option<&'a str> {
        self.call?.tool.as_deref()
    }

    /// What the call does.
    pub fn kind(&self) -> ActionKind {
        self.action.kind
    }

    /// The text of the result, if this event has one and the profile knows where it is. It is
    /// read when it is asked for.
    pub fn result(&self) -> Option<Cow<'a, str>> {
        let rules = self.completion_rules()?;
        let scope = self.call?.scope;
        rules.results.iter().find_map(|rule| rule.text(scope))
    }

    /// How long the call took in milliseconds, if this event says it.
    pub fn duration_ms(&self) -> Option<f64> {
        let rules = self.completion_rules()?;
        let scope = self.call?.scope;
        let value = |path: &Path| path.find(scope);
        let time = |path: &Path| value(path).and_then(time_ms);
        let mut durations = rules.durations.iter().filter_map(|rule| match rule {
            CallDuration::Between { start, end } => Some(time(end)? - time(start)?),
            CallDuration::Milliseconds { ms } => value(ms)?.as_f64(),
        });
        durations.find(|duration| (0.0..=DURATION_MS_MAX).contains(duration))
    }

    /// Whether this agent may say later that a call ended in another way.
    pub(crate) fn may_be_corrected(&self) -> bool {
        !(self.rules.refusals.is_empty() && self.rules.interruptions.is_empty())
    }

    fn completion_rules(&self) -> Option<&'a CallRules> {
        matches!(self.change, CallChange::Completed(_)).then_some(self.rules)
    }

    /// What the tool was asked to do, as the event has it.
    pub(crate) fn arguments_ref(&self) -> Option<JsonRef<'a>> {
        self.rules.arguments(self.call?.scope)
    }

    /// What the tool was asked to do, if the profile knows where that is. The members of objects
    /// are in the order of their names, whichever parser read the event. Some agents write them as
    /// JSON in a string.
    pub(crate) fn arguments(&self) -> Option<Value> {
        let arguments = self.arguments_ref().map(JsonRef::to_value)?;
        let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
        Some(parsed.filter(Value::is_object).unwrap_or(arguments))
    }

    /// What the call is about, such as a path or a command, if the profile knows where it is.
    pub fn detail(&self) -> Option<&str> {
        Some(&*self.action.detail).filter(|detail| !detail.is_empty())
    }
}

/// What happened to a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallChange {
    /// It started.
    Started,
    /// Its start came again, perhaps with more details.
    StartedAgain,
    /// It completed.
    Completed(CallOutcome),
    /// It has completed before, and now the agent says that it ended in another way.
    Corrected {
        /// What its completion said.
        instead_of: CallOutcome,
        /// How it ended.
        outcome: CallOutcome,
    },
}
