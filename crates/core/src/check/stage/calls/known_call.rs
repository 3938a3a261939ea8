//! What is remembered of a call.

use super::{KeptValue, ROW_DETAIL_BYTES_MAX, ToolCall};
use crate::check::stage::actions::OpenAction;
use crate::check::updates::CallStart;
use crate::facts::BoundedId;
use crate::profile::CallOutcome;
use crate::rules::escape::{clipped, shown};

#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) id: BoundedId,
    pub(super) number: u64,
    pub(super) start: CallStart,
    /// The number of the call inside which it happens.
    pub(super) parent: Option<u64>,
    pub(super) tool: Option<String>,
    /// Whether a key names the tool.
    pub(super) is_keyed: bool,
    pub(super) action: OpenAction,
    pub(super) must_match: Vec<Option<KeptValue>>,
    /// Further starts of the call; as many completions may follow.
    pub(super) repeats: u32,
    /// The hash of what a repeat has in common with it.
    pub(super) same: Option<u64>,
    /// Whether nothing but a request for permission came.
    pub(super) is_asked: bool,
    /// How it was refused, whatever its completion says.
    pub(super) refusal: Option<CallOutcome>,
}

impl OpenCall {
    /// Its tool or its id, and its detail if that says more, as messages show them.
    pub(super) fn shown(&self) -> (String, Option<String>) {
        shown_call(self.tool.as_deref().unwrap_or(self.id.as_str()), self.action.detail())
    }
}

impl ToolCall {
    /// The same.
    pub(super) fn shown(&self) -> (String, Option<String>) {
        shown_call(self.tool.as_deref().unwrap_or(&self.id), &self.detail)
    }
}

fn shown_call(tool: &str, detail: &str) -> (String, Option<String>) {
    // The detail of a call without a rule is its tool.
    let detail = Some(detail).filter(|it| !it.is_empty() && *it != tool);
    (shown(tool), detail.map(|it| shown(&clipped(it, ROW_DETAIL_BYTES_MAX))))
}

#[derive(Debug, Clone, Copy)]
pub(super) struct EndedCall {
    pub(super) line: u64,
    /// False while only its completion has come.
    pub(super) is_started: bool,
    /// Completions that may follow: they belong to starts which have been reported as duplicates.
    pub(super) repeats: u32,
    /// The hash of what a repeat of its start has in common with it.
    pub(super) same: Option<u64>,
    /// The number of the call inside which it happened.
    pub(super) parent: Option<u64>,
}

impl EndedCall {
    pub(super) fn of(open: &OpenCall, line: u64) -> Self {
        let OpenCall { repeats, same, parent, .. } = *open;
        Self { line, is_started: true, repeats, same, parent }
    }

    pub(super) fn unopened(line: u64, is_started: bool) -> Self {
        Self { line, is_started, repeats: 0, same: None, parent: None }
    }
}
