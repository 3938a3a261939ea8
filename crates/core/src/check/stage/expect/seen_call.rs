//! A call, and what the stream shows of it.

use super::Expected;
use super::kinds::{FileName, KindHistories, SeenPath};
use super::truth::Truth;
use crate::check::globs::NameGlob;
use crate::check::stage::calls::ROW_DETAIL_BYTES_MAX;
use crate::check::{CompletedCall, EventCall};
use crate::profile::{CallKind, CallOutcome, ChangeKind, FileChange};
use crate::rules::escape::clipped;
use ndjson_check_shell::{ExitShown, FileEffects, ShellRun, file_effects, is_temporary};
use serde_json::Value;

/// What a call answers to an expectation's question about its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ShownText {
    pub(super) is_so: Truth,
    /// How it runs the command that is asked for.
    pub(super) run: Option<ShellRun>,
    /// Whether that command goes on after the call.
    pub(super) is_in_background: bool,
}

impl From<Truth> for ShownText {
    fn from(is_so: Truth) -> Self {
        Self { is_so, run: None, is_in_background: false }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Printed {
    pub(super) is_met: Truth,
    /// Whether the result shows that nothing was done; unknown, if only a whole result would.
    pub(super) is_nothing: Truth,
    pub(super) passed: Truth,
}

/// Endings of files that no test depends on.
const NOTES: &[&str] = &[".log", ".md", ".txt"];

/// Whether a change is not of a new file.
fn shows_old(change: &FileChange) -> bool {
    let has_old = change.old.as_ref().is_some_and(|old| !old.is_empty());
    has_old
        || change.kind.is_some_and(|kind| kind != ChangeKind::Added)
        || change.removed.is_some_and(|lines| lines > 0)
}

/// Whether arguments have a text that an edit replaces.
fn names_old(arguments: &Value) -> bool {
    let names = arguments.as_object().into_iter().flat_map(|it| it.keys());
    let names: Vec<String> = names.map(|name| name.to_lowercase()).collect();
    names.iter().any(|name| ["old", "edits", "patch", "diff"].iter().any(|it| name.contains(it)))
}

/// What one event shows of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallHalf<'a> {
    pub(super) call: &'a EventCall<'a>,
    pub(super) arguments: Option<&'a Value>,
    pub(super) changes: &'a [FileChange],
}

#[derive(Debug, Default)]
pub(super) struct SeenCall {
    pub(super) number: u64,
    /// The line of its start; without a start, of its completion.
    pub(super) line: u64,
    /// When it started and ended, by a clock that counts events of calls.
    pub(super) started: u64,
    pub(super) ended: u64,
    /// The same by the agent's clock in milliseconds, if it says both at the end. Where the stream
    /// shows no start, only this shows whether two calls overlapped.
    pub(super) times: Option<(f64, f64)>,
    /// None while it is open, or if it never ended.
    pub(super) outcome: Option<CallOutcome>,
    /// Whether its work goes on, so that its result may be only the beginning.
    still_runs: bool,
    /// Whether the outcome is that of its work in the background.
    pub(super) has_background_end: bool,
    /// Whether the stream shows calls inside it.
    pub(super) shows_inner: bool,
    /// Whether the agent shows the calls of its sub-agents.
    pub(super) agent_shows_inner: bool,
    /// The files that it is about, if an expectation compares them.
    pub(super) paths: Vec<SeenPath>,
    /// Those of them that it has created.
    pub(super) created: Vec<SeenPath>,
    /// None if the profile does not know it.
    kind: Option<CallKind>,
    /// If it is a command: what that may do to files.
    may: FileEffects,
    /// Whether it has deleted a file among others.
    deletes: bool,
    /// Whether all files that it names are temporary notes.
    is_temporary: bool,
    /// Whether the stream shows that the files were there before.
    shows_old: bool,
    /// If it is a command: the files that it may name, if an expectation compares paths.
    pub(super) words: Vec<FileName>,
    pub(super) tool: Box<str>,
    /// What it does, such as its command or path; its start, if it is long.
    pub(super) detail: Box<str>,
    /// For each expectation, the answer to its question about text: one event that shows it is
    /// enough. The text itself may be long, and is not kept.
    shown: Vec<Option<ShownText>>,
    /// The same for its result.
    output: Vec<Option<Printed>>,
}

impl SeenCall {
    pub(super) fn new(number: u64, line: u64, started: u64) -> Self {
        Self { number, line, started, ended: u64::MAX, ..Self::default() }
    }

    /// When it ended, by both clocks.
    pub(super) fn end(&self) -> (u64, Option<f64>) {
        (self.ended, self.times.map(|(_, end)| end))
    }

    pub(super) fn observe<'e>(
        &mut self,
        half: CallHalf<'_>,
        directory: Option<&str>,
        expected: impl Iterator<Item = &'e Expected>,
    ) {
        let CallHalf { call, changes, .. } = half;
        self.kind = call.kind;
        self.tool = call.tool.as_deref().unwrap_or_default().into();
        let detail = call.detail.as_deref().unwrap_or_default();
        if call.files.len() > 1 {
            // It names one of the files, which may not be the one that matters.
            self.detail = Box::default();
        } else if !detail.is_empty() {
            self.detail = clipped(detail, ROW_DETAIL_BYTES_MAX).into();
        }
        let is_deletion = |change: &FileChange| change.kind == Some(ChangeKind::Deleted);
        self.deletes |= call.deletes || changes.iter().any(is_deletion);
        self.shows_old |= changes.iter().any(shows_old) || half.arguments.is_some_and(names_old);
        if call.shows_files {
            // Where the agent's directory is not known, it may be a temporary one.
            let is_elsewhere = directory.is_some_and(|it| !is_temporary(it));
            let is_note =
                |it: &String| is_temporary(it) && NOTES.iter().any(|end| it.ends_with(end));
            let are_notes = !call.files.is_empty() && call.files.iter().all(is_note);
            self.is_temporary = is_elsewhere && are_notes;
        }
        let shown = expected.map(|expected| expected.judge(half, directory));
        let known = std::mem::take(&mut self.shown).into_iter().chain(std::iter::repeat(None));
        // What was changed says more than what was asked for.
        let is_known = changes.is_empty();
        let best = |(now, known): (Option<_>, Option<_>)| {
            if is_known { now.max(known) } else { now.or(known) }
        };
        self.shown = shown.zip(known).map(best).collect();
    }

    /// Whether its text is as this expectation asks, by the number of the expectation.
    pub(super) fn shown(&self, expectation: usize) -> Truth {
        self.run_of(expectation).map_or(Truth::Unknown, |shown| shown.is_so)
    }

    fn run_of(&self, expectation: usize) -> Option<ShownText> {
        self.shown.get(expectation).copied().flatten()
    }

    /// A command may do what a call that writes or deletes does.
    pub(super) fn observe_command(&mut self, call: &EventCall<'_>) {
        let command = call.detail.as_deref().filter(|_| call.kind == Some(CallKind::Command));
        let effects = command.map(file_effects).unwrap_or_default();
        self.may.writes |= effects.writes;
        self.may.deletes |= effects.deletes;
    }

    pub(super) fn observe_paths(
        &mut self,
        CallHalf { call, changes, .. }: CallHalf<'_>,
        directory: Option<&str>,
        kinds: &KindHistories,
    ) {
        if call.kind == Some(CallKind::Command) && call.shows_detail {
            self.words = kinds.words(call.detail.as_deref().unwrap_or_default());
        }
        let seen = |file: &str| kinds.seen_path(file, directory);
        let created = changes.iter().filter(|change| change.kind == Some(ChangeKind::Added));
        self.created.extend(created.map(|change| seen(&change.path)));
        let is_about_file =
            matches!(call.kind, Some(CallKind::Read | CallKind::Write | CallKind::Delete));
        let detail = call.detail.as_deref().filter(|_| call.shows_detail && is_about_file);
        let files = call.files.iter().filter(|_| call.shows_files);
        let mut files: Vec<&str> = files.map(String::as_str).collect();
        if files.is_empty() {
            files.extend(detail.filter(|detail| !detail.is_empty()));
        }
        let named: Vec<&str> = files.clone();
        // The result may name a file of the arguments relative to a directory that is not known.
        let is_end_of = |file: &str, other: &str| {
            other.strip_suffix(file).is_some_and(|folder| folder.ends_with(['/', '\\']))
        };
        files.retain(|file| directory.is_some() || !named.iter().any(|it| is_end_of(file, it)));
        if !files.is_empty() {
            self.paths = files.into_iter().map(seen).collect();
        }
    }

    pub(super) fn observe_output<'e>(
        &mut self,
        completed: &CompletedCall<'_>,
        expected: impl Iterator<Item = &'e Expected>,
    ) {
        self.times = completed.times;
        self.still_runs = completed.still_runs;
        self.output = expected.map(|expected| expected.judge_output(completed)).collect();
    }

    /// Whether its result is as this expectation asks, by the number of the expectation.
    pub(super) fn output(&self, expectation: usize) -> Truth {
        let does_something = (!self.printed_nothing(expectation)).into();
        self.printed(expectation).map_or(Truth::Unknown, |it| it.is_met.min(does_something))
    }

    pub(super) fn printed_nothing(&self, expectation: usize) -> bool {
        let is_whole = |run: ShellRun| run.exit != ExitShown::Nothing && !run.is_cut;
        match self.printed(expectation).map(|printed| printed.is_nothing) {
            Some(Truth::Yes) => true,
            Some(Truth::Unknown) => self.shell_run(expectation).is_none_or(is_whole),
            Some(Truth::No) | None => false,
        }
    }

    fn printed(&self, expectation: usize) -> Option<Printed> {
        self.output.get(expectation).copied().flatten()
    }

    /// Whether it edits files, but not after the command that this expectation asks for.
    pub(super) fn edits_only_before(&self, expectation: usize) -> bool {
        self.may.writes && !self.shell_run(expectation).is_some_and(|run| run.is_edited_after)
    }

    /// Whether its exit status says nothing of the command that this expectation asks for.
    pub(super) fn hides_exit(&self, expectation: usize) -> bool {
        let run = self.shell_run(expectation);
        run.is_some_and(|run| run.exit == ExitShown::Nothing || run.may_be_skipped)
    }

    /// Whether its exit status is 0, but its output shows a failure: `"test": "jest || true"`.
    pub(super) fn is_contradicted(&self, expectation: usize) -> bool {
        let has_failed = self.printed(expectation).is_some_and(|it| it.passed == Truth::No);
        let is_alone = self.shell_run(expectation).is_some_and(|run| !run.is_cut);
        self.succeeded() == Truth::Yes && has_failed && is_alone
    }

    /// Whether it is a command whose output shows a success.
    pub(super) fn printed_success(&self, expectation: usize) -> bool {
        let has_passed = self.printed(expectation).is_some_and(|it| it.passed == Truth::Yes);
        self.kind == Some(CallKind::Command) && self.succeeded() == Truth::Yes && has_passed
    }

    fn shell_run(&self, expectation: usize) -> Option<ShellRun> {
        let ShownText { run, is_in_background, .. } = self.run_of(expectation)?;
        let hides_exit = is_in_background && !self.has_background_end;
        run.map(|run| if hides_exit { ShellRun { exit: ExitShown::Nothing, ..run } } else { run })
    }

    /// Whether the command that this expectation asks for succeeded; without one, the call.
    pub(super) fn did_succeed(&self, expectation: usize) -> Truth {
        let succeeded = self.succeeded();
        let has_ended = !self.was_refused() && self.outcome.is_some();
        let run = self.shell_run(expectation);
        let Some(run) = run.filter(|_| has_ended) else { return succeeded };
        let passed = match self.printed(expectation).map(|printed| printed.passed) {
            Some(Truth::Yes) if !run.is_filtered && !self.still_runs => Truth::Yes,
            Some(Truth::No) => Truth::No,
            _ => Truth::Unknown,
        };
        match (run.exit, succeeded) {
            (_, Truth::Yes) if run.may_be_skipped => passed,
            (ExitShown::Own | ExitShown::IfItSucceeds, Truth::Yes)
                if self.is_contradicted(expectation) =>
            {
                Truth::Unknown
            }
            (ExitShown::Own, Truth::Yes | Truth::No) | (ExitShown::IfItSucceeds, Truth::Yes) => {
                succeeded
            }
            // A later command of the line may have failed.
            (ExitShown::IfItSucceeds, Truth::No) if passed != Truth::Yes => Truth::No,
            (ExitShown::Own | ExitShown::IfItSucceeds | ExitShown::Nothing, _) => passed,
        }
    }

    pub(super) fn is_of(&self, kind: CallKind) -> Truth {
        let may_be = match kind {
            CallKind::Write => self.may.writes,
            CallKind::Delete => self.may.deletes,
            _ => false,
        };
        if may_be {
            return Truth::Unknown;
        }
        let deletes = kind == CallKind::Delete && self.deletes;
        self.kind.map_or(Truth::Unknown, |known| (known == kind || deletes).into())
    }

    pub(super) fn is_of_tool(&self, tool: &NameGlob) -> Truth {
        match &*self.tool {
            "" => Truth::Unknown,
            name => tool.is_for(name).into(),
        }
    }

    /// Whether it is a sub-agent whose calls the stream does not show.
    pub(super) fn hides_calls(&self) -> bool {
        self.kind == Some(CallKind::Task) && !self.shows_inner
    }

    /// The same, if the agent's streams never show such calls.
    pub(super) fn may_do_more(&self) -> bool {
        self.hides_calls() && !self.agent_shows_inner && self.succeeded() != Truth::No
    }

    /// Whether the file that it wrote may be new.
    pub(super) fn may_create(&self) -> bool {
        self.succeeded() == Truth::Yes && !self.shows_old
    }

    /// Whether it did what calls of this kind do. A write that failed may have changed a part of a
    /// file, or nothing. Temporary files do not count.
    pub(super) fn acted_as(&self, kind: CallKind) -> Truth {
        if kind.changes_files() && (self.may_do_more() || self.is_temporary) {
            return if self.is_temporary { Truth::No } else { Truth::Unknown };
        }
        let is_in_doubt = kind.changes_files() && self.outcome == Some(CallOutcome::Failed);
        self.is_of(kind).min(if is_in_doubt { Truth::Unknown } else { Truth::Yes })
    }

    /// Whether it was not carried out at all.
    pub(super) fn was_refused(&self) -> bool {
        self.outcome.is_some_and(CallOutcome::is_refusal)
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
