//! The settings of a check: the configuration file, and what the command line changes in it.

use ndjson_check_config::Config;
use ndjson_check_core::Limits;

use super::args::Cli;
use super::error::CliError;
use super::setup;

/// Reads the configuration file, if there is one. The command line wins.
///
/// # Errors
///
/// When the file cannot be read or is wrong, or the command line contradicts itself.
pub(super) fn of(cli: &Cli) -> Result<Config, CliError> {
    let mut config = match &cli.config {
        Some(file) => Config::read(file).map_err(CliError::usage)?,
        None if cli.no_config => Config::default(),
        None => nearest()?,
    };
    if let Some(profile) = &cli.profile {
        config.set_profile(profile);
    }
    if cli.strict {
        config.make_strict();
    }
    for (rule, severity) in setup::severities(cli)? {
        config.set_severity(rule, severity);
    }
    config.set_limits(&limits(cli));
    config.consistent().map_err(CliError::usage)?;
    Ok(config)
}

/// Reads the nearest configuration file, if there is one.
///
/// # Errors
///
/// When it cannot be read or is wrong.
pub(super) fn nearest() -> Result<Config, CliError> {
    match Config::nearest_file().map_err(CliError::usage)? {
        Some(file) => Config::read(&file).map_err(CliError::usage),
        None => Ok(Config::default()),
    }
}

fn limits(cli: &Cli) -> Limits {
    let mut limits = Limits::default();
    limits.cost = cli.max_cost.map(|cost| cost.0);
    limits.tokens = cli.max_tokens.map(|count| count.0);
    limits.turns = cli.max_turns.map(|count| count.0);
    limits.calls = cli.max_calls.map(|count| count.0);
    limits.failed_calls = cli.max_failed_calls.map(|count| count.0);
    limits
}
