//! How a session begins, and what identifies it.

use serde::Deserialize;
use serde_json::Value;

use super::{EventRule, always, one_or_many};
use crate::profile::path::Path;

/// How a session begins and what identifies it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Tags of the events that come after the start, where others may come before it.
    #[serde(default)]
    pub before: Vec<String>,
    /// Whether the start may come again.
    #[serde(default)]
    pub repeats: Repeats,
    /// Whether the id stays the same.
    #[serde(default = "always")]
    pub constant: bool,
}

/// Whether a start may come again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub enum Repeats {
    /// No.
    #[default]
    Never,
    /// At any time.
    Always,
    /// Once in every turn.
    EveryTurn,
}

impl TryFrom<Value> for Repeats {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match (value.as_bool(), value.as_str()) {
            (Some(false), _) => Ok(Self::Never),
            (Some(true), _) => Ok(Self::Always),
            (_, Some("turn")) => Ok(Self::EveryTurn),
            _ => Err("a start repeats: true, false or \"turn\""),
        }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self {
            start: Vec::new(),
            id: Vec::new(),
            directory: None,
            required: true,
            first: true,
            before: Vec::new(),
            repeats: Repeats::Never,
            constant: true,
        }
    }
}
