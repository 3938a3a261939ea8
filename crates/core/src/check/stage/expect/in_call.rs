//! Whether a call has a text.

use serde_json::Value;

use super::truth::Truth;
use crate::check::EventCall;
use crate::profile::{CallKind, ChangeKind, FileChange};

/// Whether what is looked for is in one of these arguments, or in the words of a list of them.
fn is_in_any(is_in: &dyn Fn(&str) -> bool, arguments: &Value) -> bool {
    match arguments {
        Value::String(text) => is_in(text),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            is_in(&words.join(" ")) || items.iter().any(|item| is_in_any(is_in, item))
        }
        Value::Object(members) => members.values().any(|member| is_in_any(is_in, member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether arguments show what is looked for outside of the detail of a command. Of an object only
/// lists count: they have further words or commands, and other texts only describe the command.
fn is_in_rest(is_in: &dyn Fn(&str) -> bool, arguments: &Value) -> bool {
    match arguments {
        Value::Object(members) => {
            let mut lists = members.values().filter(|member| member.is_array());
            lists.any(|list| is_in_any(is_in, list))
        }
        // An object in a string that cannot be read: another reader may find more in it.
        Value::String(text) => text.trim_start().starts_with('{'),
        _ => is_in_any(is_in, arguments),
    }
}

/// Whether the detail of a call is what is looked for. It is unclear for a call that has more to
/// search than its detail: a command with further words, or a tool that the profile does not know.
pub(super) fn is_in_call(
    is_in: &dyn Fn(&str) -> bool,
    call: &EventCall<'_>,
    arguments: Option<&Value>,
) -> Truth {
    if is_in(call.detail.as_deref().unwrap_or_default()) {
        return Truth::Yes;
    }
    let is_unclear = match call.kind {
        Some(CallKind::Command) => arguments.is_some_and(|all| is_in_rest(is_in, all)),
        Some(_) => false,
        None => arguments.is_none_or(|all| is_in_any(is_in, all)),
    };
    if is_unclear { Truth::Unknown } else { Truth::No }
}

/// Whether a file of a patch that is written, or deleted, is what is looked for; nothing, if the
/// call is not a patch.
pub(super) fn is_in_files(
    is_in: &dyn Fn(&str) -> bool,
    kind: Option<CallKind>,
    call: &EventCall<'_>,
    changes: &[FileChange],
) -> Option<Truth> {
    let deletes = match kind? {
        CallKind::Delete => true,
        CallKind::Write => false,
        _ => return None,
    };
    let is_wanted = |it: &&FileChange| (it.kind == Some(ChangeKind::Deleted)) == deletes;
    let is_about = |it: &FileChange| is_in(&it.path) || it.from.as_deref().is_some_and(is_in);
    match changes.len() {
        // The only file is the detail.
        0 | 1 if call.shows_detail && call.files.len() < 2 => None,
        0 if !call.shows_files => None,
        0 => {
            let is_sure = call.kind == kind && (deletes || !call.deletes);
            Some(match call.files.iter().any(|it| is_in(it)) {
                true if is_sure => Truth::Yes,
                // Which of its files the patch deletes is not known.
                true if call.deletes => Truth::Unknown,
                true | false => Truth::No,
            })
        }
        _ => Some(changes.iter().filter(is_wanted).any(is_about).into()),
    }
}
