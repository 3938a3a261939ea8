//! Collects what a page shows, while the stream arrives.

use std::collections::BTreeMap;

use ndjson_check_core::{
    CallOutcome, CheckedEvent, CompletedCall, Diagnostic, Event, EventCall, EventKind,
    StreamSummary, escape::clipped,
};
use serde_json::Value;

use super::arguments;
use super::blocks::Blocks;
use super::clock::{Clock, Moment};
use super::entries::PageEntries;
use super::excerpt::Excerpt;
use super::recording::{
    Bar, EntryKind, OpenBlock, PageCall, PageEntry, PageFinding, PageText, RecordedCall, Recording,
};
use crate::limits::{NAME_BYTES_MAX, PAGE_VALUE_BYTES_MAX};
use crate::report::worst::WorstItems;
use crate::report::{FirstFindings, Headline};

/// Longest text of the assistant in an HTML page, in bytes.
const PAGE_TEXT_BYTES_MAX: usize = 32 * 1024;

/// Longest detail of a tool call in an HTML page, in bytes.
const PAGE_DETAIL_BYTES_MAX: usize = 300;

/// Findings in an HTML page, in bytes; each is there twice.
const PAGE_FINDINGS_BYTES_MAX: usize = 400_000;

/// Calls that the timeline of an HTML page shows one by one, about 1 kB each.
const PAGE_BARS_MAX: u64 = 1_500;

/// Ends of turns in a timeline.
const PAGE_ENDS_MAX: usize = 200;

/// Shortest time without an event that an HTML page shows, in milliseconds.
const PAGE_SILENCE_MS_MIN: f64 = 5_000.0;

#[derive(Debug)]
pub(super) struct Recorder {
    clock: Clock,
    /// The last event with a time.
    last: Option<Moment>,
    /// The last event of the run.
    latest: Option<Moment>,
    entries: PageEntries,
    /// The open text, and the open block of reasoning.
    text: Option<OpenBlock>,
    thought: Option<OpenBlock>,
    texts: Blocks,
    thoughts: Blocks,
    answer: Option<Excerpt>,
    /// Open calls, by the number that the check gives them.
    open: BTreeMap<u64, RecordedCall>,
    /// None if there are too many calls to be shown one by one.
    bars: Option<Vec<Bar>>,
    call_blocks: Blocks,
    bad_call_blocks: Blocks,
    ends: Vec<Moment>,
    findings: WorstItems<PageFinding>,
    found: FirstFindings,
}

impl Recorder {
    pub(super) fn new() -> Self {
        Self {
            clock: Clock::default(),
            last: None,
            latest: None,
            entries: PageEntries::default(),
            text: None,
            thought: None,
            texts: Blocks::default(),
            thoughts: Blocks::default(),
            answer: None,
            open: BTreeMap::new(),
            bars: Some(Vec::new()),
            call_blocks: Blocks::default(),
            bad_call_blocks: Blocks::default(),
            ends: Vec::new(),
            findings: WorstItems::new(PAGE_FINDINGS_BYTES_MAX),
            found: FirstFindings::default(),
        }
    }

    pub(super) fn event(&mut self, event: &CheckedEvent<'_>) {
        let moment = self.clock.tick(event.line(), event.time_ms());
        if !event.is_in_run() {
            return;
        }
        // What a new turn closes has ended with the turn before.
        let events = event.events();
        let is_turn = |event: &Event<'_>| matches!(event.kind, EventKind::Turn { .. });
        let (before, events) = events.split_at(events.iter().position(is_turn).unwrap_or(0));
        for closing in before {
            self.run_event(&closing.kind, self.latest.unwrap_or(moment));
        }
        self.silence(&moment, events.iter().filter_map(said_duration).fold(0.0, f64::max));
        self.latest = Some(moment);
        for event in events {
            self.run_event(&event.kind, moment);
        }
        if event.is_end() {
            let tag = clipped(event.tag(), NAME_BYTES_MAX).into_owned();
            self.push(moment, EntryKind::End(tag));
            if self.ends.len() < PAGE_ENDS_MAX {
                self.ends.push(moment);
            }
        }
    }

    fn run_event(&mut self, event: &EventKind<'_>, moment: Moment) {
        match event {
            EventKind::Turn { turn } => {
                self.end_text();
                self.end_thought();
                self.push(moment, EntryKind::Turn(*turn));
            }
            EventKind::ThinkingDelta { text, .. } => self.think(text, moment),
            EventKind::ThinkingEnd { .. } => self.end_thought(),
            EventKind::Notice(notice) => {
                let detail = notice.detail.as_deref().unwrap_or_default();
                let text = Excerpt::of(detail.trim(), PAGE_VALUE_BYTES_MAX);
                self.push(moment, EntryKind::Notice(notice.kind, text));
            }
            EventKind::TextDelta { text, .. } => self.grow_text(text, moment),
            EventKind::Text(segment) => {
                if !segment.is_repeated {
                    self.grow_text(segment.text.as_deref().unwrap_or_default(), moment);
                }
                self.end_text();
            }
            EventKind::TextAbandoned { is_replaced: true, .. } => self.empty_text(),
            EventKind::TextAbandoned { .. } => self.abandon_text(),
            EventKind::Answer { text } => {
                self.answer = Some(Excerpt::of(text, PAGE_TEXT_BYTES_MAX));
            }
            EventKind::CallStarted(call) | EventKind::CallUpdated(call) => {
                self.start(call, moment);
            }
            EventKind::CallCompleted(completed) => self.complete(completed, moment),
            EventKind::CallCorrected { call, outcome, .. } => self.correct(call, *outcome),
            EventKind::CallUnfinished(call) => {
                if let Some(call) = self.open.remove(&call.number) {
                    self.end_call(&call, None, (moment, None));
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, at: Moment, kind: EntryKind) -> u64 {
        self.entries.push(PageEntry { at, kind })
    }

    /// A gap before this event, while the agent waited for nothing that the stream shows.
    /// A call that is open nowhere else takes the last part of it.
    fn silence(&mut self, moment: &Moment, in_call: f64) {
        if moment.ms().is_none() {
            return;
        }
        let Some(last) = self.last.replace(*moment) else { return };
        let end = moment.earlier(in_call);
        let Some(ms) = last.until(&end).filter(|_| self.open.is_empty()) else { return };
        self.clock.idle(&last, &end);
        if ms >= PAGE_SILENCE_MS_MIN {
            self.push(end, EntryKind::Silence(ms));
        }
    }

    /// The calls that are open will not end any more.
    fn leave_calls_open(&mut self, moment: Moment) {
        for call in std::mem::take(&mut self.open).into_values() {
            self.end_call(&call, None, (moment, None));
        }
    }

    fn grow_text(&mut self, chunk: &str, moment: Moment) {
        let mut open = match self.text {
            Some(open) => open,
            None => self.open_block(moment, EntryKind::Text),
        };
        open.end = moment;
        self.text = Some(open);
        self.grow(open, chunk);
    }

    /// The final version of the open text follows.
    fn empty_text(&mut self) {
        self.change_text(|text| text.text = Excerpt::new(PAGE_TEXT_BYTES_MAX));
    }

    fn abandon_text(&mut self) {
        self.change_text(|text| text.is_abandoned = true);
        self.end_text();
    }

    fn change_text(&mut self, change: impl FnOnce(&mut PageText)) {
        let Some(open) = self.text else { return };
        self.entries.change(open.entry, |entry| {
            if let EntryKind::Text(text) = &mut entry.kind {
                change(text);
            }
        });
    }

    fn think(&mut self, chunk: &str, moment: Moment) {
        let mut open = match self.thought {
            Some(open) => open,
            None => self.open_block(moment, EntryKind::Thought),
        };
        open.end = moment;
        self.thought = Some(open);
        self.grow(open, chunk);
    }

    fn open_block(&mut self, moment: Moment, kind: fn(PageText) -> EntryKind) -> OpenBlock {
        let text = Excerpt::new(PAGE_TEXT_BYTES_MAX);
        let entry = self.push(moment, kind(PageText { text, is_abandoned: false }));
        OpenBlock { entry, start: moment, end: moment }
    }

    fn grow(&mut self, open: OpenBlock, chunk: &str) {
        self.entries.change(open.entry, |entry| {
            if let EntryKind::Text(text) | EntryKind::Thought(text) = &mut entry.kind {
                text.text.push(chunk);
            }
        });
    }

    fn end_text(&mut self) {
        let open = self.text.take().filter(|open| self.is_shown(open));
        if let Some(OpenBlock { start, end, entry }) = open {
            self.texts.add(start, end, entry);
        }
    }

    fn end_thought(&mut self) {
        let open = self.thought.take().filter(|open| self.is_shown(open));
        if let Some(OpenBlock { start, end, entry }) = open {
            self.thoughts.add(start, end, entry);
        }
    }

    fn is_shown(&self, open: &OpenBlock) -> bool {
        !self.entries.get(open.entry).is_some_and(PageEntry::is_blank)
    }

    fn start(&mut self, call: &EventCall<'_>, moment: Moment) {
        let known = self.open.remove(&call.number);
        let recorded = known.unwrap_or_else(|| self.call(call, moment));
        self.describe(&recorded, call, call.arguments.as_ref());
        self.open.insert(call.number, recorded);
    }

    fn complete(&mut self, completed: &CompletedCall<'_>, moment: Moment) {
        let (ended, outcome) = (&completed.call, completed.outcome);
        let known = self.open.remove(&ended.number);
        let mut call = known.unwrap_or_else(|| self.call(ended, moment));
        self.describe(&call, ended, completed.arguments.as_ref());
        let said = completed.said_ms.filter(|_| call.start.is_same_time(&moment));
        let took = said.or_else(|| call.start.until(&moment));
        if let Some(said) = said {
            call.start = moment.earlier(said);
            self.clock.started(&call.start);
        }
        let result = completed.result.as_deref().filter(|result| !result.trim().is_empty());
        let result = result.map(|result| Excerpt::of(result, PAGE_VALUE_BYTES_MAX));
        self.entries.change(call.entry, |entry| {
            if let EntryKind::Call(call) = &mut entry.kind {
                (call.outcome, call.end, call.result) = (Some(outcome), Some(moment), result);
                (call.took_ms, call.has_start) = (took, !completed.is_new);
            }
        });
        self.end_call(&call, Some(outcome), (moment, took));
    }

    /// Another event than the completion says how a call ended. The summary has the outcomes, too,
    /// but by then the call may be left out as a good one.
    fn correct(&mut self, call: &EventCall<'_>, outcome: CallOutcome) {
        let Some(entry) = self.entries.of_call(call.number, &call.id) else { return };
        self.entries.change(entry, |entry| {
            if let EntryKind::Call(call) = &mut entry.kind {
                call.outcome = Some(outcome);
            }
        });
    }

    fn end_call(
        &mut self,
        call: &RecordedCall,
        outcome: Option<CallOutcome>,
        (end, took_ms): (Moment, Option<f64>),
    ) {
        self.call_blocks.add(call.start, end, call.entry);
        if !matches!(outcome, Some(CallOutcome::Succeeded | CallOutcome::Unknown)) {
            self.bad_call_blocks.add(call.start, end, call.entry);
        }
        if let Some(bar) = self.bar(call.number) {
            (bar.start, bar.end, bar.took_ms) = (call.start, end, took_ms);
            bar.outcome = outcome;
        }
    }

    fn bar(&mut self, number: u64) -> Option<&mut Bar> {
        let place = usize::try_from(number - 1).ok()?;
        self.bars.as_mut()?.get_mut(place)
    }

    /// A call of which this is the first event.
    fn call(&mut self, call: &EventCall<'_>, moment: Moment) -> RecordedCall {
        let number = call.number;
        let entry = self.push(moment, EntryKind::Call(Box::new(PageCall::new(number, &call.id))));
        if let Some(bars) = &mut self.bars {
            bars.push(Bar::new(number, entry, moment));
        }
        if number > PAGE_BARS_MAX {
            self.bars = None;
        }
        RecordedCall { number, start: moment, entry }
    }

    /// Adds what an event says about a call.
    fn describe(&mut self, call: &RecordedCall, said: &EventCall<'_>, arguments: Option<&Value>) {
        let tool = clipped(said.tool.as_deref().unwrap_or_default(), NAME_BYTES_MAX);
        let detail = clipped(said.detail.as_deref().unwrap_or_default(), PAGE_DETAIL_BYTES_MAX);
        let named = arguments.map(arguments::named).unwrap_or_default();
        if let Some(bar) = self.bar(call.number) {
            (bar.tool, bar.detail) = (tool.to_string(), detail.to_string());
        }
        self.entries.change(call.entry, |entry| {
            if let EntryKind::Call(call) = &mut entry.kind {
                (call.tool, call.detail) = (tool.into_owned(), detail.into_owned());
                if !named.is_empty() {
                    call.arguments = named;
                }
            }
        });
    }

    pub(super) fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.found.add(diagnostic);
        let note = diagnostic.note.as_ref().map_or(0, String::len);
        let bytes = 6 * (diagnostic.message.len() + note) + 500;
        // Those that are left out are counted in the summary.
        let found = PageFinding { diagnostic: diagnostic.clone(), at: self.clock.now() };
        self.findings.add(diagnostic.severity, bytes, found);
    }

    pub(super) fn finish(mut self, summary: &StreamSummary) -> Recording {
        self.end_text();
        self.end_thought();
        self.leave_calls_open(self.clock.now());
        let mut findings: Vec<PageFinding> = self.findings.into_items().collect();
        findings.sort_by_key(|it| it.diagnostic.line.unwrap_or(u64::MAX));
        let texts = self.entries.all().filter_map(|entry| match &entry.kind {
            EntryKind::Text(text) if !text.is_abandoned => {
                Some((text.text.head(), text.text.tail()))
            }
            _ => None,
        });
        let last_text = texts.last();
        let answer = self.answer.filter(|answer| {
            !answer.is_blank() && last_text != Some((answer.head(), answer.tail()))
        });
        let mut recording = Recording {
            headline: Headline::new(summary, &self.found),
            summary: summary.clone(),
            clock: self.clock,
            entries: self.entries,
            findings,
            bars: self.bars,
            calls: self.call_blocks,
            bad_calls: self.bad_call_blocks,
            texts: self.texts,
            thoughts: self.thoughts,
            ends: self.ends,
            answer,
        };
        recording.take_refusals();
        recording
    }
}

/// How long a call took that ends here, as the agent says.
fn said_duration(event: &Event<'_>) -> Option<f64> {
    match &event.kind {
        EventKind::CallCompleted(completed) => completed.said_ms,
        _ => None,
    }
}
