//! The names of calls and tools in messages, and the message of a refused one.

use super::OpenCall;
use crate::facts::{BoundedId, Call};
use crate::limits::CALL_ID_BYTES_MAX;
use crate::profile::CallOutcome;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::{clipped, shown};

/// The name of a call's tool, in bounded memory.
pub(super) fn tool(call: &Call<'_>) -> Option<String> {
    call.tool.as_deref().map(|tool| clipped(tool, CALL_ID_BYTES_MAX).into_owned())
}

/// A call as messages name it; the start may name a tool that the completion does not.
pub(super) fn name(call: &Call<'_>, open: Option<&OpenCall>) -> String {
    let tool = call.tool.as_deref().or_else(|| open?.tool.as_deref());
    named(tool, &call.id)
}

/// By its tool, and by its id if that says more.
pub(super) fn named(tool: Option<&str>, id: &BoundedId) -> String {
    match tool {
        Some(tool) if tool != id.as_str() => {
            format!("the {} call {}", shown(tool), shown(id.as_str()))
        }
        Some(_) | None => format!("the call {}", shown(id.as_str())),
    }
}

/// `line` is that of the start.
pub(super) fn denied(name: &str, outcome: CallOutcome, line: Option<u64>) -> Diagnostic {
    let message = format!("{name} was {}", outcome.name());
    Diagnostic::new(Rule::DeniedCall, message).related(line)
}
