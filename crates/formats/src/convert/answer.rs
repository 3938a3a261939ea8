//! `answer`: only the answer of a run that succeeded (contract T2): its last message without blank
//! lines around it, or a value where there is no text.

use std::borrow::Cow;

use ndjson_check_core::{Answer, Event, Outcome, StreamSummary, WantedEvents, escape::Escaper};
use serde_json::Value;

use crate::Output;

/// The answer of a run that succeeded; empty for others. A value without a text is shown as JSON.
pub(crate) fn answer_of<'a>(
    answer: &'a Answer,
    outcome: Outcome,
    structured: Option<&Value>,
) -> Cow<'a, str> {
    match (answer.text(), structured) {
        _ if outcome != Outcome::Succeeded => "".into(),
        (text, Some(structured)) if text.trim().is_empty() => structured.to_string().into(),
        (text, _) => text.into(),
    }
}

pub(super) struct AnswerFormatter {
    escaper: Escaper,
    answer: Answer,
}

impl AnswerFormatter {
    pub(super) fn new(is_raw: bool) -> Self {
        Self { escaper: Escaper::new(is_raw), answer: Answer::default() }
    }
}

impl Output for AnswerFormatter {
    fn wants(&self) -> WantedEvents {
        WantedEvents::PLAIN
    }

    fn events(&mut self, events: &[Event<'_>], _: &mut String) {
        for event in events {
            self.answer.observe(&event.kind);
        }
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
        let structured = summary.facts.structured.as_ref();
        let answer = answer_of(&self.answer, summary.outcome, structured);
        if answer.is_empty() {
            return;
        }
        self.escaper.text(&answer, out);
        self.escaper.end(out);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use ndjson_check_core::EventKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_run_that_succeeded_has_an_answer() {
        let mut answer = Answer::default();
        assert_eq!(answer_of(&answer, Outcome::Succeeded, None), "");
        let value = json!({ "ok": true });
        assert_eq!(answer_of(&answer, Outcome::Succeeded, Some(&value)), r#"{"ok":true}"#);
        answer.observe(&EventKind::Answer { text: "\nAll pass.\n".into() });
        assert_eq!(answer_of(&answer, Outcome::Succeeded, Some(&value)), "All pass.");
        for outcome in [Outcome::Failed, Outcome::Truncated, Outcome::TimedOut] {
            assert_eq!(answer_of(&answer, outcome, Some(&value)), "");
        }
    }
}
