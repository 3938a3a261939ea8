//! Prints the settings as a configuration file.

use std::path::Path;

use crate::table::Table;

/// The settings, and where they are from, in a file that can be read again.
pub(crate) fn printed(file: Option<&Path>, table: &Table) -> Result<String, String> {
    let text = toml::to_string(table);
    let text = text.map_err(|error| format!("failed to print the settings: {error}"))?;
    let origin = match file {
        Some(file) => format!("{:?} and the command line", file.display().to_string()),
        None => "the command line; there is no configuration file".to_owned(),
    };
    let presets = table.expect.presets();
    let presets = if presets.is_empty() {
        String::new()
    } else {
        format!("# Entries below come from the presets {}.\n", presets.join(", "))
    };
    Ok(format!("# From {origin}.\n{presets}{text}"))
}
