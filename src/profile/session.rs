//! How a session begins, and what identifies it.

use serde::Deserialize;

use super::{EventRule, always, one_or_many};
use crate::path::Path;

/// How a session begins and what identifies it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Session {
    /// The event that begins it; none if the producer writes no such event.
    #[serde(default)]
    pub start: Vec<EventRule>,
    /// Where an event names its session; the first that is there.
    #[serde(default, deserialize_with = "one_or_many")]
    pub id: Vec<Path>,
    /// Where the start names the directory the agent works in.
    pub directory: Option<Path>,
    /// Whether there must be a start, where there are rules for one.
    #[serde(default = "always")]
    pub required: bool,
    /// Whether nothing comes before the start.
    #[serde(default = "always")]
    pub first: bool,
    /// Whether the start may come again, as with every turn.
    #[serde(default)]
    pub repeats: bool,
    /// Whether the id stays the same.
    #[serde(default = "always")]
    pub constant: bool,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            start: Vec::new(),
            id: Vec::new(),
            directory: None,
            required: true,
            first: true,
            repeats: false,
            constant: true,
        }
    }
}
