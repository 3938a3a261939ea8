//! Members whose values the agent's documentation lists.

use serde::Deserialize;

use super::Objects;
use crate::profile::path::{Conditions, Path};

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ValueRule {
    pub when: Conditions,
    /// The objects with the value; the path below begins there.
    #[serde(flatten)]
    pub of: Objects,
    pub value: Path,
    /// The values that are known.
    pub known: Vec<String>,
}
