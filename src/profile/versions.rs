//! Which versions of a producer a profile is written for.

use serde::Deserialize;

use crate::path::Path;

/// Which versions of a producer a profile is written for. Versions are numbers with dots between
/// them, and are compared number by number.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// Where the stream names the version.
    pub at: Option<Path>,
    /// Those whose streams have been seen.
    #[serde(default)]
    pub seen: Vec<String>,
    /// The first.
    pub from: Option<String>,
    /// The first that it is not written for any more.
    pub before: Option<String>,
}
