//! A call, and what the stream shows of it.

use super::truth::Truth;
use crate::check::stage::actions::Action;
use crate::limits::{ACTION_DETAIL_BYTES_MAX, FILES_MAX};
use crate::profile::pattern::LazyRegex;
use crate::profile::{ActionKind, CallOutcome};

/// A call that ended, or never did.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenCall<'a> {
    pub(super) action: &'a Action,
    /// The line of its start; without a start, of its completion.
    pub(super) line: u64,
    pub(super) outcome: Option<CallOutcome>,
    /// Whether the stream says in which directory the agent works.
    pub(super) knows_directory: bool,
}

impl SeenCall<'_> {
    /// Whether it is of this kind.
    pub(super) fn is_of(&self, kind: ActionKind) -> Truth {
        if self.action.is_kind_known { (self.action.kind == kind).into() } else { Truth::Unknown }
    }

    pub(super) fn is_of_tool(&self, tool: &str) -> Truth {
        match &*self.action.tool {
            "" => Truth::Unknown,
            name => (name == tool).into(),
        }
    }

    pub(super) fn detail_matches(&self, pattern: &LazyRegex) -> Truth {
        let detail = &*self.action.detail;
        // Of a long detail only the start may be kept.
        let is_whole = !detail.is_empty() && detail.len() + 4 < ACTION_DETAIL_BYTES_MAX;
        match () {
            () if pattern.is_in(detail) => Truth::Yes,
            () if is_whole => Truth::No,
            () => Truth::Unknown,
        }
    }

    /// The files that it writes or deletes; none if the stream does not show them all.
    pub(super) fn files(&self) -> Option<&[String]> {
        let files = &self.action.files[..];
        (1..FILES_MAX).contains(&files.len()).then_some(files)
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
