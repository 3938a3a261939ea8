//! What follows from what: the end of the producer, and a line that was lost.

use std::time::Duration;

use crate::rules::diagnostic::Diagnostic;
use crate::check::producer_exit::{End, Status, Stop};
use crate::limits::CALLS_NAMED_MAX;
use crate::stream::line::Line;
use crate::profile::StatusMeaning;
use crate::rules::Rule;

/// A timeout fired; `open` names the open calls.
pub(super) fn stalled(stop: &Stop, open: Option<String>) -> Diagnostic {
    let shown = |limit: &Duration| humantime::format_duration(*limit).to_string();
    let (message, ages) = match stop {
        Stop::Timeout { limit, open } => {
            let age = |(line, age): &(u64, Duration)| {
                format!("that of line {line} for {}", shown(&Duration::from_secs(age.as_secs())))
            };
            let ages: Vec<String> = open.iter().take(CALLS_NAMED_MAX).map(age).collect();
            (format!("the run was not over after {}", shown(limit)), ages)
        }
        Stop::Idle { limit } => (format!("no event came for {}", shown(limit)), Vec::new()),
        Stop::Lingered => ("the command lived on".to_owned(), Vec::new()),
    };
    let note: Vec<String> = open.into_iter().chain(ages).collect();
    let diagnostic = Diagnostic::new(Rule::Stalled, message);
    if note.is_empty() { diagnostic } else { diagnostic.note(note.join("; ")) }
}

/// What happened around a command's stream; `told` says that the stream tells of the failure.
pub(super) fn around(
    end: &End,
    judged: Option<StatusMeaning<'_>>,
    told: bool,
) -> impl Iterator<Item = Diagnostic> {
    let failed = matches!(judged.map(|it| it.status), Some(Status::Code(1..)));
    let silent = failed && !told && end.stderr.as_ref().is_some_and(Vec::is_empty);
    let silent = silent.then(|| {
        let message = "the command failed and wrote nothing to standard error";
        Diagnostic::new(Rule::SilentFailure, message)
    });
    let held = end.pipe_held.then(|| {
        let message = "a process that the command left behind keeps the stream open";
        Diagnostic::new(Rule::PipeHeldOpen, message)
    });
    silent.into_iter().chain(held)
}

/// Whether a line that is no event looks as if it was to be one: an object, or too long to tell.
pub(super) fn is_lost_event(line: &Line<'_>) -> bool {
    line.is_too_long() || line.bytes.trim_ascii_start().starts_with(b"{")
}

/// Whether something that seems to be missing may have stood in a line that could not be read. It
/// has been reported then, once, and as an error.
pub(super) fn may_follow_from(lost: Option<u64>, last_lost: Option<u64>, rule: Rule) -> bool {
    let rests_on_all = [
        Rule::MissingSessionStart,
        Rule::CompletionWithoutStart,
        Rule::RejectedWithoutStart,
        Rule::UnfinishedCall,
        Rule::ReplayMismatch,
        Rule::UnclosedDeltas,
        Rule::TextMismatch,
        Rule::EmptyAnswer,
        Rule::RefusedCalls,
    ];
    lost.is_some() && rests_on_all.contains(&rule)
        || last_lost.is_some() && rule == Rule::MissingTerminalEvent
}
