//! Prints the settings as a configuration file.

use std::path::Path;

use super::table::Table;
use crate::cli::error::CliError;

/// The settings, and where they are from, in a file that can be read again.
pub(super) fn printed(file: Option<&Path>, table: &Table) -> Result<String, CliError> {
    let text = toml::to_string(table);
    let text =
        text.map_err(|error| CliError::Usage(format!("failed to print the settings: {error}")))?;
    let origin = match file {
        Some(file) => format!("{:?} and the command line", file.display().to_string()),
        None => "the command line; there is no configuration file".to_owned(),
    };
    Ok(format!("# From {origin}.\n{text}"))
}
