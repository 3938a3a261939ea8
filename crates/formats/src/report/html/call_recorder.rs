//! Collects the calls of a page.

use ndjson_check_core::{CallKind, CallOutcome, CompletedCall, EventCall, escape::clipped};
use serde_json::Value;

use super::arguments::arguments;
use super::clock::Moment;
use super::diff::{CHANGES_MAX, PageChange};
use super::excerpt::Excerpt;
use super::recorder::{Here, Recorder};
use super::recording::{Bar, EntryKind, PageCall, RecordedCall};
use crate::limits::{NAME_BYTES_MAX, PAGE_VALUE_BYTES_MAX};

const PAGE_DETAIL_BYTES_MAX: usize = 300;

/// Calls that the timeline of an HTML page shows one by one, about 1 kB each.
const PAGE_BARS_MAX: u64 = 1_500;

impl Recorder {
    pub(super) fn leave_calls_open(&mut self, moment: Moment) {
        for call in std::mem::take(&mut self.open).into_values() {
            self.end_call(&call, None, (moment, None));
        }
    }

    pub(super) fn start(&mut self, call: &EventCall<'_>, here: Here<'_>) {
        let known = self.open.remove(&call.number);
        let recorded = known.unwrap_or_else(|| self.call(call, here.moment));
        self.describe(&recorded, call, call.arguments.as_ref(), here.line);
        self.open.insert(call.number, recorded);
    }

    pub(super) fn complete(&mut self, completed: &CompletedCall<'_>, here: Here<'_>) {
        let moment = here.moment;
        let (ended, outcome) = (&completed.call, completed.outcome);
        let known = self.open.remove(&ended.number);
        let mut call = known.unwrap_or_else(|| self.call(ended, moment));
        self.describe(&call, ended, completed.arguments.as_ref(), here.line);
        let said = completed.said_ms.filter(|_| call.start.is_same_time(&moment));
        let took = said.or_else(|| call.start.until(&moment));
        if let Some(said) = said {
            call.start = moment.earlier(said);
            self.clock.started(&call.start);
        }
        let result = completed.result.as_deref().filter(|result| !result.trim().is_empty());
        let result = result.map(|result| Excerpt::of(result, PAGE_VALUE_BYTES_MAX));
        let changes = completed.changes.iter().take(CHANGES_MAX).map(PageChange::new);
        let changes: Vec<PageChange> = changes.collect();
        self.files.add(&changes, call.number);
        self.entries.change(call.entry, |entry| {
            if let EntryKind::Call(call) = &mut entry.kind {
                (call.outcome, call.end, call.result) = (Some(outcome), Some(moment), result);
                (call.took_ms, call.is_new) = (took, completed.is_new);
                (call.exit_code, call.changes) = (completed.exit_code, changes);
            }
        });
        self.end_call(&call, Some(outcome), (moment, took));
    }

    /// Another event than the completion says how a call ended. The summary has the outcomes, too,
    /// but by then the call may be left out as a good one.
    pub(super) fn correct(&mut self, call: &EventCall<'_>, outcome: CallOutcome) {
        let Some(entry) = self.entries.of_call(call.number, &call.id) else { return };
        self.entries.change(entry, |entry| {
            if let EntryKind::Call(call) = &mut entry.kind {
                call.outcome = Some(outcome);
            }
        });
    }

    pub(super) fn end_call(
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
        let (number, parent) = (call.number, call.parent);
        let shown = PageCall { number, id: call.id.to_string(), parent, ..PageCall::default() };
        let entry = self.push(moment, EntryKind::Call(Box::new(shown)));
        if let Some(bars) = &mut self.bars {
            let (start, end) = (moment, moment);
            bars.push(Bar { number, entry, parent, start, end, ..Bar::default() });
        }
        if number > PAGE_BARS_MAX {
            self.bars = None;
        }
        RecordedCall { number, start: moment, entry }
    }

    fn describe(
        &mut self,
        call: &RecordedCall,
        said: &EventCall<'_>,
        arguments: Option<&Value>,
        line: &[u8],
    ) {
        let tool = clipped(said.tool.as_deref().unwrap_or_default(), NAME_BYTES_MAX);
        let detail = clipped(said.detail.as_deref().unwrap_or_default(), PAGE_DETAIL_BYTES_MAX);
        let named = arguments.map(|it| self::arguments(it, line)).unwrap_or_default();
        if let Some(bar) = self.bar(call.number) {
            (bar.tool, bar.detail) = (tool.to_string(), detail.to_string());
        }
        self.entries.change(call.entry, |entry| {
            if let EntryKind::Call(call) = &mut entry.kind {
                (call.tool, call.detail) = (tool.into_owned(), detail.into_owned());
                call.is_command = said.kind == Some(CallKind::Command);
                if !named.is_empty() {
                    call.arguments = named;
                }
            }
        });
    }
}
