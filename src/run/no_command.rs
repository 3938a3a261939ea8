//! Run mode where there are no process groups to run a command in.

use super::Exit;
use super::outputs::Outputs;
use crate::cli::Cli;
use crate::contract::Contract;

/// Says that this system cannot do it.
///
/// # Errors
///
/// Always: one line for the user.
pub(super) fn check_producer(_: &Cli, _: &Contract, _: &mut Outputs<'_>) -> Result<Exit, String> {
    Err("commands and timeouts work on Unix systems only, so far; use a pipe".to_owned())
}
