//! `answer`: only the final message of a run that succeeded (contract T2), without blank lines
//! around it.

use ndjson_check_core::{Answer, Event, Outcome, StreamSummary, WantedEvents, escape::Escaper};

use crate::Output;

/// The answer of a run with this outcome; empty if it has none. Only a run that succeeded has one.
pub(crate) fn answer_of(answer: &Answer, outcome: Outcome) -> &str {
    if outcome == Outcome::Succeeded { answer.text() } else { "" }
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
        let answer = answer_of(&self.answer, summary.outcome);
        if answer.is_empty() {
            return;
        }
        self.escaper.text(answer, out);
        self.escaper.end(out);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use ndjson_check_core::EventKind;

    use super::*;

    #[test]
    fn only_a_run_that_succeeded_has_an_answer() {
        let mut answer = Answer::default();
        assert_eq!(answer_of(&answer, Outcome::Succeeded), "");
        answer.observe(&EventKind::Answer { text: "\nAll pass.\n".into() });
        assert_eq!(answer_of(&answer, Outcome::Succeeded), "All pass.");
        for outcome in [Outcome::Failed, Outcome::Truncated, Outcome::TimedOut] {
            assert_eq!(answer_of(&answer, outcome), "");
        }
    }
}
