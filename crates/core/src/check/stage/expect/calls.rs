//! How many calls of a sort there are, and how the last of them ended.

use std::borrow::Cow;

use ndjson_check_shell as shell;
use serde_json::Value;

use super::in_call::{is_in_call, is_in_files};
use super::kinds::KindHistories;
use super::seen_call::{CallHalf, Printed, SeenCall, ShownText};
use super::tool_names::ToolNames;
use super::truth::{Tally, Truth};
use super::{compiled, not_a_pattern};
use crate::check::globs::NameGlob;
use crate::check::{CompletedCall, ExpectedCalls};
use crate::profile::CallKind;
use crate::profile::pattern::{LazyRegex, syntax_error};
use crate::rules::escape::without_colours;

#[derive(Debug)]
pub(super) struct CallPattern {
    pub(super) calls: ExpectedCalls,
    pub(super) tool: Option<NameGlob>,
    matches: Option<LazyRegex>,
    /// Made by [`of_first_words`].
    runs: Option<LazyRegex>,
    except: Option<LazyRegex>,
    /// What the result must show, and must not show.
    prints: Option<LazyRegex>,
    prints_not: Option<LazyRegex>,
    prints_nothing: Option<LazyRegex>,
    /// What of it shows that the command of `runs` succeeded, or failed.
    passed: Option<LazyRegex>,
    failed: Option<LazyRegex>,
}

/// The calls that fit.
#[derive(Debug, Default)]
pub(super) struct CallTally {
    /// Those that may have been carried out, at least in part.
    pub(super) tried: Tally,
    /// Those of them that come where they are looked for, and print what they are looked for.
    pub(super) met: Tally,
    pub(super) succeeded: Tally,
    /// Sub-agents without calls in the stream where such a call is looked for: they may have made
    /// it.
    pub(super) sub_agents: Tally,
    /// Those of them whose calls the agent never shows.
    pub(super) unseen: Tally,
    /// Whether the last one succeeded, and meets the conditions. Of calls that overlap, the worst
    /// counts.
    pub(super) last: Truth,
    /// What is wrong with it, if it does not.
    pub(super) last_fault: LastFault,
    pub(super) last_line: u64,
    /// When it ended, by both clocks of [`SeenCall`].
    last_ended: (u64, Option<f64>),
    /// What it did, if an event shows it.
    pub(super) last_detail: Box<str>,
    /// Other commands that printed what such a command prints when it succeeds.
    pub(super) alike: Tally,
    /// Those without the call that they require.
    pub(super) unprepared: Tally,
    pub(super) tools: ToolNames,
}

impl CallTally {
    fn overlaps_last(&self, call: &SeenCall) -> bool {
        let (ended, ended_ms) = self.last_ended;
        let start_ms = call.times.map(|(start, _)| start);
        call.started < ended || start_ms.zip(ended_ms).is_some_and(|(start, end)| start < end)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum LastFault {
    #[default]
    Failed,
    NeverEnded,
    Refused,
    /// It comes before this line, on which the last call of another kind starts.
    TooEarly(u64),
    /// A call of another kind, which started on this line, had not ended when it started.
    Overlaps(u64),
    /// It comes after this line, on which the first call of another kind starts.
    TooLate(u64),
    /// Its output shows that it did nothing.
    Nothing,
    /// Its output is not as it must be.
    Output,
    /// The stream does not show how it ended.
    NotShown,
    /// Its exit status is 0, but its output shows a failure.
    Contradicted,
    /// Its exit status is not that of the command, which may not have run.
    HiddenExit,
}

/// Whether a command goes on after its call has ended: all agents say so by an argument whose name
/// ends in this word.
fn is_in_background(arguments: Option<&Value>) -> bool {
    let mut members = arguments.and_then(Value::as_object).into_iter().flatten();
    members.any(|(name, value)| {
        name.to_lowercase().ends_with("background") && *value == Value::Bool(true)
    })
}

/// A pattern for the first words of a command.
fn of_first_words(words: &str) -> String {
    // A comment would go on to the end of the pattern.
    let is_flag = |it: char| it.is_ascii_alphabetic();
    let group = words.trim_start().strip_prefix("(?").unwrap_or_default();
    let behind = group.trim_start_matches(is_flag);
    let has_x = group[..group.len() - behind.len()].contains('x');
    let end = if has_x && behind.starts_with([')', '-']) { "\n" } else { "" };
    format!(r"\A(?:{words}{end})(?:\s|\z)")
}

/// Without the escape sequences that colour a text, and with line feeds alone at its line ends.
fn plain_text(text: &str) -> Cow<'_, str> {
    let text = without_colours(text);
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { text }
}

impl CallPattern {
    pub(super) fn new(calls: ExpectedCalls) -> Result<Self, String> {
        calls.check()?;
        let pattern = |text: &Option<String>| text.as_deref().map(compiled).transpose();
        let tool = calls.tool.as_deref().map(NameGlob::new).transpose()?;
        let matches = pattern(&calls.matches)?;
        // Inside another pattern, `a)(b` would pass.
        if let Some(error) = calls.runs.as_deref().and_then(syntax_error) {
            return Err(not_a_pattern(&error));
        }
        let runs = pattern(&calls.runs.as_deref().map(of_first_words))?;
        let except = pattern(&calls.except)?;
        let (prints, prints_not) = (pattern(&calls.output_matches)?, pattern(&calls.output_never)?);
        let prints_nothing = pattern(&calls.output_nothing)?;
        let (passed, failed) = (pattern(&calls.output_passed)?, pattern(&calls.output_failed)?);
        Ok(Self {
            calls,
            tool,
            matches,
            runs,
            except,
            prints,
            prints_not,
            prints_nothing,
            passed,
            failed,
        })
    }

    /// Whether the detail matches, if this half of a call has one and a pattern is set.
    pub(super) fn judge(&self, half: CallHalf<'_>) -> Option<ShownText> {
        let CallHalf { call, arguments, changes } = half;
        let kind = self.calls.kind;
        let in_files = self
            .matches
            .as_ref()
            .and_then(|pattern| is_in_files(&|text| pattern.is_in(text), kind, call, changes));
        if !call.shows_detail || self.matches.is_none() && self.runs.is_none() {
            return in_files.map(ShownText::from);
        }
        let matches = self.matches.as_ref().map_or(Truth::Yes, |pattern| {
            // Some agents wrap each command: `bash -lc 'git push'`.
            let is_command = call.kind == Some(CallKind::Command);
            let is_in = |text: &str| {
                let inner = || is_command.then(|| shell::inner_line(text)).flatten();
                pattern.is_in(text) || inner().is_some_and(|it| pattern.is_in(&it))
            };
            in_files.unwrap_or_else(|| is_in_call(&is_in, call, arguments))
        });
        let Some(runs) = &self.runs else { return Some(matches.into()) };
        let is_excepted =
            |text: &str| self.except.as_ref().is_some_and(|pattern| pattern.is_in(text));
        let is_meant = |text: &str| runs.is_in(text) && !is_excepted(text);
        let run_in = |line: &str| shell::run_of(line, is_meant);
        let is_run = is_in_call(&|text| run_in(text).is_some(), call, arguments);
        let line = call.detail.as_deref().unwrap_or_default();
        let mut run = run_in(line);
        if let Some(run) = &mut run {
            // `npm test; echo "3 tests passed"`
            run.is_filtered |= self.passed.as_ref().is_some_and(|pattern| pattern.is_in(line));
        }
        let is_in_background = run.is_some() && is_in_background(arguments);
        Some(ShownText { is_so: matches.min(is_run), run, is_in_background })
    }

    pub(super) fn judge_output(&self, call: &CompletedCall<'_>) -> Option<Printed> {
        let texts = [&call.result, &call.stdout, &call.stderr];
        let texts: Vec<_> = texts.into_iter().flatten().map(|it| plain_text(it)).collect();
        let is_in = |pattern: &LazyRegex| texts.iter().any(|text| pattern.is_in(text));
        let has = |pattern: &Option<LazyRegex>| pattern.as_ref().is_some_and(is_in);
        let nothing = self.prints_nothing.as_ref().filter(|it| is_in(it) && !has(&self.passed));
        // What the group `whole` matches may be the end of a longer output.
        let is_nothing = nothing.map_or(Truth::No, |pattern| {
            let is_sure =
                |text: &str| pattern.is_in(text) && pattern.group(text, "whole").is_none();
            if texts.iter().any(|it| is_sure(it)) { Truth::Yes } else { Truth::Unknown }
        });
        // The part that is missing may have it, too.
        let otherwise = if call.has_cut_result { Truth::Unknown } else { Truth::No };
        let shows = |pattern: &LazyRegex| if is_in(pattern) { Truth::Yes } else { otherwise };
        let prints = self.prints.as_ref().map_or(Truth::Yes, shows);
        let is_met = self.prints_not.as_ref().map_or(prints, |it| prints.min(shows(it).negated()));
        let passed = match () {
            () if has(&self.failed) => Truth::No,
            () if has(&self.passed) => Truth::Yes,
            () => Truth::Unknown,
        };
        let is_shown = !texts.is_empty() || call.has_blank_result;
        is_shown.then_some(Printed { is_met, is_nothing, passed })
    }

    fn judges_output(&self) -> bool {
        self.prints.is_some() || self.prints_not.is_some() || self.prints_nothing.is_some()
    }

    pub(super) fn forbids(&self) -> bool {
        self.calls.at_most.is_some()
    }

    pub(super) fn compares_paths(&self) -> bool {
        self.calls.requires.is_some()
    }

    /// The kinds of calls whose order matters.
    pub(super) fn kinds(&self) -> impl Iterator<Item = CallKind> {
        let ExpectedCalls { after, before, requires, .. } = self.calls;
        [after, before, requires].into_iter().flatten()
    }

    pub(super) fn is_about_files(&self) -> bool {
        self.kinds().chain(self.calls.kind).any(CallKind::changes_files)
    }

    /// Whether this call is expected; `shown` says whether its detail matches.
    fn fits(&self, call: &SeenCall, shown: Truth) -> Truth {
        let kind = self.calls.kind.or(self.runs.as_ref().map(|_| CallKind::Command));
        let kind = kind.map_or(Truth::Yes, |kind| call.is_of(kind));
        let tool = self.tool.as_ref().map_or(Truth::Yes, |tool| call.is_of_tool(tool));
        let has_text = self.matches.is_some() || self.runs.is_some();
        kind.min(tool).min(if has_text { shown } else { Truth::Yes })
    }

    /// A tool that the run has.
    pub(super) fn observe_tool(&self, name: &str, tally: &mut CallTally) {
        if let Some(wanted) = &self.tool {
            tally.tools.observe(name, wanted);
        }
    }

    /// `number` is that of the expectation.
    pub(super) fn count(
        &self,
        (call, number): (&SeenCall, usize),
        kinds: &KindHistories,
        tally: &mut CallTally,
    ) {
        let ExpectedCalls { after, before, requires, .. } = self.calls;
        self.observe_tool(&call.tool, tally);
        let fits = self.fits(call, call.shown(number));
        // `sed -i p a.js && npm test` does not come before its own write.
        let is_own = fits == Truth::Yes && call.edits_only_before(number);
        let place = |kind: Option<CallKind>, is_so: &dyn Fn(CallKind) -> Truth| {
            kind.map_or(Truth::Yes, is_so)
        };
        let after = place(after, &|kind| kinds.is_after(kind, call));
        let before = place(before, &|kind| kinds.is_before(kind, call));
        let output = if self.judges_output() { call.output(number) } else { Truth::Yes };
        let succeeded = call.did_succeed(number);
        let is_met = after.min(before).min(output);
        if !call.was_refused() {
            if call.hides_calls() && fits == Truth::No {
                tally.sub_agents.add_call(after.min(before), call);
                let may_do_more = Truth::from(call.may_do_more());
                tally.unseen.add_call(after.min(before).min(may_do_more), call);
            }
            tally.tried.add_call(fits, call);
            tally.met.add_call(fits.min(is_met), call);
            if let Some(kind) = requires {
                let is_unprepared = kinds.has_same_path(kind, call).negated();
                tally.unprepared.add_call(fits.min(is_unprepared), call);
            }
        }
        tally.succeeded.add_call(fits.min(is_met).min(succeeded), call);
        if fits == Truth::No && self.runs.is_some() && call.printed_success(number) {
            tally.alike.add_call(after.min(before), call);
        }
        let is_good = is_met.min(succeeded);
        let last = match fits {
            Truth::Yes => is_good,
            Truth::Unknown if tally.last != is_good => Truth::Unknown,
            Truth::Unknown | Truth::No => return self.discard_earlier((call, is_own), tally),
        };
        let hides_last = tally.last < last && tally.last_fault != LastFault::Refused;
        if hides_last && tally.overlaps_last(call) {
            return self.discard_earlier((call, is_own), tally);
        }
        (tally.last, tally.last_line, tally.last_ended) = (last, call.line, call.end());
        tally.last_detail = call.detail.clone();
        let met = [after, before, output, succeeded];
        tally.last_fault = self.fault_of((call, number), kinds, met);
        self.discard_earlier((call, is_own), tally);
    }

    /// What is wrong with a call of which `met` says whether it comes after, and before, what it
    /// must, whether its output is as it must be, and whether it succeeded.
    fn fault_of(
        &self,
        (call, number): (&SeenCall, usize),
        kinds: &KindHistories,
        met: [Truth; 4],
    ) -> LastFault {
        let [after, before, output, succeeded] = met;
        match () {
            () if call.was_refused() => LastFault::Refused,
            () if call.outcome.is_none() => LastFault::NeverEnded,
            () if succeeded == Truth::No => LastFault::Failed,
            () if output == Truth::No && call.printed_nothing(number) => LastFault::Nothing,
            () if output == Truth::No => LastFault::Output,
            () if before == Truth::No => {
                LastFault::TooLate(self.calls.before.map_or(0, |kind| kinds.first_line(kind)))
            }
            () if after == Truth::Unknown
                && self.calls.after.is_some_and(|kind| kinds.overlaps(kind, call)) =>
            {
                LastFault::Overlaps(self.calls.after.map_or(0, |kind| kinds.last_line(kind)))
            }
            () if after == Truth::No || succeeded != Truth::Unknown => {
                LastFault::TooEarly(self.calls.after.map_or(0, |kind| kinds.last_line(kind)))
            }
            () if call.hides_exit(number) => LastFault::HiddenExit,
            () if call.is_contradicted(number) => LastFault::Contradicted,
            () => LastFault::NotShown,
        }
    }

    /// Calls before this one are not after the last call of its kind.
    fn discard_earlier(&self, (call, is_own): (&SeenCall, bool), tally: &mut CallTally) {
        let Some(kind) = self.calls.after.filter(|_| !call.was_refused() && !is_own) else {
            return;
        };
        let is_other = call.acted_as(kind);
        let CallTally { met, succeeded, sub_agents, unseen, alike, .. } = tally;
        for counted in [met, succeeded, sub_agents, unseen, alike] {
            counted.discard_if(is_other);
        }
        let most = is_other.negated();
        if most < tally.last {
            (tally.last, tally.last_fault) = (most, LastFault::TooEarly(call.line));
        } else if most == Truth::No
            && let LastFault::TooEarly(line) = &mut tally.last_fault
        {
            *line = call.line;
        }
    }
}
