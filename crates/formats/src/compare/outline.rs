//! What a run did, in short: its calls in their order, and its text.

use ndjson_check_core::{
    CallOutcome, Event, EventCall, EventKind, Observer, StreamSummary, WantedEvents,
    escape::{split_before, visible},
};

use super::is_clipped;
use crate::limits::TEXT_BYTES_MAX;
use crate::said::Said;

pub(super) const COMPARED_CALLS_MAX: usize = 1_000;

/// The time to compare texts grows with the square of their lines.
const COMPARED_LINES_MAX: usize = 2_000;

/// Collects what one run did.
#[derive(Debug, Default)]
pub struct Outline {
    calls: Vec<OutlinedCall>,
    /// The texts of the assistant, one after the other, each with a line feed behind it.
    text: String,
    text_start: usize,
    said: Said,
    /// Whether there are more calls than are compared.
    pub(super) has_more_calls: bool,
    has_clipped_text: bool,
    pub(super) summary: Option<StreamSummary>,
}

#[derive(Debug, Default)]
struct OutlinedCall {
    tool: String,
    detail: String,
    outcome: Option<CallOutcome>,
}

impl Outline {
    /// The events of the run; none if it was not read to its end.
    pub fn events(&self) -> u64 {
        self.summary.as_ref().map_or(0, |summary| summary.events)
    }

    /// The calls in the order of their starts, each as one line of text.
    pub(super) fn calls(&self) -> Vec<String> {
        self.calls.iter().map(OutlinedCall::line).collect()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.text.lines().filter(|line| !line.trim().is_empty());
        lines.take(COMPARED_LINES_MAX).map(|line| visible(line).into_owned()).collect()
    }

    pub(super) fn is_clipped(&self) -> bool {
        let lines = self.text.lines().filter(|line| !line.trim().is_empty());
        self.has_more_calls || self.has_clipped_text || lines.count() > COMPARED_LINES_MAX
    }

    pub(super) fn has_long_details(&self) -> bool {
        self.calls.iter().any(|call| is_clipped(&call.detail))
    }

    fn call(&mut self, call: &EventCall<'_>, outcome: Option<CallOutcome>) {
        // Call 1 is the first in the list.
        let index = usize::try_from(call.number - 1).unwrap_or(usize::MAX);
        if index == self.calls.len() && index < COMPARED_CALLS_MAX {
            self.calls.push(OutlinedCall::default());
        }
        let Some(known) = self.calls.get_mut(index) else {
            self.has_more_calls = true;
            return;
        };
        if known.tool.is_empty() {
            call.tool.as_deref().unwrap_or_default().clone_into(&mut known.tool);
        }
        if let Some(detail) = &call.detail {
            known.detail = detail.to_string();
        }
        known.outcome = outcome.or(known.outcome);
    }

    fn event(&mut self, event: &EventKind<'_>) {
        self.said.observe(event);
        match event {
            EventKind::TextDelta { text, .. } => self.append(text),
            EventKind::Text(segment) => {
                if !segment.came_in_deltas {
                    self.append(segment.text.as_deref().unwrap_or_default());
                }
                self.end_text();
            }
            EventKind::Answer { text } if !self.said.has(text) => {
                self.end_text();
                self.append(text);
                self.end_text();
            }
            EventKind::TextAbandoned { .. } => self.text.truncate(self.text_start),
            EventKind::Turn { .. } => self.end_text(),
            EventKind::CallStarted(call) | EventKind::CallUpdated(call) => self.call(call, None),
            EventKind::CallCompleted(completed) => {
                self.call(&completed.call, Some(completed.outcome));
            }
            EventKind::CallCorrected { call, outcome, .. } => self.call(call, Some(*outcome)),
            _ => {}
        }
    }

    fn end_text(&mut self) {
        if self.text.len() > self.text_start {
            self.text.push('\n');
        }
        self.text_start = self.text.len();
    }

    fn append(&mut self, text: &str) {
        if self.has_clipped_text {
            return;
        }
        let room = TEXT_BYTES_MAX.saturating_sub(self.text.len());
        let (fits, others) = split_before(text, room);
        self.text.push_str(fits);
        self.has_clipped_text = !others.is_empty();
    }
}

impl OutlinedCall {
    fn line(&self) -> String {
        let tool = if self.tool.is_empty() { "(no name)" } else { &self.tool };
        let outcome = match self.outcome {
            Some(CallOutcome::Succeeded | CallOutcome::Unknown) => String::new(),
            Some(outcome) => format!(" ({})", outcome.name()),
            None => " (unfinished)".to_owned(),
        };
        let detail = if self.detail.is_empty() || self.detail == self.tool {
            String::new()
        } else {
            format!(": {}", visible(&self.detail))
        };
        format!("{}{outcome}{detail}", visible(tool))
    }
}

impl Observer for Outline {
    fn wants(&self) -> WantedEvents {
        WantedEvents::PLAIN
    }

    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            self.event(&event.kind);
        }
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.summary = Some(summary.clone());
    }
}
