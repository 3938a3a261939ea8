//! How streams are checked, whatever the profile.

use super::Format;
use crate::limits::LINE_BYTES_MAX;
use crate::rules::Severities;

/// The options of a check.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) severities: Severities,
    /// The format that the agent was asked for; without one the first event shows it.
    pub(crate) format: Option<Format>,
    /// Whether the stream is one array; without it the first bytes show it.
    pub(crate) is_array: Option<bool>,
    /// Longest line that is checked, in bytes.
    pub(crate) line_bytes_max: u64,
    /// Whether every line is read by the plain parser, and the plain validator; for tests.
    pub(crate) is_plain: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            severities: Severities::default(),
            format: None,
            is_array: None,
            line_bytes_max: LINE_BYTES_MAX,
            is_plain: false,
        }
    }
}
