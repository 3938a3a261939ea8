//! What the end of a run says of its calls: which are open, and which limits they reached.

use std::collections::BTreeSet;
use std::time::Duration;

use super::call_name::named;
use super::{CALLS_NAMED_MAX, CallCounts, CallTable, OpenCall, ToolCall};
use crate::check::end_of_run::duration;
use crate::check::{Bound, CallChange, CallUpdate, Note};
use crate::facts::BoundedId;
use crate::limits::CALL_ROWS_MAX;
use crate::profile::OpenAtEnd;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// One or two calls of a good run may fail: a file is not there, or a search finds nothing.
const FAILED_CALLS_MIN: u64 = 3;

impl<'p> CallTable<'p> {
    /// The open calls, in the order of their starts.
    fn open_calls(&self) -> Vec<&OpenCall> {
        let mut open: Vec<_> = self.open.values().collect();
        open.sort_by_key(|open| open.number);
        open
    }

    /// The calls that are open where a turn or the stream ends.
    pub(crate) fn unfinished(&self) -> Vec<CallUpdate<'p>> {
        let open = self.open_calls().into_iter();
        open.map(|open| self.update_of(open, CallChange::Unfinished)).collect()
    }

    /// What becomes of an open call where another event, or the end, decides it.
    pub(super) fn update_of(&self, open: &OpenCall, change: CallChange) -> CallUpdate<'p> {
        let id = open.id.as_str().to_owned().into();
        let mut update = CallUpdate::of_other_event(change, open.number, id, self.rules);
        (update.start, update.parent) = (Some(open.start), open.parent);
        update.action = self.actions.of_open(&open.action);
        update
    }

    /// Whether a call of one of these tools is open.
    pub(crate) fn are_open(&self, tools: &[String]) -> bool {
        let is_one = |open: &OpenCall| open.tool.as_ref().is_some_and(|tool| tools.contains(tool));
        !tools.is_empty() && self.open.values().any(is_one)
    }

    pub(crate) fn is_open(&self, id: &BoundedId) -> bool {
        self.open.values().any(|open| open.id == *id)
    }

    /// Whether a call is open that must not be open where the run ends.
    pub(crate) fn is_unfinished(&self) -> bool {
        let must_all_end = !matches!(self.rules.open_at_end, OpenAtEnd::Allowed);
        must_all_end && self.untracked_calls.count() > 0
            || self.open.values().any(|open| self.must_end(open))
    }

    fn must_end(&self, open: &OpenCall) -> bool {
        match &self.rules.open_at_end {
            OpenAtEnd::Error => true,
            OpenAtEnd::Allowed => false,
            OpenAtEnd::AllowedFor(tools) => {
                !open.tool.as_ref().is_some_and(|tool| tools.contains(tool))
            }
        }
    }

    /// Reports each call that is open where the run has ended, and must not be.
    pub(crate) fn report_open(&self, line: u64, offset: u64, found: &mut Vec<Diagnostic>) {
        if !self.is_unfinished() {
            return;
        }
        for open in self.open_calls().into_iter().filter(|open| self.must_end(open)) {
            let name = named(open.tool.as_deref(), &open.id);
            let message = format!("{name} was still open when the run ended");
            let diagnostic = Diagnostic::new(Rule::UnfinishedCall, message)
                .of_call(open.id.as_str())
                .related(open.start.line);
            found.push(diagnostic.at(line, offset));
        }
        let more = self.untracked_calls.count();
        if more > 0 {
            let message = format!("{more} more tool calls were still open when the run ended");
            found.push(Diagnostic::new(Rule::UnfinishedCall, message).at(line, offset));
        }
    }

    pub(crate) fn open_in_turn(&self) -> u64 {
        self.counts.unfinished - self.open_in_earlier_turns
    }

    /// The open calls as a clause; nothing if there are none.
    pub(crate) fn open_summary(&self) -> Option<String> {
        self.open_summary_with(&[])
    }

    /// The same, with how long the calls of these lines have been open.
    pub(crate) fn open_summary_with(&self, ages: &[(u64, Duration)]) -> Option<String> {
        let open = self.open_calls();
        let named = open.iter().take(CALLS_NAMED_MAX);
        let mut named: Vec<String> =
            named.map(|open| since(open.shown(), open.start.line, ages)).collect();
        let total = self.open_in_turn();
        if total > named.len() as u64 {
            named.push(format!("{} more", total - named.len() as u64));
        }
        let calls = if total == 1 { "tool call" } else { "tool calls" };
        (total > 0).then(|| format!("{total} open {calls}: {}", named.join(", ")))
    }

    /// The calls of these lines that ended when the command was stopped, as a clause; nothing if
    /// there are none.
    pub(crate) fn ended_summary(&self, ages: &[(u64, Duration)]) -> Option<String> {
        let lines: BTreeSet<u64> = ages.iter().map(|(line, _)| *line).collect();
        let ended = lines.into_iter().flat_map(|line| {
            let were_open = ages.iter().filter(|(of, _)| *of == line).count();
            let are_open = self.open.values().filter(|open| open.start.line == line).count();
            let ended = self.rows.last_ended(line, were_open.saturating_sub(are_open));
            ended.into_iter().map(move |row| since(row.shown(), line, ages))
        });
        let mut named: Vec<String> = ended.collect();
        let (total, more) = (named.len(), named.len().saturating_sub(CALLS_NAMED_MAX));
        named.truncate(CALLS_NAMED_MAX);
        named.extend((more > 0).then(|| format!("{more} more")));
        let calls = if total == 1 { "tool call was" } else { "tool calls were" };
        (total > 0).then(|| format!("{total} {calls} open: {}", named.join(", ")))
    }

    /// The call that started in this line, as a message names it: one that is open, if there is
    /// one.
    pub(crate) fn named_at(&self, line: u64) -> String {
        let open = self.open.values().find(|open| open.start.line == line);
        let ended = || self.rows.last_ended(line, 1).pop().map(ToolCall::shown);
        match open.map(OpenCall::shown).or_else(ended) {
            Some((tool, Some(detail))) => format!("the {tool} call {detail} since line {line}"),
            Some((tool, None)) => format!("the {tool} call since line {line}"),
            None => format!("the call since line {line}"),
        }
    }

    /// Reported where a run succeeded: there were calls, and each was refused.
    pub(crate) fn all_refused(&self) -> Option<Diagnostic> {
        let CallCounts { total, rejected, denied, .. } = self.counts;
        // Where only refused calls are named, others may have succeeded.
        if !self.shows_calls || total == 0 || total != rejected + denied {
            return None;
        }
        let calls = if total == 1 { "its tool call was" } else { "all its tool calls were" };
        let message = format!("the run succeeded although {calls} refused");
        let diagnostic = Diagnostic::new(Rule::AllCallsRefused, message);
        // No flag answers a question.
        let only_asked = self.actions.questions == total;
        Some(match &self.rules.allow_with {
            _ if only_asked => diagnostic
                .note("it only asked, and no user could answer: put the answers into the prompt"),
            Some(flag) => {
                diagnostic.note(format!("{flag} allows tools, unless a hook or a rule denies them"))
            }
            None => diagnostic,
        })
    }

    /// Reports that no call succeeded, of several that failed.
    pub(crate) fn all_failed(&self) -> Option<Diagnostic> {
        let CallCounts { total, failed, rejected, denied, .. } = self.counts;
        if failed < FAILED_CALLS_MIN || total != failed + rejected + denied {
            return None;
        }
        let message = format!("the run succeeded although all {total} tool calls failed");
        let message = match rejected + denied {
            0 => message,
            refused => format!("{message} or were refused ({failed} failed, {refused} refused)"),
        };
        Some(Diagnostic::new(Rule::AllCallsFailed, message))
    }

    pub(super) fn describe_open(&mut self) {
        let rows = &mut self.rows;
        self.open.values().for_each(|open| rows.describe(open.number, open.action.detail()));
    }

    /// The calls, in the order in which they appeared; at most [`CALL_ROWS_MAX`].
    pub(crate) fn take_rows(&mut self) -> Vec<ToolCall> {
        self.describe_open();
        self.rows.take()
    }

    /// Whether more calls were open at once than are followed.
    pub(crate) fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        let has_more_rows = self.counts.total > CALL_ROWS_MAX as u64;
        let has_forgotten = self.has_forgotten || self.has_forgotten_before;
        let is_over = self.has_overflowed || has_forgotten;
        let calls = is_over.then_some(Note::LimitReached(Bound::Calls));
        let rows = has_more_rows.then_some(Note::LimitReached(Bound::ToolCalls));
        calls.into_iter().chain(rows).collect()
    }
}

/// A call with its line, and its age if that is known: `Bash npm test since line 3 (5s)`.
fn since((tool, detail): (String, Option<String>), line: u64, ages: &[(u64, Duration)]) -> String {
    let detail = detail.map(|it| format!(" {it}")).unwrap_or_default();
    let age = ages.iter().find(|(of, age)| *of == line && age.as_secs() > 0);
    let age = age.map(|(_, age)| Duration::from_secs(age.as_secs()));
    let age = age.map(|age| format!(" ({})", duration(age))).unwrap_or_default();
    format!("{tool}{detail} since line {line}{age}")
}
