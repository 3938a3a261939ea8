//! How streams are checked, whatever the profile.

use super::Format;
use super::stage::repeats::REPEATED_CALLS;
use crate::limits::LINE_BYTES_MAX;
use crate::rules::Severities;

/// The options of a check.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) severities: Severities,
    /// The format that the agent was asked for; without one the first event shows it.
    pub(crate) format: Option<Format>,
    /// The shortest series of equal calls that is reported.
    pub(crate) repeated_calls: u64,
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
            repeated_calls: REPEATED_CALLS,
            line_bytes_max: LINE_BYTES_MAX,
            is_plain: false,
        }
    }
}
