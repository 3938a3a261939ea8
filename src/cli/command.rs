//! Run mode, and streams on standard input that are timed.

use std::cell::Cell;
use std::path::Path;

use super::choice::{Checkers, Chosen, Contracts};
use super::outputs::Outputs;
use super::error::CliError;
use super::{Exit, complain, conclude, fail};
use crate::cli::args::Cli;
use crate::output::convert::Convert;
use crate::check::producer_exit::Status;
use crate::cli::inputs::Input;
use crate::cli::producer::{Producer, Timers};
use crate::check::summary::RunSummary;
use crate::cli::tee::Tee;

/// Checks the stream of a command, or of standard input, under the timers.
///
/// # Errors
///
/// When standard input cannot be read.
pub(super) fn check_producer<'c>(
    cli: &Cli,
    contracts: &'c Contracts<'c>,
    outputs: &mut Outputs<'c>,
) -> Result<Exit, CliError> {
    let timers = Timers { timeout: cli.timeout, idle: cli.idle_timeout, grace: cli.exit_grace };
    let (started, name) = if let Some(program) = cli.command.first() {
        let name = Path::new(program).file_name().unwrap_or(program);
        let started = Producer::start(&cli.command, cli.no_stdin, timers);
        (started, name.to_string_lossy().into_owned())
    } else {
        let input = Input::Stdin.open()?;
        (Producer::of_input(input, timers), Input::Stdin.name())
    };
    let (producer, stream) = match started {
        Ok(started) => started,
        Err(source) => {
            let program = cli.command.first().map_or("-".into(), |it| it.to_string_lossy());
            let code = fail(&CliError::Start { program: program.into_owned(), source });
            let total =
                RunSummary { not_checked: 1, own_code: Some(code), ..RunSummary::default() };
            return Ok(conclude(total, outputs).into());
        }
    };
    let (interrupt, own) = (Cell::new(None), Cell::new(None));
    let end = |producer: Producer| {
        let (end, interrupted) = producer.finish();
        interrupt.set(interrupted);
        // What we ended has no code of its own.
        let status = end.status.filter(|_| end.stopped.is_none());
        own.set(status.filter(|status| !status.is_success()).map(Status::shell_code));
        end
    };
    let Outputs { reports, conversion, copies, .. } = outputs;
    let stream = Tee::new(stream, copies);
    let mut checkers = Checkers::new(contracts);
    let chosen = checkers.choose(stream, &name, conversion.as_mut(), || producer.heard());
    let checked = match chosen {
        Ok(Chosen { stream, checker }) => {
            let conversion: &mut dyn Convert = match conversion {
                Some(conversion) => conversion,
                None => &mut (),
            };
            let mut watched = producer.watched(conversion);
            let end = || end(producer);
            let checked = checker.check_until(stream, &name, reports, &mut watched, end);
            checked.map_err(|error| error.to_string())
        }
        Err(message) => {
            end(producer);
            Err(message)
        }
    };
    let mut total = RunSummary::default();
    match &checked {
        Ok(summary) => total.add(summary),
        Err(message) => {
            total.not_checked += 1;
            complain(message);
        }
    }
    if cli.propagate_exit_code && [0, 3].contains(&total.exit_code()) {
        total.own_code = own.get();
    }
    Ok(Exit { code: conclude(total, outputs), interrupt: interrupt.get() })
}
