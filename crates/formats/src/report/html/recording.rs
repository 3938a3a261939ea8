//! What a page shows of a stream, in bounded memory.

use ndjson_check_core::{CallOutcome, Diagnostic, NoticeKind, StreamSummary};

use super::arguments::Argument;
use super::blocks::Blocks;
use super::clock::{Clock, Moment};
use super::diff::PageChange;
use super::entries::PageEntries;
use super::excerpt::Excerpt;
use super::files::ChangedFiles;
use super::markdown::MARKUP_FACTOR;
use super::meter::Meter;
use super::silences::Silences;
use crate::report::Headline;

/// The markup of one entry of a transcript, and of one argument, in bytes.
const PAGE_ENTRY_BYTES: usize = 900;
const ARGUMENT_BYTES: usize = 150;

#[derive(Debug)]
pub(super) struct Recording {
    pub(super) agent: String,
    pub(super) headline: Headline,
    pub(super) summary: StreamSummary,
    pub(super) clock: Clock,
    pub(super) entries: PageEntries,
    /// In the order of their lines; those of the stream as a whole at the end.
    pub(super) findings: Vec<PageFinding>,
    /// That there are more, and why they are not shown.
    pub(super) not_shown: Option<String>,
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
    pub(super) silences: Silences,
    pub(super) files: ChangedFiles,
    pub(super) meter: Meter,
}

#[derive(Debug)]
pub(super) struct RecordedCall {
    pub(super) number: u64,
    pub(super) start: Moment,
    pub(super) entry: u64,
}

/// A text that grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenBlock {
    pub(super) entry: u64,
    pub(super) start: Moment,
    pub(super) end: Moment,
}

impl Recording {
    /// Takes outcomes from the summary: another event than the completion may say that a call was
    /// refused.
    pub(super) fn take_refusals(&mut self) {
        let rows = std::mem::take(&mut self.summary.tool_calls);
        let row = |number: u64| {
            rows.binary_search_by_key(&number, |row| row.number).ok().map(|place| &rows[place])
        };
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

#[derive(Debug)]
pub(super) struct PageEntry {
    pub(super) at: Moment,
    /// How long nothing had come, while no call was open, in milliseconds.
    pub(super) wait_ms: Option<f64>,
    pub(super) kind: EntryKind,
}

#[derive(Debug)]
pub(super) enum EntryKind {
    Text(PageText),
    Thought(PageText),
    Notice(NoticeKind, Excerpt),
    Call(Box<PageCall>),
    /// A turn begins, by its number.
    Turn(u64),
    /// The event that ends the run, by its tag.
    End(String),
}

#[derive(Debug)]
pub(super) struct PageText {
    pub(super) text: Excerpt,
    pub(super) is_abandoned: bool,
}

#[derive(Debug, Default)]
pub(super) struct PageCall {
    /// Its number among the calls of the stream, from 1.
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) detail: String,
    /// The call inside which a sub-agent makes it.
    pub(super) parent: Option<u64>,
    pub(super) is_command: bool,
    pub(super) exit_code: Option<i64>,
    pub(super) arguments: Vec<Argument>,
    pub(super) changes: Vec<PageChange>,
    pub(super) result: Option<Excerpt>,
    /// Whether its completion is the first that the stream shows of it.
    pub(super) is_new: bool,
    pub(super) end: Option<Moment>,
    pub(super) took_ms: Option<f64>,
    /// How it ended; none while it is open.
    pub(super) outcome: Option<CallOutcome>,
}

/// A finding, and the last event before it was found.
#[derive(Debug)]
pub(super) struct PageFinding {
    pub(super) diagnostic: Diagnostic,
    /// What the call does that it is about.
    pub(super) call: Option<String>,
    pub(super) at: Moment,
}

/// A call in the timeline.
#[derive(Debug, Default)]
pub(super) struct Bar {
    pub(super) number: u64,
    pub(super) entry: u64,
    pub(super) tool: String,
    pub(super) detail: String,
    pub(super) parent: Option<u64>,
    pub(super) start: Moment,
    pub(super) end: Moment,
    pub(super) took_ms: Option<f64>,
    pub(super) outcome: Option<CallOutcome>,
}

impl PageEntry {
    pub(super) fn is_blank(&self) -> bool {
        match &self.kind {
            EntryKind::Text(text) | EntryKind::Thought(text) => text.text.is_blank(),
            _ => false,
        }
    }

    /// What it takes in a page at most, in bytes.
    pub(super) fn cost(&self) -> usize {
        let text = match &self.kind {
            EntryKind::Text(text) | EntryKind::Thought(text) => text.text.cost() * MARKUP_FACTOR,
            EntryKind::Notice(_, text) => text.cost(),
            EntryKind::Call(call) => {
                let names = call.tool.len() * 2 + call.detail.len();
                let value = |it: &Argument| 6 * it.name.len() + it.value.cost() + ARGUMENT_BYTES;
                let values: usize = call.arguments.iter().map(value).sum();
                let changes: usize = call.changes.iter().map(PageChange::cost).sum();
                let result = call.result.as_ref().map_or(0, Excerpt::cost);
                6 * names + values + changes + result
            }
            EntryKind::End(tag) => 6 * tag.len(),
            EntryKind::Turn(_) => 0,
        };
        text + PAGE_ENTRY_BYTES
    }
}
