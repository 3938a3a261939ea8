//! Run mode, and standard input under timers.

use std::io::{self, IsTerminal as _, Write};
use std::mem;
use std::path::Path;
use std::process::{Command, Stdio};

use ndjson_check_core::internals::run::{Producer, ProducerStream, StderrCopy, Timers};
use ndjson_check_core::{Checker, ExitStatus, ProducerExit};

use super::archive::Decompressed;
use super::args::{Cli, EXIT_GRACE};
use super::check_stream::{StreamJob, check_stream};
use super::error::CliError;
use super::exit::{self, Exit};
use super::inputs::{Input, STDIN};
use super::outputs::Outputs;
use super::redaction::Redaction;
use super::tee::TeeTarget;
use super::whole_process::WHOLE_PROCESS;
use super::{batch, conclude, stdio};

/// Checks the stream of a command, or of standard input.
pub(super) fn check_producer(cli: &Cli, checker: &mut Checker, outputs: &mut Outputs) -> Exit {
    let grace = cli.exit_grace.unwrap_or(EXIT_GRACE);
    let timers = Timers { timeout: cli.timeout, idle: cli.idle_timeout, grace };
    let failed = |program: &str, source| CliError::Start { program: program.to_owned(), source };
    let stderr = outputs.redaction.as_ref().map(Redaction::of_text);
    let (start, name) = if let Some(program) = cli.command.first() {
        let out = stdio::stderr().ok();
        let progress = outputs.progress.clone();
        let out = out.map(|stderr| Box::new(progress.hidden_by(stderr)) as Box<dyn Write + Send>);
        let start = start(cli, timers, StderrCopy { out, redactor: stderr });
        let start = start.map_err(|error| failed(&program.to_string_lossy(), error));
        let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
        (start, name.into_owned())
    } else {
        let start = Input::Stdin.open().map_err(CliError::from).and_then(|input| {
            Producer::of_input(input, timers, WHOLE_PROCESS).map_err(|error| failed(STDIN, error))
        });
        (start, Input::Stdin.name())
    };
    let (producer, source) = match start {
        Ok(started) => started,
        Err(error) => {
            outputs.not_checked(&error);
            return conclude(Some(error.exit_code()), outputs).into();
        }
    };

    let (mut exit, mut interrupt) = (ProducerExit::default(), None);
    let (copies, redaction) = (mem::take(&mut outputs.copies), outputs.redaction.clone());
    let measured = |copy: TeeTarget| copy.through(|writer| Box::new(producer.measured(writer)));
    let mut copies: Vec<TeeTarget> = copies.into_iter().map(measured).collect();
    let job = StreamJob {
        name: &name,
        redaction: redaction.as_ref(),
        copies: &mut copies,
        out: &mut producer.measured(&mut *outputs),
        supervisor: &mut producer.observer(),
    };
    let result = check_stream(checker, job, Decompressed::new(source), || {
        (exit, interrupt) = producer.finish();
        exit.status = exit.status.or(cli.exit_status.map(ExitStatus::Code));
        exit.clone()
    });
    outputs.copies = copies;
    let failed = failed_status(&exit);
    let of_command = failed.filter(|_| !cli.command.is_empty() && !exit.was_interrupted);
    let result = result.map_err(|error| match of_command {
        Some(status) => CliError::CommandFailed(error, status),
        None => error.into(),
    });
    batch::conclude_stream(result, outputs);
    let own_code = exit::code(outputs.totals(), false);
    let propagated =
        cli.propagate_exit_code && [exit::SUCCEEDED, exit::RUN_FAILED].contains(&own_code);
    let code = failed.filter(|_| propagated).map(ExitStatus::shell_code);
    Exit { code: conclude(code, outputs), interrupt }
}

/// Starts the command, with our standard input unless it must have none.
fn start(cli: &Cli, timers: Timers, copy: StderrCopy) -> io::Result<(Producer, ProducerStream)> {
    let mut command = Command::new(&cli.command[0]);
    command.args(&cli.command[1..]);
    if cli.no_stdin {
        command.stdin(Stdio::null());
    }
    let reads_terminal = !cli.no_stdin && io::stdin().is_terminal();
    Producer::start(&mut command, reads_terminal, timers, copy, Some(WHOLE_PROCESS))
}

/// The status that says that the producer failed, unless we ended it.
fn failed_status(exit: &ProducerExit) -> Option<ExitStatus> {
    let status = exit.status.filter(|_| exit.stop.is_none());
    status.filter(|status| !status.is_success())
}
