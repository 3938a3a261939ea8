//! What is wrong with a stream, as its headline says it.

use ndjson_check_core::{
    AgentFormat, CallOutcome, Diagnostic, Note, Rule, StreamSummary, ToolCall, counted,
    escape::clipped,
};

use super::FirstFindings;
use super::call_names::named;
use super::headline::{
    ALL_REFUSED, BUT_REFUSED, BUT_SEVERAL_REFUSED, CALL_OPEN, CALL_REFUSED, CALLS_OPEN,
    CALLS_REFUSED, CUT_SHORT, NO_STREAM, Sentence, after_colon, is_foreign, one_line,
};
use super::plain_words::in_plain_words;

const SILENT: &str = "succeeded as far as the stream shows";
const NOT_AS_EXPECTED: &str = "not as expected";
const CALLS_NAMED_MAX: usize = 4;
const CALL_BYTES_MAX: usize = 60;

/// Why a person should look at a run that succeeded, the worst first.
const BUT: [(Rule, &str); 5] = [
    (Rule::AllCallsFailed, "succeeded, but every tool call failed"),
    (Rule::DeniedCall, BUT_SEVERAL_REFUSED),
    (Rule::BackgroundWorkLost, "succeeded, but background work may be lost"),
    (Rule::EmptyAnswer, "succeeded, but the answer is empty"),
    (Rule::ToolServerUnavailable, "succeeded, but some of its tools were missing"),
];

/// How an answer is empty, by the end of the message: why the stream does not pass, or why a person
/// should look at it.
const EMPTY: [(&str, &str, &str); 3] = [
    (
        "no text follows its last call",
        "no text follows the last call",
        "succeeded, but no text follows its last call",
    ),
    (
        "the text before it is not",
        "its final text is empty",
        "succeeded, but its final text is empty",
    ),
    ("", "the answer is empty", "succeeded, but the answer is empty"),
];

/// The run succeeded, and this is why the stream does not pass.
pub(super) fn defect(summary: &StreamSummary, worst: &Diagnostic) -> Sentence {
    let message = || after_colon(&named(worst, &summary.tool_calls));
    match worst.rule {
        Rule::AllCallsRefused => (ALL_REFUSED, refused(summary).1),
        Rule::AllCallsFailed if refusals(summary) > 0 => {
            ("no tool call succeeded", failures_and_refusals(summary))
        }
        Rule::AllCallsFailed => ("every tool call failed", failures(summary)),
        Rule::DeniedCall => refused(summary),
        Rule::RejectedWithoutStart if refusals(summary) > 0 => refused(summary),
        Rule::ExpectationFailed => (NOT_AS_EXPECTED, broken(worst)),
        Rule::SuccessAfterFatalError | Rule::ExitStatusContradictsResult => {
            ("contradicts itself", message())
        }
        Rule::UnfinishedCall => {
            let open = calls(summary, |call| call.outcome.is_none());
            let counts = &summary.call_counts;
            match counts.unfinished {
                0 | 1 => (CALL_OPEN, after_colon(&open)),
                count => (CALLS_OPEN, format!(" ({count} of {}: {open})", counts.total)),
            }
        }
        Rule::BackgroundWorkLost if worst.message.contains(" does not show ") => {
            ("background work may be lost", message())
        }
        Rule::BackgroundWorkLost => ("background work was lost", message()),
        Rule::EmptyAnswer => (empty_answer(worst).0, String::new()),
        Rule::ToolServerUnavailable => ("some of its tools were missing", message()),
        Rule::RepeatedCall => ("repeats itself", message()),
        Rule::ExpectationUnobservable | Rule::LimitUnknown => ("cannot be judged", message()),
        Rule::PipeHeldOpen => ("left a process behind", String::new()),
        Rule::EmptyStream => ("the stream has no event", String::new()),
        Rule::MissingTerminalEvent => (CUT_SHORT, message()),
        Rule::TruncatedLine => (
            "the last line is cut",
            worst.line.map_or(String::new(), |line| format!(": line {line}")),
        ),
        Rule::UndocumentedEvent => ("not documented", unknown(worst)),
        Rule::UnknownEvent | Rule::UnknownTool | Rule::UnknownValue => {
            ("unknown to the profile", unknown(worst))
        }
        _ => ("the stream is broken", in_line(worst, summary)),
    }
}

/// What a message says is not known.
pub(super) fn unknown_part(message: &str) -> Option<&str> {
    let unknown = message.strip_prefix("the profile does not know ");
    unknown.or_else(|| message.strip_suffix(" is not documented"))
}

fn unknown(found: &Diagnostic) -> String {
    let what = unknown_part(&found.message).unwrap_or(&found.message);
    let line = found.line.map_or(String::new(), |line| format!(" in line {line}"));
    after_colon(&format!("{what}{line}"))
}

pub(super) fn success(summary: &StreamSummary, found: &FirstFindings) -> Sentence {
    let refusals = refusals(summary);
    if found.of(Rule::AllCallsRefused).is_some() {
        return (ALL_REFUSED, refused(summary).1);
    }
    // A baseline accepts findings; it does not change what happened.
    let is_accepted = summary.known > 0;
    let shows = [Rule::DeniedCall, Rule::RejectedWithoutStart];
    let is_shown = is_accepted || shows.into_iter().any(|rule| found.of(rule).is_some());
    let none_succeeded = refusals > 0 && found.of(Rule::AllCallsFailed).is_some();
    let is_so = |rule| match rule {
        Rule::DeniedCall => refusals > 0 && is_shown && !none_succeeded,
        _ => found.of(rule).is_some(),
    };
    let is_silent = summary.notes.contains(&Note::OutcomeUnknown);
    let said = |(rule, words)| match found.of(rule) {
        Some(found) if rule == Rule::EmptyAnswer => (rule, empty_answer(found).1),
        _ => (rule, words),
    };
    let mut but = BUT.into_iter().filter(|(rule, _)| is_so(*rule)).map(said);
    let mut rest = String::new();
    let reason = match but.next() {
        None if is_silent => return (SILENT, rest),
        None => "succeeded",
        Some((Rule::AllCallsFailed, _)) if none_succeeded => {
            rest += &failures_and_refusals(summary);
            "succeeded, but no tool call succeeded"
        }
        Some((Rule::AllCallsFailed, reason)) => {
            rest += &failures(summary);
            reason
        }
        Some((Rule::DeniedCall, _)) => {
            rest += &refused(summary).1;
            if refusals == 1 { BUT_REFUSED } else { BUT_SEVERAL_REFUSED }
        }
        Some((_, reason)) => reason,
    };
    for (_, other) in but {
        rest += &other.replacen("succeeded, but", ", and", 1);
    }
    if is_silent {
        rest += ", as far as the stream shows";
    }
    (reason, rest)
}

fn empty_answer(empty: &Diagnostic) -> (&'static str, &'static str) {
    let known = EMPTY.into_iter().find(|(end, ..)| empty.message.ends_with(end));
    known.map_or(("", ""), |(_, error, success)| (error, success))
}

/// What else is an error, if the headline is about this one.
pub(super) fn and_more(
    summary: &StreamSummary,
    said: &Diagnostic,
    found: &FirstFindings,
) -> String {
    // Of some rules the sentence has all findings.
    let of_all = match said.rule {
        Rule::AllCallsRefused => &[Rule::AllCallsRefused, Rule::DeniedCall][..],
        Rule::AllCallsFailed => {
            &[Rule::AllCallsFailed, Rule::DeniedCall, Rule::RejectedWithoutStart]
        }
        Rule::DeniedCall | Rule::RejectedWithoutStart => {
            &[Rule::DeniedCall, Rule::RejectedWithoutStart]
        }
        Rule::UnfinishedCall => &[Rule::UnfinishedCall],
        _ => &[],
    };
    let errors = of_all.iter().filter(|rule| found.error(**rule).is_some());
    let all: u64 = errors.filter_map(|rule| summary.rule_counts.get(rule)).sum();
    match summary.errors.saturating_sub(all.max(1)) {
        0 => String::new(),
        more => format!(", and {}", counted(more, "more error")),
    }
}

fn refusals(summary: &StreamSummary) -> u64 {
    summary.call_counts.rejected + summary.call_counts.denied
}

pub(super) fn refused(summary: &StreamSummary) -> Sentence {
    let refused = refusals(summary);
    let names = calls(summary, |call| call.outcome.is_some_and(CallOutcome::is_refusal));
    let colon = if names.is_empty() { "" } else { ": " };
    // A single object names refused calls only: how many calls there were is not known.
    let is_object = summary.format == AgentFormat::Json;
    let of = if is_object { String::new() } else { format!(" of {}", summary.call_counts.total) };
    let reason = if refused == 1 { CALL_REFUSED } else { CALLS_REFUSED };
    (reason, format!(" ({refused}{of}{colon}{names})"))
}

fn failures_and_refusals(summary: &StreamSummary) -> String {
    let is_meant = |it: CallOutcome| it == CallOutcome::Failed || it.is_refusal();
    let names = calls(summary, |call| call.outcome.is_some_and(is_meant));
    let (failed, refused) = (summary.call_counts.failed, refusals(summary));
    format!(" ({failed} failed, {refused} refused: {names})")
}

fn failures(summary: &StreamSummary) -> String {
    let counts = &summary.call_counts;
    let names = calls(summary, |call| call.outcome == Some(CallOutcome::Failed));
    let colon = if names.is_empty() { "" } else { ": " };
    format!(" ({} of {}{colon}{names})", counts.failed, counts.total)
}

/// What a run did that did not succeed, and must not.
pub(super) fn forbidden(reason: &str, found: &FirstFindings) -> String {
    let is_of_run = ![NOT_AS_EXPECTED, NO_STREAM].contains(&reason) && !is_foreign(reason);
    let found = found.error(Rule::ExpectationFailed).filter(|_| is_of_run);
    found.map_or_else(String::new, |it| format!("; {NOT_AS_EXPECTED}{}", broken(it)))
}

/// An expectation that is not met, with what the call did that it is about.
fn broken(found: &Diagnostic) -> String {
    let detail = found.detail.as_deref().map(one_line).unwrap_or_default();
    let detail = after_colon(&clipped(&detail, CALL_BYTES_MAX));
    after_colon(&found.message) + &detail
}

/// The first of these calls by what they do, those that do the same once.
pub(super) fn calls(summary: &StreamSummary, is_meant: impl Fn(&ToolCall) -> bool) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut more = 0;
    for call in summary.tool_calls.iter().filter(|call| is_meant(call)) {
        let tool = call.tool.as_deref().unwrap_or(&call.id);
        let name = if call.detail.is_empty() { tool } else { &call.detail };
        let name = clipped(&one_line(name), CALL_BYTES_MAX).into_owned();
        match () {
            () if names.contains(&name) => {}
            () if names.len() < CALLS_NAMED_MAX => names.push(name),
            () => more += 1,
        }
    }
    // The summary does not have all calls of a long run.
    let has_all = summary.call_counts.total <= summary.tool_calls.len() as u64;
    match more {
        0 if has_all => {}
        _ if has_all => names.push(format!("{more} more")),
        _ => names.push("more".to_owned()),
    }
    names.join(", ")
}

pub(super) fn in_line(found: &Diagnostic, summary: &StreamSummary) -> String {
    let line = found.line.map_or(String::new(), |line| format!("line {line}: "));
    let message = in_plain_words(found, named(found, &summary.tool_calls));
    after_colon(&format!("{line}{message}"))
}
