//! What a producer says of its own failures: error events, and exit codes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Objects;
use crate::path::Conditions;

/// An event, or part of one, that tells of an error.
#[derive(Debug, Clone, Deserialize)]
pub struct ErrorRule {
    /// What the error means for the run.
    pub severity: ErrorSeverity,
    /// These hold for the event.
    pub when: Conditions,
    /// What carries the error: one such object is enough.
    #[serde(flatten)]
    pub of: Objects,
}

/// What an error means for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorSeverity {
    /// The run cannot have succeeded.
    Fatal,
    /// The run may go on.
    Warning,
}

/// What the producer's exit codes mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// The codes of a run that succeeded.
    #[serde(default = "zero")]
    pub success: Vec<i32>,
    /// The codes of one that failed; without them every code that is none of success.
    pub failure: Option<FailureCodes>,
    /// What a code says of itself.
    #[serde(default)]
    pub meaning: BTreeMap<i32, String>,
}

/// The exit codes of a run that failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCodes {
    /// Any, 0 as well.
    Any,
    /// These.
    #[serde(untagged)]
    These(Vec<i32>),
}

fn zero() -> Vec<i32> {
    vec![0]
}

impl Default for Exit {
    fn default() -> Self {
        Self { success: zero(), failure: None, meaning: BTreeMap::new() }
    }
}
