//! Run mode where there are no process groups to run a command in.

use super::error::CliError;
use super::Exit;
use super::batch::check_inputs;
use super::choice::Contracts;
use super::outputs::Outputs;
use crate::cli::args::Cli;
use crate::cli::inputs::Input;

/// Checks standard input; says of a command, or a timeout, that this system cannot do it.
///
/// # Errors
///
/// When there is a command or a timeout.
pub(super) fn check_producer<'c>(
    cli: &Cli,
    contracts: &'c Contracts<'c>,
    outputs: &mut Outputs<'c>,
) -> Result<Exit, CliError> {
    if cli.command.is_empty() && cli.timeout.is_none() && cli.idle_timeout.is_none() {
        return Ok(check_inputs(&[Ok(Input::Stdin)], contracts, cli.jobs, outputs).into());
    }
    Err(CliError::usage("commands and timeouts work on Unix systems only; use a pipe"))
}
