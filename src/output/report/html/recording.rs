//! What a page shows of a stream, in bounded memory.

use std::collections::VecDeque;

use super::blocks::Blocks;
use super::clock::{Clock, Moment};
use super::excerpt::Excerpt;
use crate::check::StreamSummary;
use crate::limits::{PAGE_ENTRY_BYTES, PAGE_TRANSCRIPT_BYTES_MAX};
use crate::profile::{CallOutcome, NoticeKind};
use crate::rules::diagnostic::Diagnostic;

/// A stream as its page shows it.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) summary: StreamSummary,
    pub(super) clock: Clock,
    pub(super) entries: PageEntries,
    /// In the order of their lines; those of the stream as a whole at the end.
    pub(super) findings: Vec<PageFinding>,
    /// None if there are too many calls to be shown one by one.
    pub(super) bars: Option<Vec<Bar>>,
    pub(super) calls: Blocks,
    /// Calls that failed, were refused or never completed.
    pub(super) bad_calls: Blocks,
    pub(super) texts: Blocks,
    pub(super) thoughts: Blocks,
    pub(super) ends: Vec<Moment>,
    /// The text of the answer, if it is not the last text.
    pub(super) answer: Option<Excerpt>,
}

impl Recording {
    /// Takes outcomes from the summary: another event than the completion may say that a call was
    /// refused.
    pub(super) fn take_refusals(&mut self) {
        let rows = std::mem::take(&mut self.summary.tool_calls);
        let row = |number: u64| rows.get(usize::try_from(number - 1).unwrap_or(usize::MAX));
        for call in self.entries.calls_mut() {
            if let Some(row) = row(call.number).filter(|row| row.id == call.id) {
                call.outcome = row.outcome.filter(|_| call.outcome.is_some());
            }
        }
        for bar in self.bars.iter_mut().flatten() {
            let outcome = row(bar.number).and_then(|row| row.outcome);
            bar.outcome = outcome.filter(|_| bar.outcome.is_some()).or(bar.outcome);
        }
    }
}

/// One entry of the transcript.
#[derive(Debug)]
pub(super) struct PageEntry {
    pub(super) at: Moment,
    pub(super) kind: EntryKind,
}

#[derive(Debug)]
pub(super) enum EntryKind {
    Text(PageText),
    /// Reasoning.
    Thought(PageText),
    /// An event that a reader wants to see: its kind, and what it says.
    Notice(NoticeKind, Excerpt),
    Call(Box<PageCall>),
    /// A turn begins, by its number.
    Turn(u64),
    /// Nothing came for so many milliseconds, while no call was open.
    Silence(f64),
    /// The event that ends the run, by its tag.
    End(String),
}

#[derive(Debug)]
pub(super) struct PageText {
    pub(super) text: Excerpt,
    /// Whether the agent gave it up.
    pub(super) is_abandoned: bool,
}

#[derive(Debug)]
pub(super) struct PageCall {
    /// Its number among the calls of the stream, from 1.
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) detail: String,
    /// The names of its arguments, and their values.
    pub(super) arguments: Vec<(String, Excerpt)>,
    pub(super) result: Option<Excerpt>,
    pub(super) has_start: bool,
    pub(super) end: Option<Moment>,
    /// How long it took, if the stream shows that.
    pub(super) took_ms: Option<f64>,
    /// How it ended; none while it is open.
    pub(super) outcome: Option<CallOutcome>,
}

/// A finding, and the last event before it was found.
#[derive(Debug)]
pub(super) struct PageFinding {
    pub(super) diagnostic: Diagnostic,
    pub(super) at: Moment,
}

/// A call in the timeline.
#[derive(Debug)]
pub(super) struct Bar {
    pub(super) number: u64,
    pub(super) entry: u64,
    pub(super) tool: String,
    pub(super) detail: String,
    pub(super) start: Moment,
    pub(super) end: Moment,
    /// How long it took, if the stream shows that.
    pub(super) took_ms: Option<f64>,
    pub(super) outcome: Option<CallOutcome>,
}

impl PageCall {
    /// A call of which this is the first event; with an outcome, if that completes it.
    pub(super) fn new(number: u64, id: &str, outcome: Option<CallOutcome>) -> Self {
        Self {
            number,
            id: id.to_owned(),
            tool: String::new(),
            detail: String::new(),
            arguments: Vec::new(),
            result: None,
            has_start: outcome.is_none(),
            end: None,
            took_ms: None,
            outcome,
        }
    }
}

impl Bar {
    pub(super) fn new(
        number: u64,
        entry: u64,
        start: Moment,
        outcome: Option<CallOutcome>,
    ) -> Self {
        let (tool, detail, took_ms) = (String::new(), String::new(), None);
        Self { number, entry, tool, detail, start, end: start, took_ms, outcome }
    }
}

impl PageEntry {
    /// Whether it is a text of nothing but white space.
    pub(super) fn is_blank(&self) -> bool {
        match &self.kind {
            EntryKind::Text(text) | EntryKind::Thought(text) => text.text.is_blank(),
            _ => false,
        }
    }

    /// Leaves out what has no bound but that of the page.
    fn drop_texts(&mut self) {
        if let EntryKind::Call(call) = &mut self.kind {
            call.arguments.clear();
            call.result = None;
        }
    }

    /// What it takes in a page at most, in bytes.
    fn cost(&self) -> usize {
        let text = match &self.kind {
            EntryKind::Text(text) | EntryKind::Thought(text) => text.text.cost(),
            EntryKind::Notice(_, text) => text.cost(),
            EntryKind::Call(call) => {
                let names = call.tool.len() * 2 + call.detail.len();
                let values = call.arguments.iter().map(|(name, value)| name.len() + value.cost());
                let result = call.result.as_ref().map_or(0, Excerpt::cost);
                6 * names + values.sum::<usize>() + result
            }
            EntryKind::End(tag) => 6 * tag.len(),
            EntryKind::Turn(_) | EntryKind::Silence(_) => 0,
        };
        text + PAGE_ENTRY_BYTES
    }
}

/// The first entries of a stream and the last ones.
#[derive(Debug, Default)]
pub(super) struct PageEntries {
    first: Vec<PageEntry>,
    /// With what each costs.
    last: VecDeque<(PageEntry, usize)>,
    first_cost: usize,
    last_cost: usize,
    omitted: Omitted,
}

/// The entries that are left out, between the first ones and the last ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Omitted {
    pub(super) entries: u64,
    pub(super) calls: u64,
    /// The line of the first one, and of the last one.
    pub(super) lines: (u64, u64),
}

impl PageEntries {
    /// Adds an entry; returns its number.
    pub(super) fn push(&mut self, entry: PageEntry) -> u64 {
        let number = self.len();
        let cost = entry.cost();
        if self.last.is_empty() && self.first_cost + cost <= PAGE_TRANSCRIPT_BYTES_MAX / 2 {
            self.first_cost += cost;
            self.first.push(entry);
        } else {
            self.last_cost += cost;
            self.last.push_back((entry, cost));
            self.make_room();
        }
        number
    }

    /// An entry, if it is not left out.
    pub(super) fn get(&self, number: u64) -> Option<&PageEntry> {
        let first = self.first.len() as u64;
        if number < first {
            return self.first.get(index(number));
        }
        let place = (number - first).checked_sub(self.omitted.entries)?;
        self.last.get(index(place)).map(|(entry, _)| entry)
    }

    /// Changes an entry, if it is not left out.
    pub(super) fn change(&mut self, number: u64, change: impl FnOnce(&mut PageEntry)) {
        let first = self.first.len() as u64;
        if number < first {
            let Some(entry) = self.first.get_mut(index(number)) else { return };
            let cost = entry.cost();
            change(entry);
            // No entry leaves the first half: one that finds no room there loses its texts.
            if self.first_cost + entry.cost() > cost + PAGE_TRANSCRIPT_BYTES_MAX / 2 {
                entry.drop_texts();
            }
            self.first_cost = (self.first_cost + entry.cost()).saturating_sub(cost);
        } else if let Some(place) = (number - first).checked_sub(self.omitted.entries)
            && let Some((entry, cost)) = self.last.get_mut(index(place))
        {
            change(entry);
            self.last_cost -= *cost;
            *cost = entry.cost();
            self.last_cost += *cost;
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        while self.last_cost > PAGE_TRANSCRIPT_BYTES_MAX / 2 && self.last.len() > 1 {
            let Some((entry, cost)) = self.last.pop_front() else { break };
            self.last_cost -= cost;
            let omitted = &mut self.omitted;
            if omitted.entries == 0 {
                omitted.lines.0 = entry.at.line;
            }
            omitted.lines.1 = entry.at.line;
            omitted.entries += 1;
            omitted.calls += u64::from(matches!(entry.kind, EntryKind::Call(_)));
        }
    }

    fn len(&self) -> u64 {
        self.first.len() as u64 + self.omitted.entries + self.last.len() as u64
    }

    pub(super) fn first(&self) -> &[PageEntry] {
        &self.first
    }

    pub(super) fn last(&self) -> impl Iterator<Item = &PageEntry> {
        self.last.iter().map(|(entry, _)| entry)
    }

    /// The entries that are there, with their numbers.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (&PageEntry, u64)> {
        let last = self.first.len() as u64 + self.omitted.entries;
        self.first.iter().zip(0..).chain(self.last().zip(last..))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &PageEntry> {
        self.first.iter().chain(self.last())
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &PageCall> {
        self.all().filter_map(|entry| match &entry.kind {
            EntryKind::Call(call) => Some(&**call),
            _ => None,
        })
    }

    pub(super) fn calls_mut(&mut self) -> impl Iterator<Item = &mut PageCall> {
        let last = self.last.iter_mut().map(|(entry, _)| entry);
        self.first.iter_mut().chain(last).filter_map(|entry| match &mut entry.kind {
            EntryKind::Call(call) => Some(&mut **call),
            _ => None,
        })
    }

    pub(super) fn omitted(&self) -> Omitted {
        self.omitted
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
