//! Run mode, and standard input under timers.

use std::path::Path;

use super::args::Cli;
use super::error::CliError;
use super::exit::{self, Exit};
use super::inputs::Input;
use super::outputs::Outputs;
use super::producer::{Producer, Timers};
use super::tee::Tee;
use super::{batch, conclude};
use crate::check::{Checker, ProducerExit};
use crate::output::report::Totals;
use crate::profile::ExitStatus;

/// Checks the stream of a command, or of standard input.
pub(super) fn check_producer(
    cli: &Cli,
    checker: &mut Checker,
    outputs: &mut Outputs,
) -> Result<Exit, CliError> {
    let timers = Timers { timeout: cli.timeout, idle: cli.idle_timeout, grace: cli.exit_grace };
    let (start, name) = match cli.command.first() {
        Some(program) => {
            let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
            (Producer::start(&cli.command, cli.no_stdin, timers), name.into_owned())
        }
        None => (Producer::of_input(Input::Stdin.open()?, timers), Input::Stdin.name()),
    };
    let (producer, source) = match start {
        Ok(started) => started,
        Err(source) => {
            let program =
                cli.command.first().map_or("-".into(), |program| program.to_string_lossy());
            let error = CliError::Start { program: program.into_owned(), source };
            outputs.report_error(&error);
            let totals = Totals { not_checked: 1, ..Totals::default() };
            return Ok(conclude(totals, Some(error.exit_code()), outputs).into());
        }
    };

    let mut copies = std::mem::take(&mut outputs.copies);
    let mut stream = checker.stream(&name);
    let source = producer.watched(Tee::new(source, &mut copies));
    let read = stream.read(source, &mut producer.watched(&mut *outputs));
    outputs.copies = copies;
    // Waits for the producer whatever happened.
    let (mut exit, interrupt) = producer.finish();
    exit.status = exit.status.or(cli.exit_status.map(ExitStatus::Code));
    let mut totals = Totals::default();
    batch::add(&mut totals, read.and_then(|()| stream.finish(&exit, outputs)), outputs);
    let own_code = exit::code(&totals, false);
    let propagated =
        cli.propagate_exit_code && [exit::SUCCEEDED, exit::RUN_FAILED].contains(&own_code);
    let code = if propagated { failed_code(&exit) } else { None };
    Ok(Exit { code: conclude(totals, code, outputs), interrupt })
}

/// The command's own code, if it failed by itself.
fn failed_code(exit: &ProducerExit) -> Option<u8> {
    let status = exit.status.filter(|_| exit.stop.is_none());
    status.filter(|status| !status.is_success()).map(ExitStatus::shell_code)
}
