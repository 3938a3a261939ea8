//! The loop: every stage in order, line by line.

use super::contract::Contract;
use super::end_of_run::{EndOfRun, ProducerExit};
use super::findings::Findings;
use super::run::Run;
use super::stage::first_events::FirstEvents;
use super::stage::lines::LineCheck;
use super::stage::schema;
use super::{Note, Observer, Outcome, StreamSummary, Verdict};
use crate::error::Error;
use crate::facts::{FactReader, RunFacts};
use crate::fast::Shapes;
use crate::limits::STDERR_LINE_BYTES_MAX;
use crate::profile::detect::ProfileSource;
use crate::rules::Severity;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::clipped;
use crate::stream::{ArraySplitter, Block, LineParser};

/// What one stream of an agent leaves for the next: the rules of its tags, the shapes of its
/// lines.
#[derive(Debug, Default)]
pub(super) struct Memory {
    facts: FactReader,
    shapes: Shapes,
}

/// The bytes of a whole stream.
#[derive(Debug)]
pub(super) struct StreamBytes {
    pub(super) count: u64,
    pub(super) sha256: Option<String>,
}

/// The check of one stream, once its profile is known.
#[derive(Debug)]
pub(super) struct StreamCheck<'c> {
    name: String,
    contract: &'c Contract,
    source: ProfileSource,
    memory: Memory,
    lines: LineCheck<'c>,
    first_events: FirstEvents<'c>,
    run: Run<'c>,
    findings: Findings<'c>,
    /// Lines that were parsed, because no shape was recalled.
    #[cfg(test)]
    parsed: u64,
}

impl<'c> StreamCheck<'c> {
    pub(super) fn new(
        name: &str,
        contract: &'c Contract,
        source: ProfileSource,
        memory: Memory,
    ) -> Self {
        let (profile, options) = (contract.profile(), contract.options());
        Self {
            name: name.to_owned(),
            contract,
            source,
            memory,
            lines: LineCheck::new(profile, options.is_array == Some(true)),
            first_events: FirstEvents::new(profile, source),
            run: Run::new(contract, options.format),
            findings: Findings::new(&options.severities),
            #[cfg(test)]
            parsed: 0,
        }
    }

    /// The stream is one array of events.
    pub(super) fn array_begins(&mut self, array: &ArraySplitter) {
        self.lines.array_begins(array, &mut self.findings);
    }

    /// Gives its memory to the next stream of the same agent.
    pub(super) fn into_memory(self) -> (&'c str, Memory) {
        (&self.contract.profile().name, self.memory)
    }

    /// Checks the lines that have arrived, and reports all that is known.
    ///
    /// # Errors
    ///
    /// When a schema cannot be evaluated.
    pub(super) fn block(
        &mut self,
        mut block: Block<'_>,
        parser: &mut LineParser,
        out: &mut dyn Observer,
    ) -> Result<(), Error> {
        let Self { contract, memory: Memory { facts, shapes }, lines, findings, run, .. } = self;
        loop {
            // The first event may be validated against another schema than those that follow.
            if run.events > 0
                && self.first_events.are_over()
                && let Some((line, recalled)) = shapes.recall(&mut block)
            {
                let facts = recalled.facts(&line);
                lines.recalled(findings);
                let is_valid = run.applies_schemas(facts.marks);
                run.observe(&line, &facts, is_valid, findings, out);
                if findings.pending.is_empty() {
                    continue;
                }
            } else if let Some((line, parsed)) = parser.next(&mut block) {
                #[cfg(test)]
                {
                    self.parsed += 1;
                }
                if let Some((line, event)) = lines.accept(line, parsed, facts, findings) {
                    let found = &mut findings.pending;
                    self.first_events.observe(&event, found);
                    let mut plan = facts.plan(contract.profile(), &event);
                    let (tag, is_first) = (&*plan.template.tag, run.events == 0);
                    let applies = run.applies_schemas(plan.template.marks);
                    let is_valid =
                        applies && schema::validate(contract, &event, tag, is_first, found)?;
                    // From here on the event's values decide nothing. Behind the end, too, only a
                    // valid event is learned: a new turn may begin.
                    let is_learnable = if applies {
                        is_valid
                    } else {
                        shapes.has_budget(&event, &plan) && schema::holds(contract, &event, tag)
                    };
                    if is_learnable && !is_first {
                        shapes.learn(&line, &event, &plan);
                    }
                    let facts = plan.facts(event.line, event.offset);
                    run.observe(&line, &facts, is_valid, findings, out);
                }
            } else {
                break;
            }
            if lines.is_settled(findings) {
                findings.report(out);
            }
        }
        out.flush();
        Ok(())
    }

    /// The end of the stream; what only it shows. `array_defect` is what is wrong with the array
    /// around the events.
    pub(super) fn finish(
        &mut self,
        bytes: StreamBytes,
        array_defect: Option<Diagnostic>,
        exit: &ProducerExit,
        out: &mut dyn Observer,
    ) -> StreamSummary {
        out.stream_ended();
        self.lines.finish(array_defect, &mut self.findings);
        if self.lines.is_settled(&mut self.findings) {
            self.findings.report(out);
        }
        let end = self.run.end(exit, &mut self.lines, &mut self.findings);
        if self.lines.is_ndjson() {
            self.findings.report(out);
        }
        let summary = self.summary(bytes, &end, exit);
        out.summary(&summary);
        out.flush();
        summary
    }

    fn summary(
        &mut self,
        bytes: StreamBytes,
        end: &EndOfRun<'_>,
        exit: &ProducerExit,
    ) -> StreamSummary {
        let (errors, warnings) =
            (self.findings.total(Severity::Error), self.findings.total(Severity::Warning));
        let failed = end.outcome != Outcome::Succeeded;
        let stderr = exit.stderr.iter().flatten().filter(|_| failed);
        let clip = |line: &String| clipped(line, STDERR_LINE_BYTES_MAX).into_owned();
        StreamSummary {
            name: self.name.clone(),
            profile: self.contract.profile().name.clone(),
            format: self.run.format(),
            verdict: if errors > 0 { Verdict::NonConforming } else { Verdict::Conforming },
            outcome: end.outcome,
            lines: self.lines.lines,
            events: self.run.events,
            bytes: bytes.count,
            sha256: bytes.sha256,
            errors,
            warnings,
            rule_counts: self.findings.rule_counts(),
            session_id: self.run.session.session_id().map(str::to_owned),
            call_counts: self.run.calls.counts(),
            tool_calls: self.run.calls.take_rows(),
            exit_status: exit.status,
            stderr: stderr.map(clip).collect(),
            facts: self.facts(end, exit),
            text_bytes: self.run.text.text_bytes(),
            notes: self.notes(end, exit),
        }
    }

    fn facts(&self, end: &EndOfRun<'_>, exit: &ProducerExit) -> RunFacts {
        let facts = &self.run.facts;
        RunFacts {
            agent_version: self.first_events.version().map(str::to_owned),
            reason: Some(end.reason(facts.reason, exit)),
            files: self.run.actions.files(),
            commands: self.run.actions.commands(),
            error_text: facts.error_text.clone().filter(|_| !end.succeeded()),
            ..facts.clone()
        }
    }

    fn notes(&self, end: &EndOfRun<'_>, exit: &ProducerExit) -> Vec<Note> {
        let is_ndjson = self.lines.is_ndjson();
        let mut notes = Vec::new();
        if self.source == ProfileSource::Fallback && is_ndjson {
            let profile = self.contract.profile().name.clone();
            notes.push(Note::ProfileFallback { profile, has_events: self.run.events > 0 });
        }
        notes.extend(self.first_events.note());
        notes.extend(self.findings.notes());
        let lost = self.findings.first_lost_line.filter(|_| is_ndjson);
        notes.extend(lost.map(|line| Note::LineLost { line }));
        notes.extend(self.run.notes(end, exit));
        notes
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::check::{Checker, State};
    use crate::rules::diagnostic::Diagnostic;

    /// Goal: sessions that were joined are read as fast as one.
    /// Method: the lines that are parsed, and not recalled by their shape, of a session of many
    /// deltas and of a hundred such sessions in one stream.
    #[test]
    fn lines_behind_the_end_are_recalled_too() {
        let delta = |at: u32| {
            let content = json!([{"type": "text", "text": "a"}]);
            let message = json!({"role": "assistant", "content": content});
            let event = json!({"type": "assistant", "message": message, "session_id": "s",
                "timestamp_ms": at});
            format!("{event}\n")
        };
        let init = json!({"type": "system", "subtype": "init", "apiKeySource": "login",
            "cwd": "/w", "session_id": "s", "model": "m", "permissionMode": "default"});
        let result = json!({"type": "result", "subtype": "success", "is_error": false,
            "duration_ms": 1, "duration_api_ms": 1, "result": "a".repeat(50), "session_id": "s",
            "request_id": "r"});
        let deltas: String = (1..=50).map(delta).collect();
        let session = format!("{init}\n{deltas}{result}\n");
        let parsed = |text: &str| {
            let mut checker = Checker::builder().profile("cursor").build().expect("built in");
            let mut stream = checker.stream("-");
            let mut found: Vec<Diagnostic> = Vec::new();
            stream.feed(text.as_bytes(), &mut found).expect("a stream");
            let State::Checking(check) = &stream.state else { panic!("the profile is known") };
            assert_eq!(check.lines.lines, text.lines().count() as u64);
            check.parsed
        };
        let alone = parsed(&session);
        assert!(alone < 10, "{alone}");
        let joined = parsed(&session.repeat(100));
        assert!(joined < 100 * 5, "{joined} of 5,200 lines were parsed");
    }
}
