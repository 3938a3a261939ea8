//! What the stages find of texts and calls in an event, for those that follow them.

use std::borrow::Cow;

use serde_json::Value;

use super::stage::actions::Action;
use crate::facts::{Call, time_ms};
use crate::json::JsonRef;
use crate::limits::DURATION_MS_MAX;
use crate::profile::path::{Path, Scope};
use crate::profile::{CallDuration, CallKind, CallOutcome, CallRules};

/// What an event adds to the assistant's text. Text that the agent sends twice comes once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextUpdate<'a> {
    /// More text of the open segment.
    Chunk(Cow<'a, str>),
    /// The agent repeats the open segment as a whole, and it differs: this is its final version.
    Replaced(&'a str),
    SegmentEnd,
    /// The agent gives up the open segment: its chunks are not part of the answer.
    Abandoned,
    /// The text of the answer, as the terminal event gives it.
    Answer(Cow<'a, str>),
}

#[derive(Debug, Clone)]
pub(crate) struct CallUpdate<'a> {
    pub(crate) change: CallChange,
    /// The number of the call in the stream, from 1.
    pub(crate) number: u64,
    /// Whether it is the first that is known of the call.
    pub(crate) is_new: bool,
    /// The half of the call in the event; none where the event is about something else.
    pub(crate) call: Option<&'a Call<'a>>,
    /// If another event started the call, and this one ends it.
    pub(crate) start: Option<CallStart>,
    /// The number of the call inside which it happens: a sub-agent's.
    pub(crate) parent: Option<u64>,
    pub(crate) action: Action,
    id: Cow<'a, str>,
    rules: &'a CallRules,
}

impl<'a> CallUpdate<'a> {
    pub(crate) fn new(
        change: CallChange,
        number: u64,
        call: &'a Call<'a>,
        rules: &'a CallRules,
    ) -> Self {
        let id = Cow::Borrowed(call.id.as_str());
        Self { call: Some(call), ..Self::of_other_event(change, number, id, rules) }
    }

    /// The same, for the first that is known of the call.
    pub(crate) fn first(self) -> Self {
        Self { is_new: true, ..self }
    }

    /// The event is not about this call, and shows what became of it.
    pub(crate) fn of_other_event(
        change: CallChange,
        number: u64,
        id: Cow<'a, str>,
        rules: &'a CallRules,
    ) -> Self {
        let (is_new, call, start, parent) = (false, None, None, None);
        Self { change, number, is_new, call, start, parent, action: Action::default(), id, rules }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn tool(&self) -> Option<&'a str> {
        self.call?.tool.as_deref()
    }

    /// The rules for a completion, and where its values are, if this event completes the call.
    pub(crate) fn completion(&self) -> Option<(&'a CallRules, Scope<'a>)> {
        let is_completed = matches!(self.change, CallChange::Completed(_));
        Some((self.rules, self.call.filter(|_| is_completed)?.scope))
    }

    /// Whether the work of the call goes on after its completion.
    pub(crate) fn still_runs(&self) -> bool {
        self.call.is_some_and(|call| call.still_runs)
    }

    /// Where a call of the main agent began that ends here, if it read, changed or ran something.
    pub(crate) fn work_ended(&self, offset: u64) -> Option<u64> {
        let kinds = [CallKind::Task, CallKind::Todo, CallKind::Question, CallKind::Other];
        let is_work = self.action.kind.is_some_and(|kind| !kinds.contains(&kind));
        let has_ended =
            matches!(self.change, CallChange::Completed(outcome) if !outcome.is_refusal());
        let start = self.start.map_or(offset, |start| start.offset);
        let is_main = || self.parent.is_none() && self.parent_id().is_none();
        (is_work && has_ended && is_main()).then_some(start)
    }

    /// When it began and ended, in milliseconds, if the event says both.
    pub(crate) fn times(&self) -> Option<(f64, f64)> {
        let (rules, scope) = self.completion()?;
        rules.durations.iter().find_map(|rule| times(rule, scope))
    }

    pub(crate) fn duration_ms(&self) -> Option<f64> {
        let (rules, scope) = self.completion()?;
        let mut durations = rules.durations.iter().filter_map(|rule| match rule {
            CallDuration::Between { .. } => times(rule, scope).map(|(start, end)| end - start),
            CallDuration::Milliseconds { ms } => ms.find(scope)?.as_f64(),
        });
        durations.find(|duration| (0.0..=DURATION_MS_MAX).contains(duration))
    }

    /// Whether this agent may say later that a call ended in another way.
    pub(crate) fn may_be_corrected(&self) -> bool {
        !(self.rules.corrections.is_empty() && self.rules.interruptions.is_empty())
    }

    /// What makes the call equal to another one.
    pub(crate) fn arguments_ref(&self) -> Option<JsonRef<'a>> {
        self.rules.arguments(self.call?.scope)
    }

    /// All that the tool was asked to do, if the profile knows where that is.
    pub(crate) fn arguments(&self) -> Option<Value> {
        self.rules.input(self.call?.scope)
    }

    /// The agent's id of the call inside which it happens.
    pub(crate) fn parent_id(&self) -> Option<Cow<'a, str>> {
        self.rules.parent(self.call?.scope).filter(|parent| *parent != self.id)
    }

    /// What the call is about, such as a path or a command, if the profile knows where it is.
    pub(crate) fn detail(&self) -> Option<&str> {
        Some(&*self.action.detail).filter(|detail| !detail.is_empty())
    }
}

fn times(rule: &CallDuration, call: Scope<'_>) -> Option<(f64, f64)> {
    let CallDuration::Between { start, end } = rule else { return None };
    let time = |path: &Path| path.find(call).and_then(time_ms);
    Some((time(start)?, time(end)?))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CallStart {
    pub(crate) line: u64,
    /// Distinguishes events of one line.
    pub(crate) offset: u64,
    /// The agent's time in milliseconds.
    pub(crate) time: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallChange {
    Started,
    /// Its start came again, perhaps with more details.
    StartedAgain,
    Completed(CallOutcome),
    /// It has completed before, and now the agent says that it ended in another way.
    Corrected {
        /// What its completion said.
        instead_of: CallOutcome,
        outcome: CallOutcome,
    },
    /// It is open, and will not complete any more.
    Unfinished,
}
