//! From the arguments to the options of a check.

use std::path::Path;

use super::args::{Cli, EngineName, InputFormat};
use super::error::CliError;
use super::inputs::list::{self, Separator};
use super::inputs::{Input, STDIN, inputs};
use crate::check::contract::{Contract, Engine};
use crate::check::verdict::Format;
use crate::error::Error;
use crate::profile::detect::AUTO;
use crate::profile::{self, Profile};
use crate::rules::{Rule, Severities, Severity};

/// What streams are checked against. With `--profile auto` this is the contract for streams whose
/// profile cannot be detected.
///
/// # Errors
///
/// When the profile, the schema or the severities cannot be used.
pub(super) fn contract(cli: &Cli) -> Result<Contract, CliError> {
    let profile = if cli.profile == AUTO { profile::DEFAULT } else { &cli.profile };
    contract_of(cli, profile)
}

/// As [`contract`], for this profile.
pub(super) fn contract_of(cli: &Cli, profile: &str) -> Result<Contract, CliError> {
    let (profile, schema) = Profile::load(profile)?;
    let mut contract = Contract::new(profile, schema)?;
    if let Some(file) = &cli.schema {
        add_schema(&mut contract, file)?;
    }
    contract.severities = severities(cli)?;
    contract.format = match cli.input_format {
        InputFormat::Auto => None,
        InputFormat::StreamJson => Some(Format::StreamJson),
        InputFormat::Json => Some(Format::Json),
    };
    contract.line_bytes_max = cli.max_line_bytes.0;
    contract.exit_status = cli.exit_status;
    contract.engine = match cli.engine {
        EngineName::Fast => Engine::Fast,
        EngineName::Reference => Engine::Reference,
    };
    Ok(contract)
}

fn add_schema(contract: &mut Contract, file: &Path) -> Result<(), Error> {
    let origin = file.display().to_string();
    match profile::read_json(file) {
        Ok(schema) => contract.add_schema(&origin, &schema),
        Err(message) => Err(Error::Schema { origin, message }),
    }
}

fn severities(cli: &Cli) -> Result<Severities, CliError> {
    let mut severities = Severities::new(cli.strict);
    let mut named: Vec<Rule> = Vec::new();
    let flags = [
        (&cli.deny, Some(Severity::Error)),
        (&cli.warn, Some(Severity::Warning)),
        (&cli.allow, None),
    ];
    for (rules, severity) in flags {
        for &rule in rules {
            if named.contains(&rule) {
                return Err(CliError::Usage(format!("{rule} has more than one severity")));
            }
            named.push(rule);
            severities.set(rule, severity);
        }
    }
    Ok(severities)
}

/// The streams that the arguments name, then those in the list.
///
/// # Errors
///
/// When the list cannot be read. A stream that cannot be found is an error in its place.
pub(super) fn streams(cli: &Cli) -> Result<Vec<Result<Input, Error>>, CliError> {
    let (list, separator) = match (&cli.files_from, &cli.files0_from) {
        (None, None) => return Ok(inputs(cli.files.clone())),
        (Some(list), _) => (list, Separator::Newline),
        (None, Some(list)) => (list, Separator::Nul),
    };
    let listed = list::names(list, separator)?;
    let nothing = listed.is_empty().then(|| Error::NothingToCheck {
        origin: list.display().to_string(),
        message: "the list names no file".to_owned(),
    });
    let names = [cli.files.clone(), listed].concat();
    if list.as_os_str() == STDIN && names.iter().any(|name| name.as_os_str() == STDIN) {
        return Err(CliError::usage("standard input cannot be both the list and a stream"));
    }
    let streams = if names.is_empty() { Vec::new() } else { inputs(names) };
    Ok(streams.into_iter().chain(nothing.map(Err)).collect())
}

/// Refuses options that contradict each other or the streams.
///
/// # Errors
///
/// When they do.
pub(super) fn consistent(cli: &Cli, inputs: &[Result<Input, Error>]) -> Result<(), CliError> {
    let runs = !cli.command.is_empty();
    let refused = if inputs.len() > 1 && cli.exit_status.is_some() {
        "--exit-status works with a single stream only"
    } else if inputs.len() > 1 && cli.tee.is_some() {
        "--tee works with a single stream only"
    } else if !runs && (cli.no_stdin || cli.propagate_exit_code) {
        "--no-stdin and --propagate-exit-code require a command"
    } else if runs && cli.exit_status.is_some() {
        "--exit-status cannot be used with a command: its own exit status is checked"
    } else if cli.is_timed() && !runs && !matches!(inputs, [Ok(Input::Stdin)]) {
        "timeouts require standard input or a command"
    } else {
        return Ok(());
    };
    Err(CliError::usage(refused))
}
