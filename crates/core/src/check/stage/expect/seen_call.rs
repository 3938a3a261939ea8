//! A call, and what the stream shows of it.

use super::Expected;
use super::truth::Truth;
use crate::check::paths::{ResolvedPath, resolved};
use crate::check::{CompletedCall, EventCall};
use crate::profile::{CallKind, CallOutcome};
use serde_json::Value;

/// A call that is open, or has ended.
#[derive(Debug)]
pub(super) struct SeenCall {
    pub(super) number: u64,
    /// The line of its start; without a start, of its completion.
    pub(super) line: u64,
    /// When it started and ended, by a clock that counts events of calls.
    pub(super) started: u64,
    pub(super) ended: u64,
    /// None while it is open, or if it never ended.
    pub(super) outcome: Option<CallOutcome>,
    /// The files that it is about, if an expectation compares them.
    pub(super) paths: Vec<String>,
    /// None if the profile does not know it.
    kind: Option<CallKind>,
    tool: Box<str>,
    /// For each expectation, the answer to its question about text: one event that shows it is
    /// enough. The text itself may be long, and is not kept.
    shown: Vec<Option<Truth>>,
    /// The same for its result.
    output: Vec<Option<Truth>>,
}

impl SeenCall {
    pub(super) fn new(number: u64, line: u64, started: u64) -> Self {
        Self {
            number,
            line,
            started,
            ended: u64::MAX,
            outcome: None,
            paths: Vec::new(),
            kind: None,
            tool: Box::default(),
            shown: Vec::new(),
            output: Vec::new(),
        }
    }

    /// Observes what a half of it shows, in an agent's directory.
    pub(super) fn observe<'e>(
        &mut self,
        (call, arguments): (&EventCall<'_>, Option<&Value>),
        directory: Option<&str>,
        expected: impl Iterator<Item = &'e Expected>,
    ) {
        self.kind = call.kind;
        self.tool = call.tool.as_deref().unwrap_or_default().into();
        let shown = expected.map(|expected| expected.judge(call, arguments, directory));
        let known = std::mem::take(&mut self.shown).into_iter().chain(std::iter::repeat(None));
        self.shown = shown.zip(known).map(|(now, known)| now.max(known)).collect();
    }

    /// Whether its text is as this expectation asks, by the number of the expectation.
    pub(super) fn shown(&self, expectation: usize) -> Truth {
        self.shown.get(expectation).copied().flatten().unwrap_or(Truth::Unknown)
    }

    /// Observes the files that a half of it names.
    pub(super) fn observe_paths(&mut self, call: &EventCall<'_>, directory: Option<&str>) {
        let is_about_file =
            matches!(call.kind, Some(CallKind::Read | CallKind::Write | CallKind::Delete));
        let detail = call.detail.as_deref().filter(|_| call.shows_detail && is_about_file);
        let files = call.files.iter().filter(|_| call.shows_files);
        let mut files: Vec<&str> = files.map(String::as_str).collect();
        if files.is_empty() {
            files.extend(detail.filter(|detail| !detail.is_empty()));
        }
        if !files.is_empty() {
            let path = |file| match resolved(file, directory) {
                ResolvedPath::Known(path) | ResolvedPath::Unclear(path) => path,
            };
            self.paths = files.into_iter().map(path).collect();
        }
    }

    /// Observes its result.
    pub(super) fn observe_output<'e>(
        &mut self,
        completed: &CompletedCall<'_>,
        expected: impl Iterator<Item = &'e Expected>,
    ) {
        self.output = expected.map(|expected| expected.judge_output(completed)).collect();
    }

    /// Whether its result is as this expectation asks, by the number of the expectation.
    pub(super) fn output(&self, expectation: usize) -> Truth {
        self.output.get(expectation).copied().flatten().unwrap_or(Truth::Unknown)
    }

    /// Whether it is of this kind.
    pub(super) fn is_of(&self, kind: CallKind) -> Truth {
        self.kind.map_or(Truth::Unknown, |known| (known == kind).into())
    }

    pub(super) fn is_of_tool(&self, tool: &str) -> Truth {
        match &*self.tool {
            "" => Truth::Unknown,
            name => (name == tool).into(),
        }
    }

    /// Whether it was not carried out at all.
    pub(super) fn was_refused(&self) -> bool {
        matches!(self.outcome, Some(CallOutcome::Rejected | CallOutcome::Denied))
    }

    pub(super) fn succeeded(&self) -> Truth {
        match self.outcome {
            Some(CallOutcome::Succeeded) => Truth::Yes,
            Some(CallOutcome::Unknown) => Truth::Unknown,
            Some(CallOutcome::Failed | CallOutcome::Rejected | CallOutcome::Denied) | None => {
                Truth::No
            }
        }
    }
}
