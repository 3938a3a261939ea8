//! The findings that a headline is made of.

use ndjson_check_core::{Diagnostic, Rule, Severity};

/// The first finding of each rule in the open stream.
#[derive(Debug, Clone, Default)]
pub struct FirstFindings(Vec<Diagnostic>);

impl From<&[Diagnostic]> for FirstFindings {
    /// Of a stream whose findings were collected.
    fn from(all: &[Diagnostic]) -> Self {
        let mut first = Self::default();
        for found in all {
            first.add(found);
        }
        first
    }
}

impl FirstFindings {
    /// A stream begins.
    pub fn begin(&mut self) {
        self.0.clear();
    }

    /// Something was found in the stream.
    pub fn add(&mut self, found: &Diagnostic) {
        let is_news = |known: &Diagnostic| {
            known.rule != found.rule || known.note.is_none() && is_next_run(found)
        };
        if self.0.iter().all(is_news) {
            self.0.push(found.clone());
        }
    }

    pub(super) fn of(&self, rule: Rule) -> Option<&Diagnostic> {
        self.0.iter().find(|found| found.rule == rule)
    }

    pub(super) fn error(&self, rule: Rule) -> Option<&Diagnostic> {
        self.of(rule).filter(|found| found.severity == Severity::Error)
    }

    /// Whether the stream has more than one run.
    pub(super) fn has_next_run(&self) -> bool {
        self.0.iter().any(|found| found.severity == Severity::Error && is_next_run(found))
    }

    /// The error that says most about the run; the order of the rules decides between the others.
    pub(super) fn worst(&self) -> Option<&Diagnostic> {
        let errors = self.0.iter().filter(|found| found.severity == Severity::Error);
        errors.min_by_key(|found| {
            let place = TELLING.iter().position(|rule| *rule == found.rule);
            // A rule that `--strict` or the configuration raised to an error says less.
            let is_raised = found.rule.severity() != Some(Severity::Error);
            (place.unwrap_or(TELLING.len()), is_raised, found.rule)
        })
    }
}

/// Whether a finding shows what a second run in a stream leads to.
pub(super) fn may_be_of_next_run(found: &Diagnostic) -> bool {
    let rules = [Rule::EventAfterTerminal, Rule::SessionIdChanged, Rule::DuplicateSessionStart];
    rules.contains(&found.rule)
}

/// Whether a finding is where the next run begins: its note says so.
fn is_next_run(found: &Diagnostic) -> bool {
    may_be_of_next_run(found) && found.note.is_some()
}

/// Rules about the work, the most telling first. All others are about the stream.
const TELLING: [Rule; 14] = [
    Rule::AllCallsRefused,
    Rule::ExpectationFailed,
    Rule::SuccessAfterFatalError,
    Rule::ExitStatusContradictsResult,
    Rule::AllCallsFailed,
    Rule::UnfinishedCall,
    Rule::BackgroundWorkLost,
    Rule::DeniedCall,
    Rule::EmptyAnswer,
    Rule::ToolServerUnavailable,
    Rule::RepeatedCall,
    Rule::ExpectationUnobservable,
    Rule::LimitUnknown,
    Rule::PipeHeldOpen,
];

#[cfg(test)]
mod tests {
    use ndjson_check_core::{Checker, ProducerExit};

    use super::*;

    /// Goal: a reader's findings show that a stream has more than one run.
    /// Method: an event comes between the end of the first run and the start of the next.
    #[test]
    fn a_reader_finds_the_next_run() {
        let run = |id: &str| {
            format!(
                "{{\"type\":\"thread.started\",\"thread_id\":\"{id}\"}}\n\
                 {{\"type\":\"turn.started\"}}\n\
                 {{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":1,\
                 \"cached_input_tokens\":0,\"output_tokens\":1}}}}\n"
            )
        };
        let late = "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\
                    \"type\":\"agent_message\",\"text\":\"Done.\"}}\n";
        let found = |stream: &str| {
            let checker = Checker::builder().profile("codex").build().expect("a built-in profile");
            let mut reader = checker.reader("a");
            reader.feed(stream.as_bytes()).expect("a stream of codex");
            let last = reader.finish(&ProducerExit::default()).expect("a stream of codex");
            FirstFindings::from(&*last.findings)
        };
        assert!(found(&(run("a") + late + &run("b"))).has_next_run());
        assert!(!found(&(run("a") + late)).has_next_run());
    }
}
