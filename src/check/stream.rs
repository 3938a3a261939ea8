//! The check of one stream: every stage in order, line by line.

use super::Memory;
use super::inference::{around, is_lost_event, may_follow_from, stalled};
use super::opening::Opening;
use crate::check::contract::{Contract, Engine};
use crate::output::convert::{Convert, Seen};
use crate::check::stage::calls::Correlation;
use crate::rules::diagnostic::Diagnostic;
use crate::check::producer_exit::End;
use crate::error::Error;
use crate::stream::event::Event;
use crate::facts::{CallId, Facts, Plan, Recipe, Subject};
use crate::profile::detect::ProfileSource;
use crate::stream::framing::Framing;
use crate::limits::PRINTED_PER_RULE_MAX;
use crate::stream::line::Line;
use crate::profile::{RunOutcome, StatusMeaning};
use crate::check::stage::text::{Pieces, Reassembly};
use crate::output::report::Report;
use crate::rules::{Rule, Severity};
use crate::check::stage::session::Sequence;
use crate::check::summary::StreamSummary;
use crate::check::stage::terminal::{Ending, Place, Terminal};
use crate::check::verdict::{Format, Outcome};
use crate::check::stage::drift::{Started, Vocabulary};

/// The check of one stream, line by line.
pub(super) struct Check<'c> {
    pub(super) name: String,
    pub(super) contract: &'c Contract,
    pub(super) choice: ProfileSource,
    pub(super) opening: Opening<'c>,
    pub(super) framing: Framing,
    pub(super) format: Option<Format>,
    pub(super) vocabulary: Vocabulary,
    pub(super) sequence: Sequence<'c>,
    pub(super) correlation: Correlation<'c>,
    pub(super) reassembly: Reassembly<'c>,
    pub(super) terminal: Terminal,
    /// What the stages found and no report has seen yet.
    pub(super) found: Vec<Diagnostic>,
    /// The first line that was to be an event and could not be read; and the last line, if it was
    /// one. What seems to be missing may have stood there.
    pub(super) lost: Option<u64>,
    pub(super) last_lost: Option<u64>,
    /// Whether the stream has been called something else than NDJSON.
    pub(super) diagnosed: bool,
    /// Whether the last line was cut.
    pub(super) cut: bool,
    /// The cut last line, kept until the end knows what else is missing.
    pub(super) truncated: Option<Diagnostic>,
    pub(super) counts: Vec<u64>,
    pub(super) lines: u64,
    pub(super) events: u64,
    /// Events that lack what their rules ask for, and that no schema found fault with.
    pub(super) incomplete: u64,
}

impl<'c> Check<'c> {
    pub(super) fn new(name: &str, contract: &'c Contract, choice: ProfileSource) -> Self {
        let profile = contract.profile();
        Self {
            name: name.to_owned(),
            contract,
            choice,
            opening: Opening::new(contract, choice),
            framing: Framing::Unseen,
            format: contract.format,
            vocabulary: Vocabulary::default(),
            sequence: Sequence::new(&profile.session),
            correlation: Correlation::new(&profile.calls),
            reassembly: Reassembly::new(profile),
            terminal: Terminal::default(),
            found: Vec::new(),
            lost: None,
            last_lost: None,
            diagnosed: false,
            cut: false,
            truncated: None,
            counts: vec![0; Rule::ALL.len()],
            lines: 0,
            events: 0,
            incomplete: 0,
        }
    }

    /// Whether lines are looked at: not if the stream is something else than NDJSON.
    pub(super) fn is_looking(&self) -> bool {
        !matches!(self.framing, Framing::Foreign(_))
    }

    /// Takes into account whether a line is an event, and what was found in it.
    pub(super) fn observe(&mut self, line: &Line<'_>, event: Option<&Event<'_>>) {
        self.lines += 1;
        if !self.is_looking() {
            return;
        }
        self.framing = self.framing.observe(line, event.is_some());
        if event.is_some() {
            self.last_lost = None;
            return;
        }
        self.truncated = self.found.pop_if(|it| it.rule == Rule::TruncatedLine);
        if is_lost_event(line) && self.is_error(self.found.last()) {
            self.last_lost = Some(line.number);
            self.lost.get_or_insert(line.number);
        }
    }

    pub(super) fn event(
        &mut self,
        line: &Line<'_>,
        event: &Event<'_>,
        plan: Plan<'_>,
        memory: &mut Memory<'c>,
        conversion: &mut dyn Convert,
    ) -> Result<(), Error> {
        if !self.opening.is_over() {
            self.opening.observe(event, &mut self.found);
        }
        let counts = !self.terminal.is_closed() || plan.may_follow_the_end();
        let valid = counts && self.schemas(event, memory)?;
        if valid
            && self.events > 0
            && self.contract.engine == Engine::Fast
            && plan.is_repeatable()
            && let Some(doc) = event.tape()
        {
            memory.shapes.learn(line, doc, |sources| Recipe::new(&plan, sources));
        }
        let facts = plan.facts(event.line, event.offset);
        self.follow(line, Some(event), &facts, valid, conversion);
        Ok(())
    }

    /// An event that the memory of shapes stands for.
    pub(super) fn recalled(
        &mut self,
        line: &Line<'_>,
        facts: &Facts<'_>,
        conversion: &mut dyn Convert,
    ) {
        self.lines += 1;
        self.last_lost = None;
        // As when its shape was learned, if it has a place in the stream.
        let valid = self.terminal.place(facts) != Place::After;
        self.follow(line, None, facts, valid, conversion);
    }

    fn follow(
        &mut self,
        line: &Line<'_>,
        event: Option<&Event<'_>>,
        facts: &Facts<'_>,
        valid: bool,
        conversion: &mut dyn Convert,
    ) {
        self.events += 1;
        let place = self.terminal.place(facts);
        let in_run = matches!(place, Place::Run | Place::NewTurn);
        if place == Place::After && self.is_enough_of(Rule::EventAfterTerminal) {
            conversion.event(&Seen { line, event, facts, pieces: &[], valid, in_run });
            return;
        }
        let mut pieces = Pieces::new();
        if place == Place::NewTurn {
            // One object is never followed by another turn.
            self.format = self.contract.format.or(Some(Format::StreamJson));
            self.terminal.reopen(&mut self.found);
            self.sequence.reopen();
            self.correlation.reopen();
            self.reassembly.reopen(&mut pieces);
        }
        if place != Place::After {
            let calls = &self.correlation;
            let started = |id: &CallId| calls.tool_of_open(id).map(|tool| Started { tool });
            self.vocabulary.observe(facts, valid, started, &mut self.found);
            self.sequence.observe(facts, &mut self.found);
        }
        let succeeds = in_run && self.follow_run(facts, &mut pieces);
        if place != Place::Epilogue {
            self.terminal.observe(facts, &mut self.found);
        }
        if succeeds && !self.terminal.is_denied() {
            let doubts = self.reassembly.doubts(facts.incomplete);
            self.found.extend(doubts.map(|it| it.at(facts.line, facts.offset)));
        }
        self.incomplete += u64::from(in_run && facts.incomplete && valid);
        if in_run && facts.incomplete && !valid && self.is_severe(Rule::SchemaViolation) {
            self.lost.get_or_insert(line.number);
        }
        conversion.event(&Seen { line, event, facts, pieces: &pieces, valid, in_run });
    }

    /// Counts a defect of this kind without telling of it, if it would not be told of anyway.
    fn is_enough_of(&mut self, rule: Rule) -> bool {
        let count = &mut self.counts[rule as usize];
        let told = self.contract.severities.of(rule).is_some();
        let enough = !told || *count >= PRINTED_PER_RULE_MAX;
        *count += u64::from(told && enough);
        enough
    }

    /// The stages that follow the run; after its end there is nothing for them to follow. Tells
    /// whether the event ends it, and well.
    fn follow_run<'f>(&mut self, facts: &'f Facts<'_>, pieces: &mut Pieces<'f>) -> bool {
        let ending = self.terminal.ending(facts);
        let succeeds = ending == Some(Ending::Sure(RunOutcome::Success));
        // Nothing but a terminal event: the single object of the other format.
        let has_single = self.contract.profile().single_object.is_some();
        let alone = has_single && matches!(ending, Some(Ending::Sure(_)));
        let guess = if alone { Format::Json } else { Format::StreamJson };
        let format = *self.format.get_or_insert(guess);
        let about = |subjects: &[Subject]| subjects.iter().any(|it| facts.are_about(*it));
        if about(&[Subject::Call, Subject::End]) {
            self.correlation.observe(facts, succeeds, &mut self.found);
        }
        if about(&[Subject::Text, Subject::Call, Subject::End]) {
            self.reassembly.observe(facts, format == Format::Json, &mut self.found, pieces);
        }
        succeeds
    }

    /// Whether something was found that a report has not seen.
    pub(super) fn is_to_tell(&self) -> bool {
        !self.found.is_empty() || (matches!(self.framing, Framing::Foreign(_)) && !self.diagnosed)
    }

    /// Hands what was found to the report, unless the stream's framing is still in doubt.
    pub(super) fn deliver(&mut self, report: &mut dyn Report) -> Result<(), Error> {
        match self.framing {
            Framing::Foreign(other) if !self.diagnosed => {
                self.diagnosed = true;
                self.found.clear();
                self.found.push(other.diagnostic());
            }
            Framing::Suspect { .. } | Framing::Foreign(_) => return Ok(()),
            Framing::Unseen | Framing::Ndjson => {}
        }
        if self.found.is_empty() {
            return Ok(());
        }
        let (lost, last_lost) = (self.lost, self.last_lost);
        for diagnostic in self.found.drain(..) {
            if may_follow_from(lost, last_lost, diagnostic.rule) {
                continue;
            }
            let Some(severity) = self.contract.severities.of(diagnostic.rule) else { continue };
            let count = &mut self.counts[diagnostic.rule as usize];
            *count += 1;
            if *count <= PRINTED_PER_RULE_MAX {
                report.diagnostic(&self.name, severity, &diagnostic)?;
            }
        }
        report.flush()
    }

    pub(super) fn finish(
        mut self,
        bytes: u64,
        end: &End,
        report: &mut dyn Report,
        conversion: &mut dyn Convert,
    ) -> Result<StreamSummary, Error> {
        // Before the last diagnostics: on a terminal both stand on the same screen.
        conversion.end();
        self.framing = self.framing.finish();
        self.deliver(report)?;
        if !matches!(self.framing, Framing::Foreign(_)) {
            self.reassembly.finish();
            self.end(end);
            self.deliver(report)?;
        }
        let summary = self.summary(bytes, end);
        conversion.finish(summary.outcome);
        report.stream(&summary)?;
        report.flush()?;
        Ok(summary)
    }

    /// What only the end of the stream shows.
    fn end(&mut self, end: &End) {
        self.cut = self.truncated.is_some();
        let had_ended = self.terminal.is_closed();
        self.terminal.finish(self.contract.needs_terminal(), &mut self.found);
        let closed = !self.contract.needs_terminal() || self.terminal.is_closed();
        // What we cut ourselves is no defect of the producer's.
        let truncated = self.truncated.take().filter(|_| end.stopped.is_none());
        let cut = self.is_error(truncated.as_ref());
        if let Some(truncated) = truncated {
            let note = if closed { None } else { self.missing(Some("no terminal event came")) };
            self.found.push(Diagnostic { note, ..truncated });
        }
        if let Some(stop) = end.stopped.as_ref().filter(|stop| stop.is_timeout()) {
            self.found.push(stalled(stop, self.correlation.open_summary()));
        } else if cut || self.judged(end).is_some_and(|word| !word.is_success()) {
            // All that is missing is missing for that.
        } else if self.events == 0 {
            let message = "the stream has no event";
            self.found.push(Diagnostic::new(Rule::EmptyStream, message));
        } else if !closed {
            let (line, offset) = self.terminal.last_event().unwrap_or_default();
            let message = "the stream ends here, without a terminal event";
            let diagnostic = Diagnostic::new(Rule::MissingTerminalEvent, message);
            let note = self.missing(Some("the run was cut short"));
            self.found.push(Diagnostic { note, ..diagnostic.at(line, offset) });
        }
        if self.events > 0 {
            let format = self.format.unwrap_or(Format::StreamJson);
            self.sequence.finish(format == Format::StreamJson, &mut self.found);
            if !had_ended && end.stopped.is_none() {
                self.ended_with_the_stream(end);
            }
            self.found.extend(self.terminal.contradiction(self.judged(end)));
            if self.terminal.outcome(self.is_cut(), self.judged(end)) == Outcome::Succeeded {
                let (line, offset) = self.terminal.last_event().unwrap_or_default();
                self.found
                    .extend(self.correlation.counts().refusal().map(|it| it.at(line, offset)));
            }
        }
        self.found.extend(around(end, self.judged(end), self.terminal.tells_of_failure()));
    }

    /// The run ended because nothing followed, or it did not end.
    fn ended_with_the_stream(&mut self, end: &End) {
        let (line, offset) = self.terminal.last_event().unwrap_or_default();
        let outcome = self.terminal.outcome(self.is_cut(), self.judged(end));
        let succeeded = outcome == Outcome::Succeeded;
        // With a status of failure the run was cut, and its calls with it.
        let failed = self.judged(end).is_some_and(|word| !word.is_success());
        let unsaid = !self.contract.needs_terminal() && !self.terminal.is_closed() && !failed;
        if succeeded || unsaid {
            self.correlation.report_open(line, offset, &mut self.found);
        }
        if succeeded {
            self.found.extend(self.reassembly.doubts(false).map(|it| it.at(line, offset)));
        }
    }

    /// The exit status, if it is the producer's own word: not if we ended it, and not if somebody
    /// did when the run was over.
    pub(super) fn judged(&self, end: &End) -> Option<StatusMeaning<'c>> {
        let ended = end.stopped.is_some() || end.interrupted && self.terminal.is_closed();
        let status = end.status.filter(|_| !ended)?;
        Some(self.contract.profile().end.exit.interpret(status))
    }

    fn is_error(&self, diagnostic: Option<&Diagnostic>) -> bool {
        diagnostic.is_some_and(|it| self.is_severe(it.rule))
    }

    pub(super) fn is_severe(&self, rule: Rule) -> bool {
        self.contract.severities.of(rule) == Some(Severity::Error)
    }

    /// Whether the stream ended before the run did.
    pub(super) fn is_cut(&self) -> bool {
        let open = self.correlation.is_unfinished();
        let open = open || self.cut || self.last_lost.is_some();
        let run_goes_on = !self.terminal.is_closed() && (self.contract.needs_terminal() || open);
        run_goes_on || self.events == 0
    }

    /// What a stream without its terminal event leaves behind.
    pub(super) fn missing(&self, fact: Option<&str>) -> Option<String> {
        let facts = [fact.map(str::to_owned), self.correlation.open_summary()];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        (!facts.is_empty()).then(|| facts.join("; "))
    }
}
