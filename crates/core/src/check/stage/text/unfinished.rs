//! Texts that came only in part.

use crate::check::counted;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// Segments of deltas that no whole text closed.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    pub(super) count: u64,
    /// The line of the first delta of the first of them.
    pub(super) line: u64,
    /// Whether the last segment is one, and its whole text may still come.
    pub(super) is_waiting: bool,
}

impl Unfinished {
    /// For a run that succeeded.
    pub(super) fn diagnostic(&self) -> Option<Diagnostic> {
        let Self { count, line, .. } = *self;
        let texts = counted(count, "text");
        let message =
            format!("the run succeeded, but {texts} came only in deltas, without the whole text");
        (count > 0).then(|| Diagnostic::new(Rule::UnfinishedText, message).related(line))
    }
}
