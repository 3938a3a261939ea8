//! The loop: every stage in order, line by line.

use super::contract::Contract;
use super::end_of_run::{EndOfRun, ProducerExit};
use super::findings::Findings;
use super::how_to_call::{STDERR_SAYS_WHY, how_to_call};
use super::run::Run;
use super::stage::first_events::FirstEvents;
use super::stage::lines::LineCheck;
use super::stage::members::{MemberCheck, MembersByTag};
use super::stage::schema;
use super::why::Why;
use super::{
    AgentFormat, Bound, Note, Observer, StreamStart, StreamSummary, UnknownKind, UnknownName,
    Verdict, WantedEvents,
};
use crate::error::Error;
use crate::facts::{FactReader, RunFacts};
use crate::fast::FactShapes;
use crate::limits::STDERR_LINE_BYTES_MAX;
use crate::profile::detect::ProfileSource;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::clipped;
use crate::rules::{Rule, Severity};
use crate::stream::{ArraySplitter, Block, Line, LineParser, ParsedEvent};

/// What one stream of an agent leaves for the next: what was learned of its tags and lines.
#[derive(Debug, Default)]
pub(super) struct Memory {
    facts: FactReader,
    shapes: FactShapes,
    members: MembersByTag,
}

/// The bytes of a stream: the offset of its end, and their hash.
#[derive(Debug)]
pub(super) struct StreamBytes {
    pub(super) end: u64,
    pub(super) sha256: Option<String>,
}

/// The check of one stream, once its profile is known.
#[derive(Debug)]
pub(super) struct LineLoop<'c> {
    stream: String,
    /// That of the stream, or of the session that is judged.
    name: String,
    contract: &'c Contract,
    source: ProfileSource,
    memory: Memory,
    lines: LineCheck<'c>,
    first_events: FirstEvents<'c>,
    run: Run<'c>,
    findings: Findings<'c>,
    /// If members that the profile does not know are wanted.
    members: Option<Box<MemberCheck<'c>>>,
    /// The number of the session, and the offset at which it begins.
    session: (u64, u64),
    /// Lines that were parsed, because no shape was recalled.
    #[cfg(test)]
    parsed: u64,
}

impl<'c> LineLoop<'c> {
    pub(super) fn new(
        stream: &str,
        name: String,
        (contract, source, wanted): (&'c Contract, ProfileSource, WantedEvents),
        mut memory: Memory,
    ) -> Self {
        let (profile, options) = (contract.profile(), contract.options());
        let is_of_agent = source == ProfileSource::Named || options.is_of_command;
        let reads_all_times = options.collects_stats || wanted.times;
        let reads_thoughts = Run::wants(contract, wanted).details;
        if (memory.facts.reads_all_times, memory.facts.reads_thoughts)
            != (reads_all_times, reads_thoughts)
        {
            memory = Memory::default();
            memory.facts.reads_all_times = reads_all_times;
            memory.facts.reads_thoughts = reads_thoughts;
        }
        Self {
            stream: stream.to_owned(),
            name,
            contract,
            source,
            memory,
            lines: LineCheck::new(profile, options, is_of_agent),
            first_events: FirstEvents::new(profile, source),
            run: Run::new(contract, options.format, wanted),
            findings: Findings::new(&options.severities),
            members: options.compares_members.then(|| Box::new(MemberCheck::new(contract))),
            session: (1, 0),
            #[cfg(test)]
            parsed: 0,
        }
    }

    pub(super) fn array_begins(&mut self, array: &ArraySplitter) {
        self.lines.array_begins(array, &mut self.findings);
    }

    /// Gives its memory to the next stream of the same agent.
    pub(super) fn into_memory(self) -> (&'c str, Memory) {
        (&self.contract.profile().name, self.memory)
    }

    /// Checks the lines that have arrived, and reports all that is known.
    pub(super) fn block(
        &mut self,
        mut block: Block<'_>,
        parser: &mut LineParser,
        out: &mut dyn Observer,
    ) -> Result<(), Error> {
        loop {
            // The first event may be validated against another schema than those that follow.
            if self.run.goes_on()
                && self.first_events.are_over()
                && let Some((line, recalled)) = self.memory.shapes.recall(&mut block)
            {
                let is_valid = self.run.applies_schemas(recalled.marks());
                let facts = recalled.facts(&line);
                self.lines.recalled(&mut self.findings);
                if let Some(members) = &mut self.members {
                    members.count(facts.tag, facts.line, recalled.unknown_members);
                }
                self.run.observe(&line, facts, is_valid, &mut self.findings, out);
                if self.findings.pending.is_empty() {
                    continue;
                }
            } else if let Some((line, parsed)) = parser.next(&mut block) {
                #[cfg(test)]
                {
                    self.parsed += 1;
                }
                let (begin, reader) = (line.offset, &mut self.memory.facts);
                let accepted = self.lines.accept(line, parsed, reader, &mut self.findings);
                if let Some((line, event)) = accepted {
                    self.parsed(begin, &line, &event, out)?;
                }
                if let Some(said) = self.lines.said.take() {
                    self.run.observe_said(&said, &mut self.findings.pending, out);
                }
            } else {
                break;
            }
            if self.lines.is_settled(&mut self.findings) {
                self.findings.report(out);
            }
        }
        out.flush();
        Ok(())
    }

    /// `begin` is the offset of the line.
    fn parsed(
        &mut self,
        begin: u64,
        line: &Line<'_>,
        event: &ParsedEvent<'_>,
        out: &mut dyn Observer,
    ) -> Result<(), Error> {
        let contract = self.contract;
        let mut plan = self.memory.facts.plan(contract.profile(), event);
        let (splits, marks) = (contract.options().splits_sessions, plan.template.marks);
        if splits && self.run.is_other_session(&plan, &self.findings) {
            self.next_session(begin, out)?;
        }
        self.lines.event_follows(&mut self.findings);
        self.first_events.observe(event, plan.is_known(), &mut self.findings.pending);
        let (tag, is_first) = (&*plan.template.tag, self.run.events == 0);
        let applies = self.run.applies_schemas(plan.template.marks);
        let found = &mut self.findings.pending;
        let is_valid = applies && schema::validate(contract, event, tag, is_first, found)?;
        let status = plan.template.tag_status;
        let (check, known) = (self.members.as_ref(), &mut self.memory.members);
        let unknown = check.map(|it| it.unknown((tag, status), event.root(), known));
        let unknown = unknown.unwrap_or_default();
        // From here on the event's values decide nothing. Behind the end, too, only a valid
        // event is learned: a new turn may begin.
        let shapes = &mut self.memory.shapes;
        let is_learnable = if applies {
            is_valid
        } else {
            shapes.has_budget(event, &plan) && schema::is_valid_later_event(contract, event, tag)
        };
        if is_learnable && plan.is_known() && !is_first && !(splits && marks.starts_session) {
            shapes.learn(line, event, &plan, &unknown);
        }
        let mut facts = plan.facts(event.line, event.offset);
        if is_first && self.run.settle_format(&facts) == AgentFormat::Json {
            self.run.may_go_on = facts.end_for_good();
        } else if self.run.holds_back_end(&facts) || facts.is_provisional_end() {
            facts.hold_back_end();
        }
        if let Some(members) = &mut self.members {
            members.count(facts.tag, facts.line, &unknown);
        }
        self.run.observe(line, facts, is_valid, &mut self.findings, out);
        Ok(())
    }

    /// The session is over: the next one begins with the line at this offset, which has been
    /// accepted.
    fn next_session(&mut self, offset: u64, out: &mut dyn Observer) -> Result<(), Error> {
        let of_event = std::mem::take(&mut self.findings.pending);
        self.lines.lines -= 1;
        let bytes = StreamBytes { end: offset, sha256: None };
        self.finish(bytes, None, &ProducerExit::default(), out);
        let options = self.contract.options();
        self.session = (self.session.0 + 1, offset);
        self.name = session_name(&self.stream, self.session.0);
        self.lines.next_session();
        self.first_events = FirstEvents::new(self.contract.profile(), self.source);
        self.findings = Findings::new(&options.severities);
        self.findings.pending = of_event;
        self.members = self.members.take().map(|_| Box::new(MemberCheck::new(self.contract)));
        let profile = std::sync::Arc::clone(self.contract.profile());
        out.begin(&StreamStart { name: (&*self.name).into(), profile, source: self.source })?;
        self.run = Run::new(self.contract, options.format, out.wants());
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
        let on_stderr = self.run.observe_stderr(exit, &mut self.findings.pending, out);
        self.lines.failure = self.lines.failure.take().or(on_stderr);
        self.run.stream_ended(out);
        out.stream_ended();
        self.lines.finish(array_defect, &mut self.findings);
        if self.lines.is_settled(&mut self.findings) {
            self.findings.report(out);
        }
        let end = self.run.end(exit, &mut self.lines, &mut self.findings);
        self.say_what_is_missing(exit);
        if self.lines.is_ndjson() {
            self.findings.report(out);
        }
        let summary = self.summary(bytes, &end, exit);
        out.summary(&summary);
        out.flush();
        summary
    }

    /// Says why there may be no event.
    fn say_what_is_missing(&mut self, exit: &ProducerExit) {
        let count = |rule| self.findings.count(rule);
        let is_binary = count(Rule::InvalidUtf8) > count(Rule::InvalidJson);
        let found = self.findings.pending.iter_mut().find(|it| it.rule == Rule::EmptyStream);
        let Some(found) = found.filter(|_| !is_binary) else { return };
        let (profile, options) = (self.contract.profile(), self.contract.options());
        let is_known = self.source == ProfileSource::Named || options.silent.is_some();
        let command = profile.command.as_deref().filter(|_| is_known);
        found.note = match self.lines.lines {
            0 => exit.stderr.is_none().then(|| STDERR_SAYS_WHY.to_owned()),
            _ => how_to_call(command, &options.arguments, self.lines.plain_text()),
        };
    }

    fn summary(
        &mut self,
        bytes: StreamBytes,
        end: &EndOfRun<'_>,
        exit: &ProducerExit,
    ) -> StreamSummary {
        let [errors, warnings] =
            [Severity::Error, Severity::Warning].map(|it| self.findings.total(it));
        let stderr = exit.stderr.iter().flatten().filter(|_| !end.succeeded());
        let open_text = self.run.take_open_text();
        let stats = self.run.stats.as_mut().map(|stats| stats.finish(open_text.as_ref()).into());
        let clip = |line: &String| clipped(line, STDERR_LINE_BYTES_MAX).into_owned();
        StreamSummary {
            name: self.name.clone(),
            profile: self.contract.profile().name.clone(),
            format: self.run.format(),
            verdict: if errors > 0 { Verdict::NonConforming } else { Verdict::Conforming },
            outcome: end.outcome,
            lines: self.lines.lines,
            events: self.run.events,
            bytes: bytes.end - self.session.1,
            cut_line: self.lines.cut_at(),
            last_event_line: self.run.terminal.last_event().0,
            sha256: bytes.sha256,
            errors,
            warnings,
            known: 0,
            rule_counts: self.findings.rule_counts(),
            session_id: self.run.session.session_id().map(str::to_owned),
            call_counts: self.run.calls.counts(),
            notes: self.notes(end, exit), // They name calls: take no row before.
            tool_calls: self.run.calls.take_rows(),
            exit_status: exit.status,
            stderr: stderr.map(clip).collect(),
            facts: self.facts(end, exit),
            text_bytes: self.run.text.text_bytes(),
            open_text,
            unknown: self.unknown(),
            stats,
        }
    }

    fn unknown(&self) -> Vec<UnknownName> {
        let members = self.members.iter().flat_map(|it| it.names.list(UnknownKind::Member));
        self.run.drift.list().into_iter().chain(members).collect()
    }

    fn facts(&self, end: &EndOfRun<'_>, exit: &ProducerExit) -> RunFacts {
        let facts = &self.run.facts;
        let why = Why::decide(end, facts, exit, self.contract.profile());
        RunFacts {
            agent_version: self.first_events.agent_version().map(str::to_owned),
            reason: Some(why.reason),
            retryable: why.retryable,
            retry_after: why.retry_after,
            retry_for: Vec::new(),
            unexplained: None,
            files: self.run.calls.actions.files(),
            commands: self.run.calls.actions.commands(),
            may_have_written: self.run.calls.actions.may_have_written(),
            estimated_cost_usd: self.contract.options().prices.estimate(facts),
            error_text: facts.error_text.clone().filter(|_| !end.succeeded()),
            ..facts.clone()
        }
    }

    fn notes(&self, end: &EndOfRun<'_>, exit: &ProducerExit) -> Vec<Note> {
        let is_ndjson = self.lines.is_ndjson();
        let mut notes = self.contract.options().notes();
        if self.source == ProfileSource::Fallback && is_ndjson {
            let profile = self.contract.profile().name.clone();
            notes.push(Note::ProfileFallback { profile });
        }
        notes.extend(self.first_events.note());
        notes.extend(self.findings.notes());
        let lost = self.findings.first_lost_line.filter(|_| is_ndjson);
        notes.extend(lost.map(|line| Note::LineLost { line }));
        notes.extend(self.run.notes(end, exit));
        let names = Note::LimitReached(Bound::Names);
        if self.members.as_ref().is_some_and(|members| members.names.has_overflowed)
            && !notes.contains(&names)
        {
            notes.push(names);
        }
        notes
    }
}

pub(super) fn session_name(stream: &str, number: u64) -> String {
    format!("{stream}#{number}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::check::{Checker, State};
    use crate::limits::DETECTION_EVENTS_MAX;
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
        assert!(alone < DETECTION_EVENTS_MAX as u64 + 5, "{alone}");
        let joined = parsed(&session.repeat(100));
        assert!(joined < 100 * 5, "{joined} of 5,200 lines were parsed");
    }
}
