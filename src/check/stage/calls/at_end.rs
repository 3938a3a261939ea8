//! The calls that are open where a run ends.

use super::call_name::named;
use super::{CallTable, OpenCall};
use crate::limits::CALLS_NAMED_MAX;
use crate::profile::OpenAtEnd;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::shown;

impl CallTable<'_> {
    /// The open calls, in the order of their starts.
    fn open_calls(&self) -> Vec<&OpenCall> {
        let mut open: Vec<_> = self.open.values().collect();
        open.sort_by_key(|open| open.number);
        open
    }

    /// Whether a call is open that must not be open where the run ends.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.rules.open_at_end == OpenAtEnd::Error && self.open_in_turn() > 0
    }

    /// Reports each call that is open where the run has ended, if none may be.
    pub(crate) fn report_open(&self, line: u64, offset: u64, found: &mut Vec<Diagnostic>) {
        if !self.is_unfinished() {
            return;
        }
        for open in self.open_calls() {
            let name = named(open.tool.as_deref(), &open.id);
            let message = format!("the run ended, but {name} was never completed");
            let diagnostic = Diagnostic::new(Rule::UnfinishedCall, message).related(open.line);
            found.push(diagnostic.at(line, offset));
        }
        let more = self.untracked();
        if more > 0 {
            let message = format!("the run ended, but {more} more tool calls were never completed");
            found.push(Diagnostic::new(Rule::UnfinishedCall, message).at(line, offset));
        }
    }

    /// Open calls that there was no room to follow.
    pub(super) fn untracked(&self) -> u64 {
        self.open_in_turn().saturating_sub(self.open.len() as u64)
    }

    fn open_in_turn(&self) -> u64 {
        self.counts.unfinished - self.open_in_earlier_turns
    }

    /// The open calls in half a sentence; nothing if there are none.
    pub(crate) fn open_summary(&self) -> Option<String> {
        let open = self.open_calls();
        let named = open.iter().take(CALLS_NAMED_MAX).map(|open| {
            let tool = open.tool.as_deref().unwrap_or(open.id.as_str());
            format!("{} since line {}", shown(tool), open.line)
        });
        let mut named: Vec<String> = named.collect();
        let total = self.open_in_turn();
        if total > named.len() as u64 {
            named.push(format!("{} more", total - named.len() as u64));
        }
        let calls = if total == 1 { "tool call" } else { "tool calls" };
        (total > 0).then(|| format!("{total} open {calls}: {}", named.join(", ")))
    }
}
