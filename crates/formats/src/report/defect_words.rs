//! What is wrong with a stream, as its headline says it.

use ndjson_check_core::{
    CallOutcome, Diagnostic, Note, Rule, StreamSummary, ToolCall, escape::clipped,
};

use super::FirstFindings;
use super::call_names::named;
use super::headline::{SEVERAL_RUNS, Sentence, after_colon, one_line};

const CALLS_NAMED_MAX: usize = 4;
const CALL_BYTES_MAX: usize = 60;

/// The run succeeded, and this is why the stream does not pass.
pub(super) fn defect(summary: &StreamSummary, worst: &Diagnostic) -> Sentence {
    let message = || after_colon(&named(worst, &summary.tool_calls));
    match worst.rule {
        Rule::AllCallsRefused => ("every tool call was refused", refused(summary)),
        Rule::DeniedCall => ("tool calls were refused", refused(summary)),
        Rule::ExpectationFailed => ("not as expected", message()),
        Rule::SuccessAfterFatalError | Rule::ExitStatusContradictsResult => {
            ("contradicts itself", message())
        }
        Rule::UnfinishedCall => {
            let open = calls(summary, |call| call.outcome.is_none());
            ("a tool call never ended", after_colon(&open))
        }
        Rule::BackgroundWorkLost => ("background work was lost", message()),
        Rule::EmptyAnswer => ("the answer is empty", String::new()),
        Rule::ToolServerUnavailable => ("ran without all of its tools", message()),
        Rule::RepeatedCall => ("repeats itself", message()),
        Rule::ExpectationUnobservable | Rule::LimitUnknown => ("cannot be judged", message()),
        Rule::PipeHeldOpen => ("left a process behind", String::new()),
        Rule::EmptyStream => ("the stream has no event", String::new()),
        Rule::MissingTerminalEvent => ("cut short", message()),
        Rule::EventAfterTerminal | Rule::SessionIdChanged | Rule::DuplicateSessionStart
            if worst.note.is_some() =>
        {
            (SEVERAL_RUNS, after_colon("`--sessions many` judges each on its own"))
        }
        Rule::UnknownEvent | Rule::UndocumentedEvent | Rule::UnknownTool | Rule::UnknownValue => {
            ("the profile does not know all of it", in_line(worst, summary))
        }
        _ => ("the stream is broken", in_line(worst, summary)),
    }
}

pub(super) fn success(summary: &StreamSummary, found: &FirstFindings) -> Sentence {
    if found.of(Rule::AllCallsRefused).is_some() {
        return ("every tool call was refused", refused(summary));
    }
    let was_refused = summary.call_counts.rejected + summary.call_counts.denied > 0;
    if was_refused && found.of(Rule::DeniedCall).is_some() {
        return ("succeeded, but tool calls were refused", refused(summary));
    }
    let but = [
        (Rule::BackgroundWorkLost, "succeeded, but background work was lost"),
        (Rule::EmptyAnswer, "succeeded, but the answer is empty"),
        (Rule::ToolServerUnavailable, "succeeded, but without all of its tools"),
    ];
    let is_silent = summary.notes.contains(&Note::OutcomeUnknown);
    let plain = if is_silent { "succeeded as far as the stream shows" } else { "succeeded" };
    let but = but.iter().find(|(rule, _)| found.of(*rule).is_some());
    (but.map_or(plain, |(_, reason)| *reason), String::new())
}

pub(super) fn refused(summary: &StreamSummary) -> String {
    let counts = &summary.call_counts;
    let refused = counts.rejected + counts.denied;
    let names = calls(summary, |call| call.outcome.is_some_and(CallOutcome::is_refusal));
    let colon = if names.is_empty() { "" } else { ": " };
    format!(" ({refused} of {}{colon}{names})", counts.total)
}

/// The first of these calls by what they do.
pub(super) fn calls(summary: &StreamSummary, is_meant: impl Fn(&ToolCall) -> bool) -> String {
    let meant: Vec<&ToolCall> = summary.tool_calls.iter().filter(|call| is_meant(call)).collect();
    let first = meant.iter().take(CALLS_NAMED_MAX).map(|call| {
        let tool = call.tool.as_deref().unwrap_or(&call.id);
        let name = if call.detail.is_empty() { tool } else { &call.detail };
        clipped(&one_line(name), CALL_BYTES_MAX).into_owned()
    });
    let mut names: Vec<String> = first.collect();
    if meant.len() > names.len() {
        names.push(format!("{} more", meant.len() - names.len()));
    }
    names.join(", ")
}

pub(super) fn in_line(found: &Diagnostic, summary: &StreamSummary) -> String {
    let line = found.line.map_or(String::new(), |line| format!("line {line}: "));
    let place = found.location.as_ref().filter(|location| !location.instance.is_empty());
    let place = place.map_or(String::new(), |location| format!("{}: ", location.instance));
    let message = named(found, &summary.tool_calls);
    after_colon(&format!("{line}{place}{message}"))
}
