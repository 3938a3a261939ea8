//! One line for each tool call: what was done, or only attempted; and its result.

use ndjson_check_core::{
    CallOutcome, CompletedCall, EventCall, EventKind, Wording, escape::clipped_chars,
};

use super::log::{LineStyle, LogLine};
use super::log_lines::LogLines;
use crate::limits::ACTION_DETAIL_CHARS_MAX;

impl LogLines {
    /// The line for an event that says how a call ended, or that it will not end.
    pub(super) fn action(&self, event: &EventKind<'_>) -> Option<LogLine> {
        Some(match event {
            EventKind::CallCompleted(completed) => self.ended(completed),
            EventKind::CallCorrected { call, outcome, instead_of } => {
                let is_end = *instead_of == CallOutcome::Unknown;
                match outcome {
                    CallOutcome::Succeeded => {
                        self.background_end("Succeeded", call, LineStyle::Plain)
                    }
                    CallOutcome::Failed if is_end => {
                        self.background_end("Failed", call, LineStyle::Bad)
                    }
                    _ => {
                        let line = self.outcome(call, *outcome, "");
                        let before = instead_of.name();
                        LogLine::new(
                            format!("{line} (reported as {before} before)"),
                            LineStyle::Bad,
                        )
                    }
                }
            }
            EventKind::CallUnfinished(call) => {
                let ActionText { attempt, detail, .. } = self.texts(call, false);
                LogLine::new(format!("Unfinished: {attempt}{detail}"), LineStyle::Bad)
            }
            _ => return None,
        })
    }

    fn background_end(&self, how: &str, call: &EventCall<'_>, style: LineStyle) -> LogLine {
        let ActionText { attempt, detail, .. } = self.texts(call, false);
        LogLine::new(format!("{how} in the background: {attempt}{detail}"), style)
    }

    fn ended(&self, completed: &CompletedCall<'_>) -> LogLine {
        let outcome = completed.outcome;
        let style = match outcome {
            CallOutcome::Succeeded | CallOutcome::Unknown => LineStyle::Plain,
            CallOutcome::Failed | CallOutcome::Rejected | CallOutcome::Denied => LineStyle::Bad,
        };
        let below = self.style.below(completed);
        let mut call = completed.call.clone();
        if call.detail.as_ref().is_none_or(|detail| detail.is_empty()) {
            call.detail = changed_files(completed).map(Into::into);
        }
        let text = self.outcome(&call, outcome, &self.suffix(completed));
        LogLine { below, ..LogLine::new(text, style) }
    }

    fn outcome(&self, call: &EventCall<'_>, outcome: CallOutcome, suffix: &str) -> String {
        let ActionText { done, failed, attempt, detail } = self.texts(call, !suffix.is_empty());
        match (outcome, failed) {
            (CallOutcome::Succeeded | CallOutcome::Unknown, _) => {
                format!("{done}{detail}{suffix}")
            }
            (CallOutcome::Failed, Some(failed)) => format!("{failed}{detail}{suffix}"),
            (CallOutcome::Failed, None) => format!("Failed: {attempt}{detail}{suffix}"),
            (CallOutcome::Rejected, _) => format!("Rejected: {attempt}{detail}"),
            (CallOutcome::Denied, _) => format!("Denied: {attempt}{detail}"),
        }
    }

    /// The profile's texts for a call; for a tool it does not know, the name; without one, what is
    /// said of the call.
    fn texts(&self, call: &EventCall<'_>, has_suffix: bool) -> ActionText {
        let tool = call.tool.as_deref().unwrap_or_default();
        let Some(Wording { done, failed, attempt, may_have_numbers, .. }) = self.wordings.get(call)
        else {
            let detail = match call.detail.as_deref() {
                _ if !tool.is_empty() => format!(" {}", self.short(tool)),
                Some(said) if !said.is_empty() => format!(": {}", self.short(said)),
                _ => " without a name".to_owned(),
            };
            return ActionText {
                done: "Called tool".to_owned(),
                failed: None,
                attempt: "call tool".to_owned(),
                detail,
            };
        };
        let attempt =
            attempt.map_or_else(|| format!("call tool {}", self.style.line(tool)), str::to_owned);
        let detail = call.detail.as_deref().unwrap_or_default();
        ActionText {
            done: done.map_or_else(|| attempt.clone(), str::to_owned),
            // A number in brackets shows what became of it; without one, the text must.
            failed: failed.filter(|_| has_suffix || !may_have_numbers).map(str::to_owned),
            attempt,
            detail: if detail.is_empty() {
                String::new()
            } else {
                format!(" {}", self.short(detail))
            },
        }
    }

    /// Numbers from the result, in brackets, with a space before them; empty without any.
    fn suffix(&self, completed: &CompletedCall<'_>) -> String {
        let numbers = completed.numbers.iter();
        let numbers: Vec<String> = numbers.map(|text| self.short(text)).collect();
        if numbers.is_empty() { String::new() } else { format!(" ({})", numbers.join(", ")) }
    }

    /// Text of the stream on one line, and not too much of it.
    fn short(&self, text: &str) -> String {
        clipped_chars(&self.style.line(text), ACTION_DETAIL_CHARS_MAX).into_owned()
    }
}

/// The files that a call changed, for one whose arguments name none.
fn changed_files(completed: &CompletedCall<'_>) -> Option<String> {
    let paths: Vec<&str> = completed.changes.iter().map(|change| &*change.path).collect();
    match paths[..] {
        [] => None,
        [only] => Some(only.to_owned()),
        [first, second] => Some(format!("{first}, {second}")),
        [first, second, ..] => Some(format!("{first}, {second} and {} more", paths.len() - 2)),
    }
}

struct ActionText {
    done: String,
    failed: Option<String>,
    attempt: String,
    /// With a space before it, if there is one.
    detail: String,
}
