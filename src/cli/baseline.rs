//! Reads the baseline that the command line names.

use std::fs::File;
use std::io::Read as _;

use ndjson_check_core::internals::FILE_BYTES_MAX;
use ndjson_check_formats::baseline::Baseline;

use super::args::Cli;
use super::error::CliError;
use super::stream_files::portable_names;

/// The baseline, and the name of its file.
pub(super) fn of(cli: &Cli) -> Result<Option<(Baseline, String)>, CliError> {
    let Some(file) = &cli.baseline else { return Ok(None) };
    let name = file.display().to_string();
    let failed =
        |message: &str| CliError::Usage(format!("failed to read the baseline {name}: {message}"));
    let mut text = String::new();
    let opened = File::open(file);
    let read = opened.and_then(|it| it.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
    let length = read.map_err(|error| failed(&error.to_string()))?;
    if length as u64 > FILE_BYTES_MAX {
        return Err(failed(&format!("the file is larger than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    let baseline = Baseline::read(&text, portable_names(cli));
    let baseline = baseline.map_err(|message| CliError::Usage(format!("{name}:{message}")))?;
    Ok(Some((baseline, name)))
}
