//! What a run does, event by event: sessions, turns, texts and calls that are open are closed here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::event::{
    CompletedCall, Event, EventCall, EventKind, EventTime, FORMAT, Figures, RunResult, Session,
    SessionFacts, TextSegment,
};
use super::{
    CallChange, CallUpdate, CheckedEvent, Outcome, StreamStart, StreamSummary, TextUpdate,
};
use crate::facts::{DetailReader, FactUpdate, Notice, RareFacts, ThinkingUpdate};
use crate::limits::TEXT_BYTES_MAX;
use crate::profile::{ErrorSeverity, RunFact};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// Makes [`Event`]s of what the check finds in one stream.
pub(crate) struct RunModel {
    profile: String,
    /// Whether the first event has been written.
    has_begun: bool,
    session_id: Option<String>,
    directory: Option<String>,
    turn: u64,
    /// The number of the open segment, or of the next one.
    segment: u64,
    open: Option<OpenSegment>,
    /// By the number of the call.
    open_calls: BTreeMap<u64, OpenCallId>,
    /// Is said by the last event, if the stream was cut.
    missing_end: Option<Diagnostic>,
    details: DetailReader,
    /// The number of the open block of reasoning, or of the next one.
    block: u64,
    is_thinking: bool,
}

/// A segment that came in deltas.
#[derive(Default)]
struct OpenSegment {
    /// Its start, up to [`TEXT_BYTES_MAX`].
    text: String,
    bytes: u64,
}

struct OpenCallId {
    id: String,
    tool: Arc<str>,
}

/// Where the events of one line go.
struct Emitter<'o> {
    at: EventTime,
    out: &'o mut dyn FnMut(Event<'_>),
}

impl Emitter<'_> {
    fn emit(&mut self, kind: EventKind<'_>) {
        (self.out)(Event { kind, at: self.at });
    }
}

impl RunModel {
    pub(crate) fn new(start: &StreamStart<'_>) -> Self {
        Self {
            profile: start.profile.name.clone(),
            has_begun: false,
            session_id: None,
            directory: None,
            turn: 1,
            segment: 1,
            open: None,
            open_calls: BTreeMap::new(),
            missing_end: None,
            details: DetailReader::new(start.profile),
            block: 1,
            is_thinking: false,
        }
    }

    pub(crate) fn event(&mut self, event: &CheckedEvent<'_>, out: &mut dyn FnMut(Event<'_>)) {
        let at = EventTime { line: Some(event.line()), time_ms: milliseconds(event.facts.time) };
        self.checked(event, &mut Emitter { at, out });
    }

    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &mut dyn FnMut(Event<'_>)) {
        let emitter = &mut Emitter { at: EventTime { line: diagnostic.line, time_ms: None }, out };
        self.begin(emitter);
        if diagnostic.rule == Rule::MissingTerminalEvent {
            self.missing_end = Some(diagnostic.clone());
        } else {
            emitter.emit(EventKind::Defect(diagnostic.into()));
        }
    }

    /// The end of the stream: nothing stays open.
    pub(crate) fn finish(&mut self, summary: &StreamSummary, out: &mut dyn FnMut(Event<'_>)) {
        self.end(summary, &mut Emitter { at: EventTime::default(), out });
    }

    fn checked(&mut self, event: &CheckedEvent<'_>, emitter: &mut Emitter<'_>) {
        let details = event.details(&mut self.details);
        if !event.is_in_run() {
            return;
        }
        let rare = event.facts.rare.as_deref();
        let directory = rare.and_then(|rare| rare.directory.as_deref());
        self.session(event.facts.session, directory, emitter);
        self.thinking(&details.thinking, emitter);
        for Notice { kind, detail } in &details.notices {
            emitter
                .emit(EventKind::Notice { kind: *kind, detail: detail.as_deref().map(Into::into) });
        }
        for (at, update) in event.text().iter().enumerate() {
            self.text(update, event.text().get(at + 1), emitter);
        }
        for update in event.calls() {
            self.call(update, emitter);
        }
        let Some(rare) = rare else { return };
        if let Some(severity) = rare.error {
            let severity = match severity {
                ErrorSeverity::Failure => "failure",
                ErrorSeverity::Fatal => "fatal",
                ErrorSeverity::Warning => "warning",
            };
            emitter.emit(EventKind::Error { severity, message: error_text(rare).map(Into::into) });
        }
        if rare.run_facts.iter().any(is_figure) {
            emitter.emit(EventKind::Usage(Figures::new(event.run_facts)));
        }
    }

    fn session_facts(&self) -> SessionFacts<'_> {
        SessionFacts {
            session_id: self.session_id.as_deref().map(Into::into),
            directory: self.directory.as_deref().map(Into::into),
        }
    }

    /// Writes the first event, unless it has been written.
    fn begin(&mut self, emitter: &mut Emitter<'_>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let (profile, session) = ((&*self.profile).into(), self.session_facts());
            emitter.emit(EventKind::Session(Session { format: FORMAT, profile, session }));
        }
    }

    fn session(&mut self, id: Option<&str>, directory: Option<&str>, emitter: &mut Emitter<'_>) {
        let is_new = |new: Option<&str>, old: &Option<String>| {
            new.filter(|new| old.as_deref() != Some(*new)).map(str::to_owned)
        };
        let new_id = is_new(id, &self.session_id);
        let new_directory = is_new(directory, &self.directory);
        let has_changed = new_id.is_some() || new_directory.is_some();
        self.session_id = new_id.or(self.session_id.take());
        self.directory = new_directory.or(self.directory.take());
        if !self.has_begun {
            self.begin(emitter);
        } else if has_changed {
            emitter.emit(EventKind::SessionChanged(self.session_facts()));
        }
    }

    fn thinking(&mut self, updates: &[ThinkingUpdate], emitter: &mut Emitter<'_>) {
        for update in updates {
            let block = self.block;
            match update {
                ThinkingUpdate::Chunk(text) => {
                    self.is_thinking = true;
                    emitter.emit(EventKind::ThinkingDelta { block, text: (&**text).into() });
                }
                ThinkingUpdate::BlockEnd => self.end_thinking(emitter),
            }
        }
    }

    fn end_thinking(&mut self, emitter: &mut Emitter<'_>) {
        if std::mem::take(&mut self.is_thinking) {
            emitter.emit(EventKind::ThinkingEnd { block: self.block });
            self.block += 1;
        }
    }

    /// `next` is what follows in the same event.
    fn text(
        &mut self,
        update: &TextUpdate<'_>,
        next: Option<&TextUpdate<'_>>,
        emitter: &mut Emitter<'_>,
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
                let open = self.open.get_or_insert_default();
                open.bytes += text.len() as u64;
                if open.text.len() as u64 + text.len() as u64 == open.bytes
                    && open.text.len() + text.len() <= TEXT_BYTES_MAX
                {
                    open.text.push_str(text);
                }
            }
            TextUpdate::Replaced(whole) => {
                self.abandon(emitter);
                self.whole(whole, emitter);
            }
            TextUpdate::SegmentEnd => self.close_text(emitter),
            TextUpdate::Abandoned => self.abandon(emitter),
            TextUpdate::Answer(text) => {
                emitter.emit(EventKind::Answer { text: (&**text).into() });
            }
            TextUpdate::NewTurn => {
                self.unfinished(emitter);
                self.turn += 1;
                emitter.emit(EventKind::Turn { turn: self.turn });
            }
        }
    }

    /// A segment that came as a whole; its end, which follows, closes nothing.
    fn whole(&mut self, text: &str, emitter: &mut Emitter<'_>) {
        let (segment, bytes) = (self.segment, text.len() as u64);
        emitter.emit(EventKind::Text(TextSegment {
            segment,
            text: Some(text.into()),
            bytes,
            start: text.into(),
            is_repeated: false,
        }));
        self.segment += 1;
    }

    fn close_text(&mut self, emitter: &mut Emitter<'_>) {
        let Some(OpenSegment { text, bytes }) = self.open.take() else { return };
        let is_whole = text.len() as u64 == bytes;
        emitter.emit(EventKind::Text(TextSegment {
            segment: self.segment,
            text: is_whole.then_some((&*text).into()),
            bytes,
            start: (&*text).into(),
            is_repeated: true,
        }));
        self.segment += 1;
    }

    fn abandon(&mut self, emitter: &mut Emitter<'_>) {
        if self.open.take().is_some() {
            emitter.emit(EventKind::TextAbandoned { segment: self.segment });
            self.segment += 1;
        }
    }

    fn call(&mut self, update: &CallUpdate<'_>, emitter: &mut Emitter<'_>) {
        let short = EventCall::new(update);
        let whole = || EventCall { arguments: update.arguments(), ..short.clone() };
        match update.change {
            CallChange::Started | CallChange::StartedAgain => {
                let (id, tool) = (update.id().to_owned(), Arc::clone(&update.action.tool));
                self.open_calls.insert(update.number, OpenCallId { id, tool });
                emitter.emit(if update.is_new {
                    EventKind::CallStarted(whole())
                } else {
                    EventKind::CallUpdated(whole())
                });
            }
            CallChange::Completed(outcome) => {
                if update.is_new {
                    emitter.emit(EventKind::CallStarted(whole()));
                }
                self.open_calls.remove(&update.number);
                emitter.emit(EventKind::CallCompleted(CompletedCall {
                    call: short,
                    outcome,
                    result: update.result(),
                    duration_ms: milliseconds(update.duration_ms()),
                }));
            }
            CallChange::Corrected { outcome, .. } => {
                emitter.emit(EventKind::CallCorrected { call: short, outcome });
            }
        }
    }

    /// Open calls will not complete any more.
    fn unfinished(&mut self, emitter: &mut Emitter<'_>) {
        for (number, open) in std::mem::take(&mut self.open_calls) {
            emitter.emit(EventKind::CallUnfinished(EventCall {
                number,
                id: open.id.into(),
                tool: Some(&*open.tool).filter(|tool| !tool.is_empty()).map(Into::into),
                kind: None,
                detail: None,
                files: Cow::Borrowed(&[]),
                arguments: None,
            }));
        }
    }

    fn end(&mut self, summary: &StreamSummary, emitter: &mut Emitter<'_>) {
        self.begin(emitter);
        self.end_thinking(emitter);
        let is_over = matches!(summary.outcome, Outcome::Succeeded | Outcome::Failed);
        if is_over {
            self.close_text(emitter);
            if let Some(diagnostic) = self.missing_end.take() {
                emitter.emit(EventKind::Defect((&diagnostic).into()));
            }
        }
        self.unfinished(emitter);
        let open = self.open.take();
        let cut_text = open.as_ref().map(|open| (open.text.as_str(), open.bytes));
        let result = RunResult::new(summary, cut_text);
        let end = if is_over { EventKind::End } else { EventKind::Cut };
        emitter.emit(end(result));
    }
}

/// What the event says about an error.
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
        FactUpdate::Structured(_) | FactUpdate::Reason(_) => false,
    }
}

/// A time that every reader of JSON reads as the same number.
fn milliseconds(time: Option<f64>) -> Option<u64> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let time = time.filter(|time| (0.0..=LARGEST).contains(time))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked"
    )]
    Some(time.round() as u64)
}
