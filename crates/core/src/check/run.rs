//! One run of an agent: the stages that follow it, through all its turns.

mod notes;
mod said;
mod sessions;
mod turn_end;

use super::contract::Contract;
use super::end_of_run::{EndOfRun, LastLine, ProducerExit, StreamEnd, TerminalState};
use super::findings::Findings;
use super::run_model::{Events, RunModel, Updates};
use super::stage::background::BackgroundWork;
use super::stage::calls::CallTable;
use super::stage::demands::{Broken, DemandCheck};
use super::stage::drift::Drift;
use super::stage::expect::Context;
use super::stage::lines::LineCheck;
use super::stage::repeats::{REPEATED_CALLS, RepeatCheck};
use super::stage::reported::reported;
use super::stage::servers::ServerCheck;
use super::stage::session::SessionCheck;
use super::stage::stats::StatsCollector;
use super::stage::terminal::{Place, TerminalCheck};
use super::stage::text::{TextCheck, TextUpdates};
use super::{AgentFormat, CallUpdate, CheckedLine, Observer, TextSegment, WantedEvents};
use crate::facts::{Facts, Marks, RunFacts};
use crate::profile::RunOutcome;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::stream::Line;

#[derive(Debug)]
pub(super) struct Run<'c> {
    contract: &'c Contract,
    format: Option<AgentFormat>,
    pub(super) events: u64,
    /// Whether a first event that looks like a single object may be one of a stream.
    pub(super) may_go_on: bool,
    /// Valid events that lack what their rules ask for.
    incomplete_events: u64,
    pub(super) drift: Drift,
    pub(super) session: SessionCheck<'c>,
    pub(super) calls: CallTable<'c>,
    repeats: RepeatCheck,
    background: BackgroundWork,
    servers: ServerCheck,
    pub(super) text: TextCheck<'c>,
    /// Findings about the text of a turn that succeeded, dropped if a later event fails the turn.
    doubts: Vec<Diagnostic>,
    pub(super) terminal: TerminalCheck,
    demands: Option<DemandCheck<'c>>,
    pub(super) stats: Option<Box<StatsCollector>>,
    pub(super) facts: RunFacts,
    /// If events are wanted.
    model: Option<RunModel>,
}

impl<'c> Run<'c> {
    pub(super) fn new(
        contract: &'c Contract,
        format: Option<AgentFormat>,
        wanted: WantedEvents,
    ) -> Self {
        let (profile, options) = (contract.profile(), contract.options());
        let demands = DemandCheck::new(options, &profile.calls);
        let wanted = Self::wants(contract, wanted);
        Self {
            contract,
            format,
            events: 0,
            may_go_on: false,
            incomplete_events: 0,
            drift: Drift::default(),
            session: SessionCheck::new(&profile.session),
            calls: CallTable::new(&profile.calls),
            repeats: RepeatCheck::new(options.repeated_calls.unwrap_or(REPEATED_CALLS)),
            background: BackgroundWork::default(),
            servers: ServerCheck::default(),
            text: TextCheck::new(profile),
            doubts: Vec::new(),
            terminal: TerminalCheck::new(&profile.end),
            demands,
            stats: options.collects_stats.then(Box::default),
            facts: RunFacts::default(),
            model: wanted.any.then(|| RunModel::new(profile, wanted)),
        }
    }

    /// What the observer wants, the statistics, and the demands of the user.
    pub(super) fn wants(contract: &Contract, of_observer: WantedEvents) -> WantedEvents {
        let options = contract.options();
        let of_stats = options.collects_stats.then_some(WantedEvents::DETAILS);
        let wanted = of_observer.or(DemandCheck::wants(options));
        of_stats.map_or(wanted, |of_stats| wanted.or(of_stats))
    }

    /// Whether the event is the terminal event of an earlier turn than the latest.
    pub(super) fn holds_back_end(&mut self, facts: &Facts<'_>) -> bool {
        let is_end = facts.terminal().is_some() && self.terminal.place(facts).is_in_run();
        is_end && self.session.takes_held_back_end()
    }

    pub(super) fn format(&self) -> AgentFormat {
        // What begins like a single object, and goes on, is a stream whose beginning is lost.
        let asked = self.contract.options().format;
        let seen = self.format.filter(|_| !(self.may_go_on && self.events > 1));
        asked.or(seen).unwrap_or(AgentFormat::StreamJson)
    }

    /// `is_valid` says whether the event satisfies the schemas.
    pub(super) fn observe(
        &mut self,
        line: &Line<'_>,
        mut facts: Facts<'_>,
        is_valid: bool,
        findings: &mut Findings<'_>,
        out: &mut dyn Observer,
    ) {
        self.events += 1;
        if self.background.is_of_agent(&facts) {
            facts.leave_to_sub_agent();
        }
        let facts = &facts;
        let place = self.terminal.place(facts);
        self.session.order.observe(facts, &mut findings.pending);
        let (mut text, mut turn_at) = (TextUpdates::new(), None);
        let mut calls = Vec::new();
        match place {
            // Nothing follows what comes after the end; of many such events most are counted only.
            Place::AfterEnd => {
                if !findings.is_counted_only(Rule::EventAfterTerminal) {
                    self.terminal.observe(facts, &mut findings.pending);
                }
            }
            Place::Epilogue => {
                self.in_run_or_after(facts, (is_valid, false), &mut findings.pending);
                self.calls.observe_corrections(facts, &mut calls, &mut findings.pending);
                self.terminal.observe_epilogue(facts, &mut findings.pending);
            }
            Place::NewTurn => {
                calls = self.calls.unfinished();
                self.new_turn(&mut text, &mut findings.pending);
                turn_at = Some((text.len(), calls.len()));
                self.in_run(facts, is_valid, &mut text, &mut calls, findings);
            }
            Place::Run => self.in_run(facts, is_valid, &mut text, &mut calls, findings),
        }
        let mut events = Events::new();
        let turn_end = self.turn_end(facts, place);
        if let Some(model) = &mut self.model {
            let (text, calls, call_table) = (&*text, &*calls, &self.calls);
            let updates = Updates { text, calls, turn_at, turn_end, call_table };
            model.line((line, facts), place.is_in_run(), updates, &self.facts, &mut events);
        }
        let used = (&self.facts, self.calls.counts());
        let demands = self.demands.as_mut();
        let broken = demands.map(|demands| demands.observe(facts, &events, used));
        let Broken { limit, start } = broken.unwrap_or_default();
        match &mut self.stats {
            Some(stats) if place.is_in_run() => stats.observe(facts, &events),
            Some(stats) => stats.observe_corrections(&events),
            None => {}
        }
        let agent_waits = self.contract.profile().calls.background.agent_waits;
        out.event(&CheckedLine {
            line,
            facts,
            profile: self.contract.profile(),
            events: &events,
            is_valid,
            place,
            exceeds_limit: limit && findings.is_error(Rule::LimitExceeded),
            starts_wrong: start && findings.is_error(Rule::ExpectationFailed),
            waits_for_work: agent_waits && self.background.is_open(),
        });
        if !events.is_empty() {
            out.events(&events);
        }
    }

    pub(super) fn stream_ended(&mut self, out: &mut dyn Observer) {
        let unfinished = self.calls.unfinished();
        let mut events = Events::new();
        if let Some(model) = &mut self.model {
            model.stream_ended(&unfinished, &mut events);
        }
        self.pass_on_others(&events, out);
    }

    /// Passes on events that belong to no line.
    fn pass_on_others(&mut self, events: &Events<'_>, out: &mut dyn Observer) {
        if let Some(demands) = &mut self.demands {
            let used = (&self.facts, self.calls.counts());
            demands.observe_others(self.terminal.last_event(), events, used);
        }
        if let Some(stats) = &mut self.stats {
            stats.observe_others(events);
        }
        if !events.is_empty() {
            out.events(events);
        }
    }

    pub(super) fn take_open_text(&mut self) -> Option<TextSegment<'static>> {
        self.model.as_mut()?.take_open_text()
    }

    fn new_turn(&mut self, text: &mut TextUpdates<'_>, found: &mut Vec<Diagnostic>) {
        // One object is never followed by another turn.
        self.format = self.contract.options().format.or(Some(AgentFormat::StreamJson));
        self.report_doubts(found);
        self.terminal.new_turn(found);
        self.facts.new_turn();
        self.session.new_turn();
        self.calls.new_turn();
        self.background.new_turn();
        if let Some(stats) = &mut self.stats {
            stats.new_turn();
        }
        self.text.new_turn(text);
    }

    /// What may also come after the end of the run.
    #[inline]
    fn in_run_or_after(
        &mut self,
        facts: &Facts<'_>,
        (is_valid, is_in_run): (bool, bool),
        found: &mut Vec<Diagnostic>,
    ) {
        self.drift.event(facts, is_valid, found);
        if let Some(rare) = &facts.rare {
            self.facts.observe(rare);
            self.background.observe(facts, self.session.session_id(), is_in_run);
            reported(facts, found);
            self.servers.observe(facts, found);
            if is_valid {
                self.drift.values(facts, found);
            }
            self.drift.calls(facts, |call| self.calls.start_of(&call.id), found);
        }
        self.session.observe(facts, found);
    }

    #[inline]
    fn in_run<'f>(
        &mut self,
        facts: &'f Facts<'_>,
        is_valid: bool,
        text: &mut TextUpdates<'f>,
        calls: &mut Vec<CallUpdate<'f>>,
        findings: &mut Findings<'_>,
    ) where
        'c: 'f,
    {
        let found = &mut findings.pending;
        self.in_run_or_after(facts, (is_valid, true), found);
        let is_success = self.terminal.is_success(facts);
        let format = self.settle_format(facts);
        if facts.rare.is_some() {
            self.calls.observe(facts, is_success, calls, found);
            self.repeats.observe(facts, calls, found);
            self.text.note_work(calls.iter().filter_map(|it| it.work_ended(facts.offset)).max());
        } else if facts.text.is_some() {
            self.calls.reject_asked(facts, calls, found);
            self.calls.report_rejected(found);
        }
        let has_text = facts.text.is_some() || facts.rare.is_some() || facts.marks.ends_segment;
        if has_text && !self.calls.are_open(&self.contract.profile().text.not_during) {
            self.text.observe(facts, format == AgentFormat::Json, found, text);
        }
        self.terminal.observe(facts, found);
        let is_incomplete = facts.marks.is_incomplete;
        if is_success && !self.terminal.has_fatal_error() {
            let doubts = self.text.end_diagnostics(is_incomplete);
            self.doubts.extend(doubts.map(|doubt| doubt.at(facts.line, facts.offset)));
        }
        if is_incomplete && is_valid {
            self.incomplete_events += 1;
        } else if is_incomplete && findings.is_error(Rule::SchemaViolation) {
            findings.lost_line(facts.line);
        }
    }

    fn report_doubts(&mut self, found: &mut Vec<Diagnostic>) {
        let doubts = std::mem::take(&mut self.doubts);
        let has_failed = self.terminal.reported_outcome() == Some(RunOutcome::Failure);
        found.extend(doubts.into_iter().filter(|_| !has_failed));
    }

    /// Whether the schemas apply to an event: they do not after the end of the run.
    pub(super) fn applies_schemas(&self, marks: Marks) -> bool {
        self.terminal.terminal_line().is_none() || marks.starts_turn || marks.may_follow_end
    }

    /// The first event shows the format: a terminal event alone is the single object.
    pub(super) fn settle_format(&mut self, facts: &Facts<'_>) -> AgentFormat {
        *self.format.get_or_insert_with(|| {
            let is_end = facts.terminal().is_some();
            let has_single = self.contract.profile().single_object.is_some();
            if has_single && is_end { AgentFormat::Json } else { AgentFormat::StreamJson }
        })
    }

    /// What only the end of the stream shows.
    pub(super) fn end(
        &mut self,
        exit: &ProducerExit,
        lines: &mut LineCheck<'_>,
        findings: &mut Findings<'_>,
    ) -> EndOfRun<'c> {
        self.text.finish();
        // A command that succeeds without an event may have written its answer as text.
        let may_be_answer = self.events == 0 && matches!(exit.status, Some(it) if it.is_success());
        let failure = lines.failure.take().filter(|it| it.reason.is_some() || !may_be_answer);
        let text_says_failed = self.terminal.note_failure_line(failure, &mut self.facts);
        let needs_terminal = self.contract.needs_terminal();
        let last_line = lines.last_line(findings);
        let is_cut = matches!(last_line, LastLine::Cut | LastLine::Unparsed)
            || self.terminal.misses_end(exit, self.session.holds_back_ends());
        let terminal = self.terminal.finish(needs_terminal, is_cut, &mut findings.pending);
        let expects_turn = exit.expects_turn || self.terminal.expects_turn();
        let stream = StreamEnd {
            has_events: self.events > 0,
            needs_terminal,
            terminal: if expects_turn { TerminalState::Missing } else { terminal },
            reported_outcome: self.terminal.reported_outcome(),
            text_says_failed,
            has_fatal_error: self.terminal.has_fatal_error(),
            is_midway: self.terminal.is_unfinished() || self.calls.is_unfinished(),
            last_line,
        };
        let status = exit.status.map(|status| self.contract.profile().end.exit.interpret(status));
        let end = EndOfRun::decide(stream, exit, status);
        self.text_explains(&end, exit, lines.failure_text());
        let found = &mut findings.pending;
        if let Some(cut) = lines.cut_line.take().filter(|_| end.reports_cut_line()) {
            let has_no_end = needs_terminal && self.terminal.terminal_line().is_none();
            let missing = has_no_end.then(|| self.missing(Some("there is no terminal event")));
            found.push(Diagnostic { note: missing.flatten(), ..cut });
        }
        self.report_doubts(found);
        found.extend(self.missing_end(&end, exit, expects_turn));
        let (line, offset) = self.terminal.last_event();
        if self.events > 0 {
            self.session.finish(self.format() == AgentFormat::StreamJson, found);
        }
        self.calls.report_rejected(found);
        found.extend(self.repeats.finish());
        if end.reports_open_calls() {
            self.calls.report_open(line, offset, found);
        }
        if end.nothing_followed() && end.succeeded() {
            found.extend(self.text.end_diagnostics(false).map(|it| it.at(line, offset)));
        }
        found.extend(end.contradiction(self.terminal.terminal_line()));
        if self.events > 0 && end.succeeded() {
            let none_succeeded = [self.calls.all_refused(), self.calls.all_failed()];
            found.extend(none_succeeded.into_iter().flatten().map(|it| it.at(line, offset)));
            self.background.report_open(self.session.session_id(), (line, offset), found);
        }
        end.producer_defects(exit, self.facts.error_text.is_some(), found);
        self.demands(&end, findings);
        end
    }

    fn demands(&mut self, end: &EndOfRun<'_>, findings: &mut Findings<'_>) {
        let format = self.format();
        let demands = self.demands.as_mut().filter(|_| self.events > 0);
        let Some(demands) = demands else { return };
        let profile = self.contract.profile();
        let context = Context {
            has_succeeded: end.succeeded(),
            // One object at the end of a run says nothing about its calls.
            shows_calls: profile.calls.are_shown() && format == AgentFormat::StreamJson,
            shows_text: !profile.text.rules.is_empty(),
            has_lost_line: findings.first_lost_line.is_some(),
            has_overflowed: self.calls.has_overflowed(),
            cause: end.cause,
        };
        let used = (&self.facts, self.calls.counts());
        demands.finish(used, context, &mut findings.pending);
    }
}
