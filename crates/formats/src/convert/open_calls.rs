//! Tool calls that are written when they end, with what their start said.

use std::collections::BTreeMap;

use ndjson_check_core::{CallKind, EventCall, escape::clipped};

use super::clock::ClockTime;
use crate::limits::KEPT_ARGUMENTS_BYTES_MAX;

/// What is kept of the detail of a call that has ended, in bytes.
const DETAIL_BYTES_MAX: usize = 1_024;

/// When the open calls started, by their number, and their arguments as JSON. Of the arguments a
/// limited size is kept.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    open: BTreeMap<u64, (ClockTime, Option<String>)>,
    argument_bytes: usize,
}

/// A call that has ended, or will not end any more.
#[derive(Debug)]
pub(super) struct KeptCall {
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) tool: Option<String>,
    pub(super) kind: Option<&'static str>,
    pub(super) detail: Option<String>,
    /// As JSON; none if they are unknown, or too many were kept.
    pub(super) arguments: Option<String>,
    pub(super) start: ClockTime,
}

impl OpenCalls {
    /// The call starts, or its start comes again.
    pub(super) fn start(&mut self, call: &EventCall<'_>, now: ClockTime) {
        let arguments = call.arguments.as_ref().map(ToString::to_string);
        let room = KEPT_ARGUMENTS_BYTES_MAX - self.argument_bytes;
        let (_, kept) = self.open.entry(call.number).or_insert((now, None));
        if let Some(arguments) = arguments.filter(|arguments| arguments.len() <= room) {
            self.argument_bytes += arguments.len();
            self.argument_bytes -= kept.replace(arguments).map_or(0, |before| before.len());
        }
    }

    /// The call ends, or will not end any more. If its start has the same time, it started as long
    /// ago as the agent says.
    pub(super) fn end(
        &mut self,
        call: &EventCall<'_>,
        now: ClockTime,
        duration_ms: Option<u64>,
    ) -> KeptCall {
        let (mut start, arguments) = self.open.remove(&call.number).unwrap_or_default();
        self.argument_bytes -= arguments.as_ref().map_or(0, String::len);
        if let Some(duration_ms) = duration_ms.filter(|_| start.is_same_time(now)) {
            start = now.before(duration_ms);
        }
        let detail = |text: &str| clipped(text, DETAIL_BYTES_MAX).into_owned();
        KeptCall {
            number: call.number,
            id: call.id.to_string(),
            tool: call.tool.as_deref().map(str::to_owned),
            kind: call.kind.map(CallKind::name),
            detail: call.detail.as_deref().map(detail),
            arguments,
            start,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl KeptCall {
    /// The tool's name, for formats that require one.
    pub(super) fn tool_name(&self) -> &str {
        self.tool.as_deref().unwrap_or(UNKNOWN_TOOL)
    }
}

pub(super) const UNKNOWN_TOOL: &str = "unknown";
