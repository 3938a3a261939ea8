//! Reads the baseline that the command line names.

use ndjson_check_core::internals::read_bounded;
use ndjson_check_formats::baseline::Baseline;

use super::args::Cli;
use super::error::CliError;
use super::stream_files::portable_names;

/// An endless file ends here, too.
const BASELINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The baseline, and the name of its file.
pub(super) fn of(cli: &Cli) -> Result<Option<(Baseline, String)>, CliError> {
    let Some(file) = &cli.baseline else { return Ok(None) };
    let name = file.display().to_string();
    let failed =
        |message: &str| CliError::Usage(format!("failed to read the baseline {name}: {message}"));
    let bytes = read_bounded(file, BASELINE_BYTES_MAX).map_err(|message| failed(&message))?;
    let text = String::from_utf8(bytes).map_err(|_| failed("not valid UTF-8"))?;
    let baseline = Baseline::read(&text, portable_names(cli));
    let baseline = baseline.map_err(|message| CliError::Usage(format!("{name}:{message}")))?;
    Ok(Some((baseline, name)))
}
