//! Findings about a call say what the call does, not its id.

use ndjson_check_core::{
    Diagnostic, ToolCall,
    escape::{clipped, shown, visible},
};

/// Longest name of a call in a message, in bytes.
const CALL_BYTES_MAX: usize = 100;

/// The message of a finding, in which the call has the name of what it does, such as its command or
/// its path. An id that several calls share stays, unless the lines show which one is meant.
pub(super) fn named(found: &Diagnostic, calls: &[ToolCall]) -> String {
    let lines = [found.line, found.related_line];
    let is_here = |call: &&ToolCall| {
        let halves = [call.started_line, call.completed_line];
        halves.iter().any(|it| it.is_some() && lines.contains(it))
    };
    let has_id = |call: &&ToolCall| found.message.contains(&shown(&call.id));
    let mut same = calls.iter().filter(has_id);
    let only = same.next().filter(|_| same.next().is_none());
    let here = calls.iter().filter(is_here).find(has_id);
    match here.or(only).filter(|call| !call.detail.is_empty()) {
        Some(call) => {
            let name = visible(&call.detail);
            let name = format!("`{}`", clipped(&name, CALL_BYTES_MAX));
            found.message.replacen(&shown(&call.id), &name, 1)
        }
        None => found.message.clone(),
    }
}
