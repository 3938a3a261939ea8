//! What is open in a run.

use std::borrow::Cow;
use std::sync::Arc;

use crate::check::event::{EventCall, TextSegment};
use crate::check::stage::actions::Action;
use crate::check::updates::CallUpdate;
use crate::facts::whole_number;
use crate::limits::{ACTION_DETAIL_BYTES_MAX, TEXT_BYTES_MAX};
use crate::profile::CallKind;
use crate::rules::escape::clipped;

/// A segment that came in deltas.
#[derive(Debug, Default)]
pub(super) struct OpenSegment {
    /// Its start, up to [`TEXT_BYTES_MAX`].
    text: String,
    bytes: u64,
}

/// Where a call started.
#[derive(Debug, Clone, Copy)]
pub(in crate::check) struct CallStart {
    pub(in crate::check) line: Option<u64>,
    /// The agent's time in milliseconds.
    pub(in crate::check) time: Option<f64>,
}

/// A call that has not completed, and what is said of it if it never does.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) id: String,
    pub(super) parent: Option<u64>,
    pub(super) start: CallStart,
    tool: Arc<str>,
    kind: Option<CallKind>,
    rule: Option<usize>,
    /// The start of a very long one.
    detail: Arc<str>,
}

impl OpenSegment {
    pub(super) fn push(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        let length = self.text.len() + text.len();
        if length as u64 == self.bytes && length <= TEXT_BYTES_MAX {
            self.text.push_str(text);
        }
    }

    pub(super) fn into_segment(self, segment: u64) -> TextSegment<'static> {
        let Self { text, bytes } = self;
        let is_whole = text.len() as u64 == bytes;
        TextSegment {
            segment,
            text: is_whole.then(|| text.clone().into()),
            bytes,
            start: text.into(),
            is_repeated: true,
        }
    }
}

impl PendingCall {
    pub(super) fn new(update: &CallUpdate<'_>, parent: Option<u64>, start: CallStart) -> Self {
        let Action { tool, kind, is_kind_known, rule, detail, .. } = &update.action;
        let detail = match clipped(detail, ACTION_DETAIL_BYTES_MAX) {
            Cow::Borrowed(_) => Arc::clone(detail),
            Cow::Owned(start) => start.into(),
        };
        Self {
            id: update.id().to_owned(),
            parent,
            start,
            tool: Arc::clone(tool),
            kind: is_kind_known.then_some(*kind),
            rule: *rule,
            detail,
        }
    }

    pub(super) fn into_event(self, number: u64) -> EventCall<'static> {
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        EventCall {
            number,
            tool: known(&self.tool).map(Into::into),
            detail: known(&self.detail).map(Into::into),
            id: self.id.into(),
            parent: self.parent,
            started_line: self.start.line,
            started_ms: self.start.time.and_then(whole_number),
            kind: self.kind,
            files: Cow::Borrowed(&[]),
            rule: self.rule,
            shows_detail: false,
            shows_files: false,
            arguments: None,
        }
    }
}
