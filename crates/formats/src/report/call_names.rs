//! Findings about a call say what the call does, not its id; those about a line show its text.

use ndjson_check_core::{
    Diagnostic, Rule, ToolCall,
    escape::{clipped, shown, visible},
};

/// Longest name of a call in a message, in bytes.
const CALL_BYTES_MAX: usize = 100;

/// The message of a finding with the name of its call, or the text of its line.
pub(super) fn named(found: &Diagnostic, calls: &[ToolCall]) -> String {
    let message = called(found, calls);
    line_text(found).map_or_else(|| message.clone(), |text| format!("{message}: {text}"))
}

/// The text of the line that a finding is about.
pub(super) fn line_text(found: &Diagnostic) -> Option<String> {
    // Demands are about calls.
    found.detail.as_deref().filter(|_| found.demand.is_none()).map(quoted)
}

fn quoted(detail: &str) -> String {
    format!("`{}`", clipped(&visible(detail), CALL_BYTES_MAX))
}

/// The message of a finding, in which the call has the name of what it does, such as its command or
/// its path.
pub(super) fn called(found: &Diagnostic, calls: &[ToolCall]) -> String {
    let Some((name, id)) = call_name(found, calls).zip(found.call_id.as_ref()) else {
        return found.message.clone();
    };
    let name = quoted(name);
    let message = found.message.replacen(&shown(id), &name, 1);
    // A call without a rule is shown as its tool.
    message.replacen(&format!("the {name} call {name}"), &format!("the call {name}"), 1)
}

/// What the call does that a finding is about. That of an id that several calls share is not known,
/// unless the lines show which one is meant.
pub(super) fn call_name<'c>(found: &Diagnostic, calls: &'c [ToolCall]) -> Option<&'c str> {
    let id = found.call_id.as_ref()?;
    let same = || calls.iter().filter(|call| call.id == *id);
    let in_line = |line: Option<u64>| {
        line.and_then(|_| {
            same().find(|call| [call.started_line, call.completed_line].contains(&line))
        })
    };
    let mut all = same();
    let only = all.next().filter(|_| all.next().is_none());
    // The other line of a reused id is that of another call.
    let elsewhere = in_line(found.related_line).or(only);
    let elsewhere = elsewhere.filter(|_| found.rule != Rule::ReusedCallId);
    let call = in_line(found.line).or(elsewhere)?;
    Some(&*call.detail).filter(|detail| !detail.is_empty())
}

/// The note of a finding, with what the call did that it is about.
pub(super) fn noted(found: &Diagnostic) -> Option<String> {
    let detail = found.detail.as_deref().filter(|_| found.demand.is_some());
    let Some(detail) = detail.map(quoted) else { return found.note.clone() };
    Some(match found.note.as_deref() {
        Some(note) if note.starts_with("see lines ") => format!("{note}; the first is {detail}"),
        Some(note) => format!("{note}: {detail}"),
        None => detail,
    })
}
