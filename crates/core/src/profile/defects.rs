//! Events that report a defect of another stream, which this one was made from; defects that the
//! agent is known to write.

use serde::Deserialize;

use crate::json::JsonRef;
use crate::profile::Profile;
use crate::profile::path::{Conditions, Path};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DefectRule {
    pub when: Conditions,
    /// The name of the rule that is raised.
    pub rule: Path,
    /// The line of the other stream.
    pub line: Option<Path>,
    /// What is wrong there.
    pub message: Option<Path>,
}

/// Keys that the agent is known to write twice.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DuplicateKeyRule {
    when: Conditions,
    /// JSON Pointers.
    at: Vec<String>,
}

impl Profile {
    pub(crate) fn knows_duplicate(&self, event: JsonRef<'_>, pointer: &str) -> bool {
        let mut rules = self.duplicate_keys.iter();
        rules.any(|rule| rule.at.iter().any(|at| at == pointer) && rule.when.hold(event))
    }
}
