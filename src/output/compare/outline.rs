//! What a run did, in short: its calls in their order, and its text.

use crate::check::{CallChange, CallUpdate, CheckedEvent, Observer, StreamSummary, TextUpdate};
use crate::limits::{CALL_ROWS_MAX, COMPARED_LINES_MAX, TEXT_BYTES_MAX};
use crate::profile::CallOutcome;
use crate::rules::escape::{split_before, visible};

/// Collects what one run did.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    calls: Vec<OutlinedCall>,
    /// The texts of the assistant, one after the other, each with a line feed behind it.
    text: String,
    /// Where the open text begins.
    text_start: usize,
    is_clipped: bool,
    pub(super) summary: Option<StreamSummary>,
}

#[derive(Debug, Default)]
struct OutlinedCall {
    tool: String,
    detail: String,
    outcome: Option<CallOutcome>,
}

impl Outline {
    /// The calls in the order of their starts, each as one line of text.
    pub(super) fn calls(&self) -> Vec<String> {
        self.calls.iter().map(OutlinedCall::line).collect()
    }

    /// The lines of the text.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.text.lines().filter(|line| !line.trim().is_empty());
        lines.take(COMPARED_LINES_MAX).map(|line| visible(line).into_owned()).collect()
    }

    /// Whether there is more than what is compared.
    pub(super) fn is_clipped(&self) -> bool {
        let lines = self.text.lines().filter(|line| !line.trim().is_empty());
        self.is_clipped || lines.count() > COMPARED_LINES_MAX
    }

    fn call(&mut self, update: &CallUpdate<'_>) {
        if update.is_new && self.calls.len() < CALL_ROWS_MAX {
            self.calls.push(OutlinedCall::default());
        }
        // Call 1 is the first in the list.
        let index = usize::try_from(update.number - 1).unwrap_or(usize::MAX);
        let Some(call) = self.calls.get_mut(index) else {
            self.is_clipped = true;
            return;
        };
        if call.tool.is_empty() {
            call.tool = update.action.tool.to_string();
        }
        if let Some(detail) = update.detail() {
            detail.clone_into(&mut call.detail);
        }
        match update.change {
            CallChange::Started | CallChange::StartedAgain => {}
            CallChange::Completed(outcome) | CallChange::Corrected { outcome, .. } => {
                call.outcome = Some(outcome);
            }
        }
    }

    fn text(&mut self, update: &TextUpdate<'_>) {
        match update {
            TextUpdate::Chunk(text) => self.append(text),
            TextUpdate::Replaced(text) => {
                self.text.truncate(self.text_start);
                self.append(text);
            }
            TextUpdate::Abandoned => self.text.truncate(self.text_start),
            TextUpdate::SegmentEnd | TextUpdate::NewTurn => {
                if self.text.len() > self.text_start {
                    self.text.push('\n');
                }
                self.text_start = self.text.len();
            }
            TextUpdate::Answer(_) => {}
        }
    }

    fn append(&mut self, text: &str) {
        if self.is_clipped {
            return;
        }
        let room = TEXT_BYTES_MAX.saturating_sub(self.text.len());
        let (fits, others) = split_before(text, room);
        self.text.push_str(fits);
        self.is_clipped = !others.is_empty();
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
    fn event(&mut self, event: &CheckedEvent<'_>) {
        if !event.is_in_run() {
            return;
        }
        event.text().iter().for_each(|update| self.text(update));
        event.calls().iter().for_each(|update| self.call(update));
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.summary = Some(summary.clone());
    }
}
