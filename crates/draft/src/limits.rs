//! The bounds on what is kept of recordings.

/// Different values at one place that are kept for a draft, where all are short names.
pub(crate) const DRAFT_VALUES_MAX: usize = 64;

/// Tags, and paths in the events of each tag, that are counted for a draft.
pub(crate) const DRAFT_PATHS_MAX: usize = 4_096;

/// Longest tag, path or key that a draft uses, in bytes.
pub(crate) const DRAFT_PATH_BYTES_MAX: usize = 1_024;

/// Nodes of all schemas of a draft together.
pub(crate) const DRAFT_NODES_MAX: usize = 20_000;
