//! What is open in a run.

use std::borrow::Cow;

use crate::check::event::{EventCall, TextSegment};
use crate::check::updates::CallUpdate;
use crate::facts::whole_number;
use crate::limits::{ACTION_DETAIL_BYTES_MAX, TEXT_BYTES_MAX};
use crate::rules::escape::clipped;

/// A segment that came in deltas.
#[derive(Debug, Default)]
pub(super) struct OpenSegment {
    /// Its start, up to [`TEXT_BYTES_MAX`].
    text: String,
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::check) struct CallStart {
    pub(in crate::check) line: Option<u64>,
    /// The agent's time in milliseconds.
    pub(in crate::check) time: Option<f64>,
}

#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) start: CallStart,
    /// What is said of it if it never completes. Of a very long detail it has the start.
    pub(super) call: EventCall<'static>,
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
            beginning: text.into(),
            came_in_deltas: true,
        }
    }
}

impl PendingCall {
    pub(super) fn new(update: &CallUpdate<'_>, parent: Option<u64>, start: CallStart) -> Self {
        let said = EventCall::new(update);
        let detail = said.detail.as_deref().map(|it| clipped(it, ACTION_DETAIL_BYTES_MAX));
        let call = EventCall {
            parent,
            started_line: start.line,
            started_ms: start.time.and_then(whole_number),
            detail: detail.map(|it| it.into_owned().into()),
            files: Cow::Borrowed(&[]),
            shows_detail: false,
            shows_files: false,
            ..said
        };
        Self { start, call: call.into_owned() }
    }
}
