//! Events that report a defect of another stream, which this one was made from.

use serde::Deserialize;

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
