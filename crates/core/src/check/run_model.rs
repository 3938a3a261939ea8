//! What a run does, event by event: sessions, turns and texts that are open are closed here.

mod messages;
mod open;
mod session;

use std::sync::Arc;

use smallvec::SmallVec;

use super::event::{
    CompletedCall, Event, EventCall, EventKind, EventTime, Figures, Session, SessionFacts,
    TextSegment, TurnResult,
};
use super::stage::calls::CallTable;
use super::{CallChange, CallUpdate, TextUpdate, WantedEvents};
use crate::facts::{
    DetailReader, EventDetails, FactUpdate, Facts, PlanItem, RareFacts, RunFacts, SessionDetail,
    ThinkingUpdate, whole_number,
};
use crate::profile::{Profile, RunFact};
use crate::stream::Line;

use messages::MessageTable;
use open::OpenSegment;

/// The events of one line. Most lines have one.
pub(crate) type Events<'e> = SmallVec<[Event<'e>; 1]>;

#[derive(Debug)]
pub(super) struct Updates<'e> {
    pub(super) text: &'e [TextUpdate<'e>],
    pub(super) calls: &'e [CallUpdate<'e>],
    /// How many of each close what the turn before left open, if a turn begins.
    pub(super) turn_at: Option<(usize, usize)>,
    /// How the turn ended, if this event ends it.
    pub(super) turn_end: Option<Box<TurnResult>>,
    /// Where the calls of sub-agents are found.
    pub(super) call_table: &'e CallTable<'e>,
}

/// Makes [`Event`]s of what the stages find in one run.
#[derive(Debug)]
pub(super) struct RunModel {
    profile: Arc<Profile>,
    has_begun: bool,
    session: SessionFacts,
    plan: Vec<PlanItem>,
    turn: u64,
    /// The number of the open segment, or of the next one.
    segment: u64,
    open: Option<OpenSegment>,
    /// Whether arguments and results of calls are wanted.
    has_values: bool,
    /// If reasoning and notices are wanted.
    details: Option<DetailReader>,
    /// The number of the open block of reasoning, or of the next one.
    block: u64,
    is_thinking: bool,
    messages: MessageTable,
}

/// Where the events of one line go.
struct Emitter<'o, 'e> {
    at: EventTime,
    /// The time of the line in milliseconds, with their fractions.
    time: Option<f64>,
    events: &'o mut Events<'e>,
}

impl<'e> Emitter<'_, 'e> {
    fn emit(&mut self, kind: EventKind<'e>) {
        self.events.push(Event { kind, at: self.at });
    }
}

impl RunModel {
    pub(super) fn new(profile: &Arc<Profile>, wanted: WantedEvents) -> Self {
        Self {
            profile: Arc::clone(profile),
            has_begun: false,
            session: SessionFacts::default(),
            plan: Vec::new(),
            turn: 1,
            segment: 1,
            open: None,
            has_values: wanted.values,
            details: wanted.details.then(|| DetailReader::new(profile)),
            block: 1,
            is_thinking: false,
            messages: MessageTable::default(),
        }
    }

    /// What comes after the end of the run has no events, except for corrections of calls.
    pub(super) fn line<'e>(
        &mut self,
        (line, facts): (&Line<'_>, &'e Facts<'_>),
        is_in_run: bool,
        updates: Updates<'e>,
        run_facts: &'e RunFacts,
        events: &mut Events<'e>,
    ) {
        let (closing_texts, closing_calls) = updates.turn_at.unwrap_or_default();
        let (closing, text) = updates.text.split_at(closing_texts);
        let (unfinished, calls) = updates.calls.split_at(closing_calls);
        let is_other_block = !(updates.text.is_empty() && calls.is_empty());
        let details = self.details.as_mut();
        let details = details.and_then(|details| details.read(facts, line, is_other_block));
        let at = EventTime { line: Some(facts.line), time_ms: facts.time.and_then(whole_number) };
        let emitter = &mut Emitter { at, time: facts.time, events };
        if !is_in_run {
            return self.calls(calls, emitter);
        }
        let rare = facts.rare.as_deref();
        if updates.turn_at.is_some() || facts.end().is_some() {
            self.end_messages(emitter);
        }
        if let Some(mut details) = details {
            self.session(facts, std::mem::take(&mut details.session), emitter);
            self.details(details, updates.call_table, emitter);
        } else {
            self.session(facts, Vec::new(), emitter);
        }
        self.texts(closing, emitter);
        if updates.turn_at.is_some() {
            self.calls(unfinished, emitter);
            self.turn += 1;
            emitter.emit(EventKind::Turn { turn: self.turn });
        }
        // A call that a text ends ended before it.
        let ended_by_text = facts.started().is_empty()
            && facts.completed().is_empty()
            && facts.corrected().is_empty();
        let (before, after) = if ended_by_text { (calls, &[][..]) } else { (&[][..], calls) };
        self.calls(before, emitter);
        self.texts(text, emitter);
        self.calls(after, emitter);
        let Some(rare) = rare else { return };
        if let Some(severity) = rare.error {
            emitter.emit(EventKind::Error { severity, message: error_text(rare).map(Into::into) });
        }
        if rare.run_facts.iter().any(is_figure) {
            emitter.emit(EventKind::Usage(Box::new(Figures::new(run_facts))));
        }
        if let Some(end) = updates.turn_end {
            let end = TurnResult { turn: self.turn, ..*end };
            emitter.emit(EventKind::TurnEnded(end.into()));
        }
    }

    /// Calls that only a line of plain text shows: `line`, if it is in the stream.
    pub(super) fn said<'e>(
        &self,
        updates: &'e [CallUpdate<'e>],
        line: Option<u64>,
        events: &mut Events<'e>,
    ) {
        let at = EventTime { line, time_ms: None };
        if self.has_begun {
            self.calls(updates, &mut Emitter { at, time: None, events });
        }
    }

    /// The end of the stream: blocks of reasoning and calls do not stay open.
    pub(super) fn stream_ended<'e>(
        &mut self,
        unfinished: &'e [CallUpdate<'e>],
        events: &mut Events<'e>,
    ) {
        let emitter = &mut Emitter { at: EventTime::default(), time: None, events };
        self.end_thinking(emitter);
        self.calls(unfinished, emitter);
        self.end_messages(emitter);
    }

    pub(super) fn take_open_text(&mut self) -> Option<TextSegment<'static>> {
        let open = self.open.take();
        open.map(|open| open.into_segment(self.segment))
    }

    fn session(
        &mut self,
        facts: &Facts<'_>,
        details: Vec<SessionDetail>,
        emitter: &mut Emitter<'_, '_>,
    ) {
        let changed = session::take(&mut self.session, facts, details);
        if !std::mem::replace(&mut self.has_begun, true) {
            let session = Session::new(self.profile.name.clone(), self.session.clone());
            emitter.emit(EventKind::Session(Box::new(session)));
        } else if let Some(changed) = changed {
            emitter.emit(EventKind::SessionChanged(Box::new(changed)));
        }
    }

    fn details<'e>(
        &mut self,
        details: EventDetails<'e>,
        call_table: &CallTable<'_>,
        emitter: &mut Emitter<'_, 'e>,
    ) {
        for update in details.thinking {
            match update {
                ThinkingUpdate::Chunk(text) => {
                    self.is_thinking = true;
                    emitter.emit(EventKind::ThinkingDelta { block: self.block, text });
                }
                ThinkingUpdate::BlockEnd => self.end_thinking(emitter),
            }
        }
        if let Some(items) = details.plan.filter(|plan| *plan != self.plan) {
            self.plan.clone_from(&items);
            emitter.emit(EventKind::Plan { items });
        }
        for notice in details.notices {
            emitter.emit(EventKind::Notice(Box::new(notice)));
        }
        for update in details.usage {
            let parent = update.parent.as_deref().and_then(|id| call_table.number(id));
            if let Some(ended) = self.messages.take(update, parent) {
                emitter.emit(EventKind::MessageUsage(ended.into()));
            }
        }
    }

    fn end_messages(&mut self, emitter: &mut Emitter<'_, '_>) {
        for ended in self.messages.end() {
            emitter.emit(EventKind::MessageUsage(ended.into()));
        }
    }

    fn end_thinking(&mut self, emitter: &mut Emitter<'_, '_>) {
        if std::mem::take(&mut self.is_thinking) {
            emitter.emit(EventKind::ThinkingEnd { block: self.block });
            self.block += 1;
        }
    }

    fn texts<'e>(&mut self, updates: &'e [TextUpdate<'e>], emitter: &mut Emitter<'_, 'e>) {
        for (at, update) in updates.iter().enumerate() {
            self.text(update, updates.get(at + 1), emitter);
        }
    }

    /// `next` is what follows in the same event.
    fn text<'e>(
        &mut self,
        update: &'e TextUpdate<'e>,
        next: Option<&TextUpdate<'_>>,
        emitter: &mut Emitter<'_, 'e>,
    ) {
        match update {
            TextUpdate::Chunk(text)
                if self.open.is_none() && next == Some(&TextUpdate::SegmentEnd) =>
            {
                self.whole(text, emitter);
            }
            TextUpdate::Chunk(text) => {
                emitter
                    .emit(EventKind::TextDelta { segment: self.segment, text: (&**text).into() });
                self.open.get_or_insert_default().push(text);
            }
            TextUpdate::Replaced(whole) => {
                self.abandon(true, emitter);
                self.whole(whole, emitter);
            }
            TextUpdate::SegmentEnd => self.close_text(emitter),
            TextUpdate::Abandoned => self.abandon(false, emitter),
            TextUpdate::Answer(text) => {
                emitter.emit(EventKind::Answer { text: (&**text).into() });
            }
        }
    }

    /// A segment that came as a whole; its end, which follows, closes nothing.
    fn whole<'e>(&mut self, text: &'e str, emitter: &mut Emitter<'_, 'e>) {
        let (segment, bytes) = (self.segment, text.len() as u64);
        emitter.emit(EventKind::Text(TextSegment {
            segment,
            text: Some(text.into()),
            bytes,
            beginning: text.into(),
            came_in_deltas: false,
        }));
        self.segment += 1;
    }

    fn close_text(&mut self, emitter: &mut Emitter<'_, '_>) {
        let Some(open) = self.open.take() else { return };
        emitter.emit(EventKind::Text(open.into_segment(self.segment)));
        self.segment += 1;
    }

    fn abandon(&mut self, is_replaced: bool, emitter: &mut Emitter<'_, '_>) {
        if self.open.take().is_some() {
            emitter.emit(EventKind::TextAbandoned { segment: self.segment, is_replaced });
            self.segment += 1;
        }
    }

    fn calls<'e>(&self, updates: &'e [CallUpdate<'e>], emitter: &mut Emitter<'_, 'e>) {
        for update in updates {
            self.call(update, emitter);
        }
    }

    fn call<'e>(&self, update: &'e CallUpdate<'e>, emitter: &mut Emitter<'_, 'e>) {
        let has_values = self.has_values;
        let whole = || EventCall {
            arguments: if has_values { update.arguments() } else { None },
            ..EventCall::new(update)
        };
        let kind = match update.change {
            CallChange::Started | CallChange::StartedAgain if update.is_new => {
                EventKind::CallStarted(whole())
            }
            CallChange::Started | CallChange::StartedAgain => EventKind::CallUpdated(whole()),
            CallChange::Completed(outcome) => {
                if update.is_new {
                    emitter.emit(EventKind::CallStarted(whole()));
                }
                let completed = CompletedCall::new(update, outcome, emitter.time);
                EventKind::CallCompleted(Box::new(if has_values {
                    completed.with_values(update, &self.profile, self.session.directory.as_deref())
                } else {
                    completed
                }))
            }
            CallChange::Corrected { instead_of, outcome } => {
                let call = EventCall::new(update);
                EventKind::CallCorrected { call, outcome, instead_of }
            }
            CallChange::Unfinished => {
                EventKind::CallUnfinished(EventCall::new(update).with_start(update.start))
            }
        };
        emitter.emit(kind);
    }
}

fn error_text<'a>(rare: &'a RareFacts<'_>) -> Option<&'a str> {
    rare.run_facts.iter().find_map(|update| match update {
        FactUpdate::Text(RunFact::ErrorText, text) => Some(&**text),
        _ => None,
    })
}

fn is_figure(update: &FactUpdate) -> bool {
    match update {
        FactUpdate::Set(..) | FactUpdate::Add(..) => true,
        FactUpdate::Text(fact, _) => *fact == RunFact::Model,
        FactUpdate::Structured(_)
        | FactUpdate::Reason(_)
        | FactUpdate::Unexplained(_)
        | FactUpdate::RetryAfter(..) => false,
    }
}
