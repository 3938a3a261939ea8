//! Collects what a page shows, while the stream arrives.

use std::collections::BTreeMap;

use ndjson_check_core::{
    CheckedLine, Diagnostic, Event, EventKind, StreamSummary, escape::clipped,
};

use super::blocks::Blocks;
use super::clock::{Clock, Moment};
use super::entries::PageEntries;
use super::excerpt::Excerpt;
use super::files::ChangedFiles;
use super::meter::Meter;
use super::recording::{
    Bar, EntryKind, OpenBlock, PageEntry, PageFinding, PageText, RecordedCall, Recording,
};
use super::silences::Silences;
use crate::limits::{NAME_BYTES_MAX, PAGE_VALUE_BYTES_MAX};
use crate::report::alike::{hidden, is_cause};
use crate::report::call_names::{call_name, line_text, named, noted};
use crate::report::summary_text::agent_in;
use crate::report::worst::{SeverityCounts, WorstItems};
use crate::report::{FirstFindings, Headline};

const PAGE_TEXT_BYTES_MAX: usize = 32 * 1024;

/// Findings in an HTML page, in bytes; each is there twice.
const PAGE_FINDINGS_BYTES_MAX: usize = 400_000;

/// Longest name of a call in the list of findings, in bytes.
const CALL_NAME_BYTES_MAX: usize = 60;

/// Ends of turns in a timeline.
const PAGE_ENDS_MAX: usize = 200;

/// Shortest time without an event that an HTML page shows, in milliseconds.
const PAGE_SILENCE_MS_MIN: f64 = 5_000.0;

/// How long after a silence an entry names it, in milliseconds.
const PAGE_WAIT_MS_MAX: f64 = 1_000.0;

#[derive(Debug, Default)]
pub(super) struct Recorder {
    /// The name of the agent.
    agent: String,
    pub(super) clock: Clock,
    /// The last event with a time.
    last: Option<Moment>,
    /// The last event of the run.
    latest: Option<Moment>,
    pub(super) entries: PageEntries,
    text: Option<OpenBlock>,
    thought: Option<OpenBlock>,
    texts: Blocks,
    thoughts: Blocks,
    answer: Option<Excerpt>,
    /// Open calls, by the number that the check gives them.
    pub(super) open: BTreeMap<u64, RecordedCall>,
    /// None if there are too many calls to be shown one by one.
    pub(super) bars: Option<Vec<Bar>>,
    pub(super) call_blocks: Blocks,
    pub(super) bad_call_blocks: Blocks,
    ends: Vec<Moment>,
    findings: WorstItems<PageFinding>,
    found: FirstFindings,
    pub(super) silences: Silences,
    /// The last silence: its end, and its length in milliseconds.
    wait: Option<(Moment, f64)>,
    pub(super) files: ChangedFiles,
    meter: Meter,
}

/// The event of the stream that is read.
#[derive(Clone, Copy)]
pub(super) struct Here<'l> {
    pub(super) moment: Moment,
    pub(super) line: &'l [u8],
}

impl Recorder {
    /// `title` is that of the profile.
    pub(super) fn new(title: &str) -> Self {
        let agent = agent_in(title).to_owned();
        Self { agent, bars: Some(Vec::new()), ..Self::default() }
    }

    pub(super) fn event(&mut self, event: &CheckedLine<'_>) {
        let moment = self.clock.tick(event.line(), event.time_ms());
        if !event.is_in_run() {
            return;
        }
        // What a new turn closes has ended with the turn before.
        let events = event.events();
        let is_turn = |event: &Event<'_>| matches!(event.kind, EventKind::Turn { .. });
        let (before, events) = events.split_at(events.iter().position(is_turn).unwrap_or(0));
        let here = Here { moment, line: event.bytes() };
        for closing in before {
            self.run_event(&closing.kind, Here { moment: self.latest.unwrap_or(moment), ..here });
        }
        self.silence(&moment, events.iter().filter_map(said_duration).fold(0.0, f64::max));
        self.latest = Some(moment);
        for event in events {
            self.run_event(&event.kind, here);
        }
        if event.ends_turn() {
            let tag = clipped(event.tag(), NAME_BYTES_MAX).into_owned();
            self.push(moment, EntryKind::End(tag));
            if self.ends.len() < PAGE_ENDS_MAX {
                self.ends.push(moment);
            }
        }
    }

    /// The messages that the end of the stream closes.
    pub(super) fn end_messages<'e>(&mut self, closing: impl Iterator<Item = &'e Event<'e>>) {
        let Some(moment) = self.latest else { return };
        for event in closing {
            if let EventKind::MessageUsage(usage) = &event.kind {
                self.meter.message(usage, moment);
            }
        }
    }

    fn run_event(&mut self, event: &EventKind<'_>, here: Here<'_>) {
        let moment = here.moment;
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
                if !segment.came_in_deltas {
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
                self.start(call, here);
            }
            EventKind::CallCompleted(completed) => self.complete(completed, here),
            EventKind::CallCorrected { call, outcome, .. } => self.correct(call, *outcome),
            EventKind::CallUnfinished(call) => {
                if let Some(call) = self.open.remove(&call.number) {
                    self.end_call(&call, None, (moment, None));
                }
            }
            EventKind::MessageUsage(usage) => self.meter.message(usage, moment),
            EventKind::Usage(figures) => self.meter.figures(figures, moment),
            _ => {}
        }
    }

    pub(super) fn push(&mut self, at: Moment, kind: EntryKind) -> u64 {
        // An event that shows nothing may end the silence just before.
        let wait = self.wait.take().filter(|(end, _)| match (end.ms(), at.ms()) {
            (Some(end), Some(at)) => at - end < PAGE_WAIT_MS_MAX,
            _ => end.line == at.line,
        });
        self.entries.push(PageEntry { at, wait_ms: wait.map(|(_, ms)| ms), kind })
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
            self.silences.add(&end, ms);
            self.wait = Some((end, ms));
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

    pub(super) fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.found.add(diagnostic);
        let note = noted(diagnostic).map_or(0, |note| note.len());
        let text = line_text(diagnostic).map_or(0, |text| text.len());
        let call = diagnostic.call_id.as_ref().map_or(0, |_| CALL_NAME_BYTES_MAX);
        let bytes = 6 * (diagnostic.message.len() + note + text + call) + 500;
        // Those that are left out are counted in the summary.
        let found =
            PageFinding { diagnostic: diagnostic.clone(), call: None, at: self.clock.now() };
        self.findings.add(PAGE_FINDINGS_BYTES_MAX, diagnostic.severity, bytes, found);
    }

    pub(super) fn finish(mut self, summary: &StreamSummary) -> Recording {
        self.end_text();
        self.end_thought();
        self.leave_calls_open(self.clock.now());
        let headline = Headline::new(summary, &self.found);
        let mut findings: Vec<PageFinding> = self.findings.into_items().collect();
        let all = SeverityCounts::of(summary);
        let counts = |found: &[PageFinding]| found.iter().map(|it| &it.diagnostic).collect();
        let unseen = all.without(counts(&findings));
        let count = findings.len();
        findings.retain(|it| is_cause(&it.diagnostic, &headline));
        let not_shown = unseen.more().map(|more| format!("{more} not shown"));
        let not_shown = not_shown.or_else(|| hidden(count - findings.len(), &headline));
        findings.sort_by_key(|it| it.diagnostic.line.unwrap_or(u64::MAX));
        for found in &mut findings {
            let name = call_name(&found.diagnostic, &summary.tool_calls);
            found.call = name.map(|name| clipped(name, CALL_NAME_BYTES_MAX).into_owned());
            found.diagnostic.message = named(&found.diagnostic, &summary.tool_calls);
        }
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
            agent: self.agent,
            headline,
            summary: summary.clone(),
            clock: self.clock,
            entries: self.entries,
            findings,
            not_shown,
            bars: self.bars,
            calls: self.call_blocks,
            bad_calls: self.bad_call_blocks,
            texts: self.texts,
            thoughts: self.thoughts,
            ends: self.ends,
            answer,
            silences: self.silences,
            files: self.files,
            meter: self.meter,
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
