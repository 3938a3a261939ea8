//! The command line program: from the arguments to the exit code.

mod args;
mod batch;
mod choice;
#[cfg_attr(not(unix), path = "no_command.rs")]
mod command;
mod commands;
pub mod draft;
mod error;
mod exit;
mod inputs;
mod outputs;
#[cfg(unix)]
pub mod producer;
mod progress;
mod relay;
mod report_file;
mod setup;
mod stdio;
mod tee;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::process::ExitCode;

use crate::check::contract::Contract;
use crate::check::summary::RunSummary;
use crate::limits::MESSAGE_BYTES_MAX;
use crate::output::github_actions::{Guard, is_watched};
use crate::output::report::Report as _;
use crate::rules::escape::{clipped, visible};

use args::{Cli, Invocation};
use choice::Contracts;
use error::CliError;
use exit::Exit;
use inputs::Input;
use outputs::Outputs;
use setup::contract_of;

/// The program.
pub fn main() -> ExitCode {
    // A panic would end with 101, which means nothing to the caller.
    let exit = panic::catch_unwind(|| run(&env::args_os().collect::<Vec<_>>()));
    exit.unwrap_or(Exit::from(exit::NOT_CHECKED)).end()
}

/// What streams are checked against with these arguments; for tests.
///
/// # Errors
///
/// When the arguments cannot be used; the message is one line.
pub fn contract(arguments: &[OsString]) -> Result<Contract, String> {
    match Invocation::parse(arguments) {
        Ok(Invocation::Check(cli)) => setup::contract(&cli).map_err(|error| error.to_string()),
        Ok(Invocation::Subcommand(_)) => Err("a subcommand checks nothing".to_owned()),
        Err(error) => Err(args::one_line(&error)),
    }
}

fn run(arguments: &[OsString]) -> Exit {
    invoke(arguments).unwrap_or_else(|error| fail(&error).into())
}

fn invoke(arguments: &[OsString]) -> Result<Exit, CliError> {
    if arguments.last().is_some_and(|last| last == "--") {
        // Such as `-- $COMMAND` with an empty variable: this must not wait for standard input.
        return Err(CliError::usage("expected a command after `--`"));
    }
    match Invocation::parse(arguments) {
        Ok(Invocation::Check(cli)) => check(&cli),
        Ok(Invocation::Subcommand(subcommand)) => {
            commands::run(&subcommand)?;
            Ok(exit::SUCCEEDED.into())
        }
        Err(error) if error.use_stderr() => Err(CliError::Usage(args::one_line(&error))),
        Err(help) => {
            print(&help.to_string())?;
            Ok(exit::SUCCEEDED.into())
        }
    }
}

/// Opens everything, and checks.
fn check(cli: &Cli) -> Result<Exit, CliError> {
    let runs = !cli.command.is_empty();
    let listed = cli.files_from.is_some() || cli.files0_from.is_some();
    if !runs && !listed && cli.files.is_empty() && io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "{}\n\nFor all options: ndjson-check --help", args::usage());
        return Ok(exit::NOT_CHECKED.into());
    }
    let inputs = if runs { Vec::new() } else { setup::streams(cli)? };
    setup::consistent(cli, &inputs)?;
    // Leaked on purpose: to drop compiled schemas right before the exit only costs time.
    let contracts = ManuallyDrop::new(Contracts::new(cli)?);
    outputs::distinct(cli, &inputs)?;
    let progress = outputs::progress(cli, &inputs);
    let mut outputs = Outputs::open(cli, contracts.first().profile(), progress)?;
    // So that a signal does not leave half of a report behind.
    let leaves_files = cli.report.iter().any(|report| report.file.is_some());
    if runs || cli.is_timed() || (leaves_files && matches!(inputs[..], [Ok(Input::Stdin)])) {
        return command::check_producer(cli, &contracts, &mut outputs);
    }
    Ok(batch::check_inputs(&inputs, &contracts, cli.jobs, &mut outputs).into())
}

/// Gives the sum of all streams to the reports; the exit code.
fn conclude(mut total: RunSummary, outputs: &mut Outputs<'_>) -> u8 {
    // Every stream's report has been flushed: what failed until here is in the summary.
    total.unwritten = outputs.failure().is_some();
    // Reports never fail: they keep the first error.
    let _ = outputs.reports.summary(&total);
    match outputs.failure() {
        None => total.exit_code(),
        Some(error) => fail(&error),
    }
}

/// Prints to standard output.
fn print(text: &str) -> Result<(), CliError> {
    stdio::stdout().and_then(|mut stdout| stdout.write_all(text.as_bytes())).map_err(unprinted)
}

/// Prints JSON to standard output; in the log of a workflow, without a command in it.
fn print_json(text: &str) -> Result<(), CliError> {
    if !is_watched() {
        return print(text);
    }
    let stdout = stdio::stdout().map_err(unprinted)?;
    Guard::new(stdout).write_all(text.as_bytes()).map_err(unprinted)
}

fn unprinted(error: io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CliError::ReaderClosed,
        _ => CliError::output(outputs::STDOUT, error),
    }
}

/// Prints an error, unless the user knows of it; its exit code.
fn fail(error: &CliError) -> u8 {
    if !matches!(error, CliError::ReaderClosed) {
        say(&format!("ndjson-check: {error}"));
    }
    error.exit_code()
}

/// Prints why a stream could not be checked; the exit code for this.
fn complain(message: &str) -> u8 {
    say(&format!("ndjson-check: {message}"));
    exit::NOT_CHECKED
}

/// One line on standard error.
fn say(message: &str) {
    let line = format!("{}\n", clipped(&visible(message), MESSAGE_BYTES_MAX));
    // If standard error is closed, there is nowhere to report it.
    let _ = if is_watched() {
        Guard::new(io::stderr()).write_all(line.as_bytes())
    } else {
        io::stderr().write_all(line.as_bytes())
    };
}
