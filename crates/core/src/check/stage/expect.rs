//! Stage: what a user expects of the run.

mod answer;
mod calls;
mod in_call;
mod kinds;
mod messages;
mod seen_call;
mod start;
mod statements;
mod tool_names;
mod truth;
mod verdict;
mod writes;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use crate::check::answer::Answer;
use crate::check::globs::NameGlob;
use crate::check::{
    CompletedCall, Event, EventCall, EventKind, Expectation, SessionFacts, WantedEvents,
};
use crate::error::Error;
use crate::facts::{RunFacts, Unavailable};
use crate::limits::CALL_ROWS_MAX;
use crate::profile::pattern::LazyRegex;
use crate::profile::{CallOutcome, ToolSource};
use crate::rules::diagnostic::Diagnostic;

use answer::AnswerPattern;
use calls::{CallPattern, CallTally};
use kinds::KindHistories;
use seen_call::{CallHalf, Printed, SeenCall, ShownText};
use start::{StartPattern, StartTally};
use truth::Tally;
use verdict::diagnostic;
use writes::WritePattern;

pub(crate) use verdict::Context;

/// An expectation that can be checked.
#[derive(Debug)]
pub(crate) struct Expected {
    /// Where it is stated.
    place: String,
    statement: String,
    question: Question,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few of them")]
enum Question {
    Answer(AnswerPattern),
    Calls(CallPattern),
    Writes(WritePattern),
    Start(StartPattern),
}

impl Expected {
    /// `directory` is where the command was started, if that is known.
    pub(crate) fn new(
        place: &str,
        expectation: Expectation,
        directory: Option<&str>,
    ) -> Result<Self, Error> {
        let statement = expectation.to_string();
        let globs = |names: &[String]| -> Result<Vec<NameGlob>, String> {
            names.iter().map(|name| NameGlob::new(name)).collect()
        };
        let start = |pattern: Result<StartPattern, String>| pattern.map(Question::Start);
        let question = match expectation {
            Expectation::AnswerMatches(pattern) => {
                AnswerPattern::matches(&pattern).map(Question::Answer)
            }
            Expectation::AnswerSatisfies(schema) => {
                AnswerPattern::satisfies(place, &schema).map(Question::Answer)
            }
            Expectation::Calls(calls) => CallPattern::new(calls).map(Question::Calls),
            Expectation::WritesWithin(globs) => {
                WritePattern::new(&globs, true, directory).map(Question::Writes)
            }
            Expectation::WritesNever(globs) => {
                WritePattern::new(&globs, false, directory).map(Question::Writes)
            }
            Expectation::Model(name) => start(NameGlob::new(&name).map(StartPattern::Model)),
            Expectation::Session(id) => start(Ok(StartPattern::Session(id))),
            Expectation::Servers(names) => start(globs(&names).map(StartPattern::Servers)),
            Expectation::Tools(names) => start(globs(&names).map(StartPattern::Tools)),
        };
        let place = place.to_owned();
        match question {
            Ok(question) => Ok(Self { place, statement, question }),
            Err(message) => Err(Error::Expectation { place, message }),
        }
    }

    /// What a half of a call answers to the question about its text, if it shows any.
    fn judge(&self, half: CallHalf<'_>, directory: Option<&str>) -> Option<ShownText> {
        match &self.question {
            Question::Answer(_) | Question::Start(_) => None,
            Question::Calls(pattern) => pattern.judge(half),
            Question::Writes(pattern) => pattern.judge(half.call, directory).map(ShownText::from),
        }
    }

    fn judge_output(&self, call: &CompletedCall<'_>) -> Option<Printed> {
        self.calls()?.judge_output(call)
    }

    fn calls(&self) -> Option<&CallPattern> {
        match &self.question {
            Question::Calls(pattern) => Some(pattern),
            _ => None,
        }
    }

    fn forbids(&self) -> bool {
        match &self.question {
            Question::Writes(_) => true,
            Question::Calls(pattern) => pattern.forbids(),
            Question::Answer(_) | Question::Start(_) => false,
        }
    }

    pub(crate) fn wants(&self) -> WantedEvents {
        match &self.question {
            // The tools that the session lists.
            Question::Calls(pattern) if pattern.tool.is_some() => {
                WantedEvents::VALUES.or(WantedEvents::DETAILS)
            }
            // The changes that a result shows, too.
            Question::Calls(_) | Question::Writes(_) => WantedEvents::VALUES,
            Question::Start(_) => WantedEvents::DETAILS,
            Question::Answer(_) => WantedEvents::PLAIN,
        }
    }
}

/// The call, with the files that its result says it has changed.
fn with_changed_files<'c>(completed: &'c CompletedCall<'_>) -> Cow<'c, EventCall<'c>> {
    let CompletedCall { call, changes, .. } = completed;
    let paths = changes.iter().flat_map(|change| [Some(&change.path), change.from.as_ref()]);
    let paths = paths.flatten().filter(|path| !call.files.contains(path));
    let mut files: Vec<String> = paths.cloned().collect();
    if files.is_empty() {
        return Cow::Borrowed(call);
    }
    files.extend(call.files.iter().cloned());
    Cow::Owned(EventCall { files: files.into(), shows_files: true, ..call.clone() })
}

fn compiled(pattern: &str) -> Result<LazyRegex, String> {
    LazyRegex::compiled_from(pattern).map_err(|error| not_a_pattern(&error))
}

fn not_a_pattern(error: &str) -> String {
    format!("not a regular expression: {error}")
}

/// Follows the calls and the answer. Of a call it keeps answers, and no text.
#[derive(Debug)]
pub(crate) struct ExpectCheck<'c> {
    expected: Vec<(&'c Expected, Tallies)>,
    /// The answer so far, if something is expected of it.
    answer: Option<Answer>,
    open: BTreeMap<u64, SeenCall>,
    /// The latest calls that have ended. They are counted when the agent will say no more of them.
    ended: VecDeque<SeenCall>,
    shows_inner: bool,
    /// Events of calls until now.
    clock: u64,
    /// The calls of the kinds whose order matters.
    kinds: KindHistories,
    compares_paths: bool,
    /// Whether it matters which commands write or delete files.
    reads_commands: bool,
    /// The directory in which the agent works, if the stream says it.
    directory: Option<String>,
}

/// What the stream has answered until now; only the tally of the question's kind counts.
#[derive(Debug, Default)]
struct Tallies {
    calls: CallTally,
    writes: Tally,
    start: StartTally,
}

impl<'c> ExpectCheck<'c> {
    /// `shows_inner` says whether the agent shows the calls of sub-agents.
    pub(crate) fn new(expected: &'c [Expected], shows_inner: bool) -> Self {
        let needs_answer = expected.iter().any(|it| matches!(it.question, Question::Answer(_)));
        let patterns = || expected.iter().filter_map(Expected::calls);
        let mut all: Vec<_> = expected.iter().map(|it| (it, Tallies::default())).collect();
        // What the run must not do comes first.
        all.sort_by_key(|(expected, _)| !expected.forbids());
        Self {
            shows_inner,
            clock: 0,
            kinds: KindHistories::new(patterns().flat_map(CallPattern::kinds)),
            reads_commands: patterns().any(CallPattern::is_about_files),
            compares_paths: patterns().any(CallPattern::compares_paths),
            expected: all,
            answer: needs_answer.then(Answer::default),
            open: BTreeMap::new(),
            ended: VecDeque::new(),
            directory: None,
        }
    }

    #[inline]
    pub(crate) fn observe(&mut self, events: &[Event<'_>]) {
        if self.expected.is_empty() {
            return;
        }
        for event in events {
            self.start(event);
            if let Some(answer) = &mut self.answer {
                answer.observe(&event.kind);
            }
            self.event(event);
        }
    }

    fn start(&mut self, event: &Event<'_>) {
        let line = event.at.line.unwrap_or_default();
        for (expected, tallies) in &mut self.expected {
            if let Question::Start(pattern) = &expected.question {
                pattern.observe(&event.kind, line, &mut tallies.start);
            }
        }
    }

    /// Servers that did not start.
    pub(crate) fn observe_unavailable(&mut self, unavailable: &[Unavailable], line: u64) {
        let is_server = |it: &&Unavailable| it.is == ToolSource::Server;
        for Unavailable { name, .. } in unavailable.iter().filter(is_server) {
            for (expected, tallies) in &mut self.expected {
                if let Question::Start(pattern) = &expected.question {
                    pattern.observe_unavailable(name, line, &mut tallies.start);
                }
            }
        }
    }

    pub(crate) fn starts_wrong(&self) -> bool {
        self.expected.iter().any(|(_, tallies)| tallies.start.is_broken())
    }

    fn event(&mut self, event: &Event<'_>) {
        let line = event.at.line.unwrap_or_default();
        match &event.kind {
            EventKind::Session(session) => self.session(&session.session),
            EventKind::SessionChanged(session) => self.session(session),
            EventKind::CallStarted(call) | EventKind::CallUpdated(call) => {
                if let Some(outer) = call.parent.and_then(|parent| self.known(parent)) {
                    outer.shows_inner = true;
                }
                let arguments = call.arguments.as_ref();
                let seen = self.seen(line, CallHalf { call, arguments, changes: &[] });
                self.kinds.waits(&seen);
                self.open.insert(call.number, seen);
            }
            EventKind::CallCompleted(completed) => {
                let call = with_changed_files(completed);
                let (arguments, changes) = (completed.arguments.as_ref(), &completed.changes[..]);
                let mut seen = self.seen(line, CallHalf { call: &call, arguments, changes });
                seen.outcome = Some(completed.outcome);
                seen.observe_output(completed, self.expected.iter().map(|(expected, _)| *expected));
                self.end(seen);
            }
            EventKind::CallUnfinished(call) => {
                if let Some(seen) = self.open.remove(&call.number) {
                    self.end(seen);
                }
            }
            EventKind::CallCorrected { call, outcome, instead_of } => {
                self.clock += 1;
                let mut ended = self.ended.iter_mut().rev();
                if let Some(seen) = ended.find(|seen| seen.number == call.number) {
                    seen.outcome = Some(*outcome);
                    if *instead_of == CallOutcome::Unknown {
                        seen.has_background_end = true;
                        seen.ended = self.clock;
                    }
                    self.kinds.waits(seen);
                }
            }
            _ => {}
        }
    }

    fn session(&mut self, session: &SessionFacts) {
        let directory = session.directory.as_deref().filter(|directory| !directory.is_empty());
        if let Some(directory) = directory {
            self.directory = Some(directory.to_owned());
        }
        for (expected, tallies) in &mut self.expected {
            let Question::Calls(pattern) = &expected.question else { continue };
            for tool in session.tools.iter().flatten() {
                pattern.observe_tool(tool, &mut tallies.calls);
            }
        }
    }

    /// What has been seen of a call, with what this event shows.
    fn seen(&mut self, line: u64, half: CallHalf<'_>) -> SeenCall {
        self.clock += 1;
        let number = half.call.number;
        let mut seen =
            self.open.remove(&number).unwrap_or_else(|| SeenCall::new(number, line, self.clock));
        seen.agent_shows_inner = self.shows_inner;
        if self.reads_commands {
            seen.observe_command(half.call);
        }
        if self.compares_paths {
            seen.observe_paths(half, self.directory.as_deref(), &self.kinds);
        }
        let expected = self.expected.iter().map(|(expected, _)| *expected);
        seen.observe(half, self.directory.as_deref(), expected);
        seen
    }

    fn known(&mut self, number: u64) -> Option<&mut SeenCall> {
        if let Some(open) = self.open.get_mut(&number) {
            return Some(open);
        }
        self.ended.iter_mut().rev().find(|seen| seen.number == number)
    }

    fn end(&mut self, mut call: SeenCall) {
        self.clock += 1;
        call.ended = self.clock;
        self.kinds.waits(&call);
        self.ended.push_back(call);
        if self.ended.len() > CALL_ROWS_MAX
            && let Some(call) = self.ended.pop_front()
        {
            self.count(&call);
        }
    }

    fn count(&mut self, call: &SeenCall) {
        let Self { expected, kinds, .. } = self;
        for (number, (expected, tallies)) in expected.iter_mut().enumerate() {
            match &expected.question {
                Question::Calls(pattern) => {
                    pattern.count((call, number), kinds, &mut tallies.calls);
                }
                Question::Writes(_) => {
                    WritePattern::count(call, call.shown(number), &mut tallies.writes);
                }
                Question::Answer(_) | Question::Start(_) => {}
            }
        }
        kinds.count(call);
    }

    pub(crate) fn finish(
        &mut self,
        facts: &RunFacts,
        context: Context,
        found: &mut Vec<Diagnostic>,
    ) {
        while let Some(call) = self.ended.pop_front() {
            self.count(&call);
        }
        for (expected, tallies) in &self.expected {
            let answers = match &expected.question {
                Question::Calls(pattern) => pattern.answers(&tallies.calls, context),
                Question::Writes(pattern) => vec![pattern.answer(&tallies.writes, context)],
                Question::Start(pattern) => {
                    pattern.answer(&tallies.start, context).into_iter().collect()
                }
                Question::Answer(pattern) => {
                    let answer = self.answer.as_ref();
                    let answer = answer.and_then(|it| pattern.answer(it, facts, context));
                    answer.into_iter().collect()
                }
            };
            let is_of_calls =
                matches!(&expected.question, Question::Calls(_) | Question::Writes(_));
            let has_overflowed = context.has_overflowed && is_of_calls;
            let context = Context { has_overflowed, ..context };
            found.extend(diagnostic((&expected.place, &expected.statement), answers, context));
        }
    }
}
