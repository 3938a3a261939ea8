//! Finds the configuration file.

use std::path::{Path, PathBuf};

use crate::source::ConfigText;

const NAME: &str = "ndjson-check.toml";

/// Names that people give to the file, and that nothing reads.
const OTHER_NAMES: [&str; 8] = [
    ".ndjson-check.toml",
    "NDJSON-CHECK.toml",
    "ndjson-check.TOML",
    "ndjson-check.tml",
    "ndjsoncheck.toml",
    "ndjson_check.toml",
    ".ndjson_check.toml",
    "ndjson-check.config.toml",
];

/// The same in other formats. They are also the names of reports and of workflows, so their first
/// keys decide.
const OTHER_FORMATS: [&str; 6] = [
    "ndjson-check.yaml",
    "ndjson-check.yml",
    "ndjson-check.json",
    ".ndjson-check.yaml",
    ".ndjson-check.yml",
    ".ndjson-check.json",
];

/// The keys at the top of a configuration.
const KEYS: [&str; 6] = ["profile", "strict", "rules", "limits", "prices", "expect"];

/// The configuration file nearest to the working directory: there, or above it up to the root of
/// the repository. Outside a repository, only the working directory has one.
///
/// # Errors
///
/// When the working directory is unknown, or the nearest file has another name.
pub(crate) fn nearest_file() -> Result<Option<PathBuf>, String> {
    let here = std::env::current_dir();
    let here = here.map_err(|error| format!("failed to find the working directory: {error}"))?;
    let root = here.ancestors().position(|folder| exists(&folder.join(".git")));
    for (levels, folder) in here.ancestors().take(root.unwrap_or(0) + 1).enumerate() {
        // Relative, so that no message depends on where the repository is.
        let path =
            |name: &str| -> PathBuf { std::iter::repeat_n("..", levels).chain([name]).collect() };
        if exists(&folder.join(NAME)) {
            return Ok(Some(path(NAME)));
        }
        if let Some(name) = OTHER_NAMES.iter().find(|name| exists(&folder.join(name))) {
            let path = path(name);
            let path = path.display();
            return Err(format!(
                "{path} is not read: rename it to {NAME}, or name it with --config"
            ));
        }
        if let Some(name) = OTHER_FORMATS.iter().find(|name| has_our_keys(&folder.join(name))) {
            let path = path(name);
            let path = path.display();
            return Err(format!("{path} is not read: the configuration is TOML, in {NAME}"));
        }
    }
    Ok(None)
}

/// Whether YAML or JSON begins with a key of a configuration, or has one at the top.
fn has_our_keys(file: &Path) -> bool {
    // A named pipe would never end.
    if !file.is_file() {
        return false;
    }
    let Ok(text) = ConfigText::read(file) else { return false };
    let text = text.text();
    let begins = |text: &str| {
        let rest = KEYS.iter().find_map(|key| text.trim_start_matches('"').strip_prefix(key));
        rest.is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with(':'))
    };
    match text.trim_start().strip_prefix('{') {
        Some(object) => begins(object.trim_start()),
        None => text.lines().any(begins),
    }
}

/// A dangling link exists: the error must be reported, not passed over.
fn exists(file: &Path) -> bool {
    file.symlink_metadata().is_ok()
}
