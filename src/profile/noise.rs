//! Lines that are no events, and are known all the same.

use serde::Deserialize;

use crate::profile::pattern::LazyRegex;

/// A line, or the start of one, that is no JSON object and is known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noise {
    /// What is found in it.
    pub matches: LazyRegex,
    /// What it is.
    pub is: NoiseKind,
    /// Where it is.
    #[serde(rename = "where", default)]
    pub place: NoisePlace,
}

/// What a line that is no event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoiseKind {
    /// The producer is known to write it to its stream.
    Banner,
    /// It was written to standard error, and came into the stream.
    Stderr,
}

/// Where noise is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoisePlace {
    /// It is a whole line.
    #[default]
    Line,
    /// In front of the first object of a line, which is the event.
    Before,
}
