//! Finds the configuration file.

use std::path::{Path, PathBuf};

const NAME: &str = "ndjson-check.toml";

/// The configuration file nearest to the working directory: there, or above it up to the root of
/// the repository. Outside a repository, only the working directory has one.
///
/// # Errors
///
/// When the working directory is unknown.
pub(crate) fn nearest_file() -> Result<Option<PathBuf>, String> {
    let here = std::env::current_dir();
    let here = here.map_err(|error| format!("failed to find the working directory: {error}"))?;
    Ok(nearest_above(&here).map(|levels| {
        // Relative, so that no message depends on where the repository is.
        let up = std::iter::repeat_n("..", levels);
        up.chain([NAME]).collect()
    }))
}

/// How many levels above `folder` the file is.
fn nearest_above(folder: &Path) -> Option<usize> {
    let root = folder.ancestors().position(|folder| exists(&folder.join(".git")));
    let mut folders = folder.ancestors().take(root.unwrap_or(0) + 1);
    folders.position(|folder| exists(&folder.join(NAME)))
}

/// A dangling link exists: the error must be reported, not passed over.
fn exists(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}
