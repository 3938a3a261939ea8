//! The diagnostic for an expectation.

use super::truth::{Tally, Truth, lines};
use crate::check::end_of_run::EndCause;
use crate::limits::CALLS_OPEN_MAX;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// What matters for every expectation at the end of the stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// A run that failed need not have done anything.
    pub(crate) has_succeeded: bool,
    /// Whether the agent's streams show calls in this format.
    pub(crate) shows_calls: bool,
    /// Whether they show the text of the answer.
    pub(crate) shows_text: bool,
    pub(crate) has_lost_line: bool,
    /// Whether more calls were open at once than are followed. No agent has so many, but what an
    /// agent writes could hide a forbidden call behind them: what is uncertain then fails.
    pub(crate) has_overflowed: bool,
    pub(crate) cause: EndCause,
}

impl Context {
    /// How many calls may be there of which nothing is known.
    pub(super) fn hidden_calls(self) -> u64 {
        if self.has_overflowed || self.why_hidden().is_some() { u64::MAX } else { 0 }
    }

    fn why_hidden(self) -> Option<&'static str> {
        match self {
            Self { shows_calls: false, .. } => Some("this stream shows no tool calls"),
            Self { has_lost_line: true, .. } => Some("a line is not a usable event"),
            Self { .. } => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Answered {
    pub(super) truth: Truth,
    /// What is so, if the answer is no.
    pub(super) fact: String,
    /// The question, after "whether", if it is not about the whole expectation.
    pub(super) question: Option<String>,
    pub(super) tally: Tally,
    /// Why the stream does not show it, if more than the lines can be said.
    pub(super) doubt: Option<String>,
}

/// The diagnostic for an expectation at this place, by the worst answer.
pub(super) fn diagnostic(
    (place, statement): (&str, &str),
    answers: Vec<Answered>,
    context: Context,
) -> Option<Diagnostic> {
    let answer = answers.into_iter().min_by_key(|answer| answer.truth)?;
    let Answered { truth, fact, question, tally, doubt } = answer;
    let (rule, message, note) = match truth {
        Truth::Yes => return None,
        Truth::No => {
            let note = lines(&tally.lines, tally.sure);
            let was_stopped = context.cause == EndCause::WrongStart;
            let stopped = was_stopped.then(|| "the run was ended".to_owned());
            let notes: Vec<String> = stopped.into_iter().chain(note).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            (Rule::ExpectationFailed, fact, note)
        }
        Truth::Unknown if context.has_overflowed => {
            let question = question.as_deref().unwrap_or(statement);
            let message = format!("it is uncertain whether {question}");
            let note = format!("more than {CALLS_OPEN_MAX} tool calls were open at once");
            (Rule::ExpectationFailed, message, Some(note))
        }
        Truth::Unknown => {
            let question = question.as_deref().unwrap_or(statement);
            let message = format!("the stream does not show whether {question}");
            let note = context.why_hidden().map(str::to_owned).or(doubt);
            let note = note
                .or_else(|| lines(&tally.unsure_lines, tally.unsure).map(|seen| unclear(&seen)));
            (Rule::ExpectationUnobservable, message, note)
        }
    };
    let detail = Some(tally.detail.into())
        .filter(|it: &String| rule == Rule::ExpectationFailed && !it.is_empty());
    let diagnostic = Diagnostic::new(rule, format!("{message} ({place})")).of_demand(place);
    Some(Diagnostic { note, detail, ..diagnostic })
}

fn unclear(seen: &str) -> String {
    format!("{seen}: the stream does not show enough to decide")
}
