//! Texts that came only in part.

/// Segments of deltas that no whole text closed.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    pub(super) count: u64,
    /// The line of the first delta of the first of them.
    pub(super) line: u64,
    /// Whether the last segment is one, and its whole text may still come.
    pub(super) is_waiting: bool,
}
