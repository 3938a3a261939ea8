//! Run mode on systems without process groups.

use ndjson_check_core::{Checker, ExitStatus, ProducerExit};

use super::args::Cli;
use super::batch::check_inputs;
use super::error::CliError;
use super::exit::Exit;
use super::fail;
use super::inputs::Input;
use super::outputs::Outputs;

/// Checks standard input; commands and timeouts are not supported.
pub(super) fn check_producer(cli: &Cli, checker: &mut Checker, outputs: &mut Outputs) -> Exit {
    if cli.command.is_empty() && !cli.is_timed() {
        let exit = cli.exit_status.map(|code| ProducerExit::from(ExitStatus::Code(code)));
        let inputs = vec![Ok(Input::Stdin)];
        let exit = exit.unwrap_or_default();
        return check_inputs(inputs, checker, &exit, cli.jobs, outputs).into();
    }
    fail(&CliError::usage("commands and timeouts work on Unix systems only; use a pipe")).into()
}
