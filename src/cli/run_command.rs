//! Run mode, and standard input under timers.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::mem;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use ndjson_check_core::internals::run::{
    Interrupt, Producer, ProducerStream, StderrCopy, Timers, pause,
};
use ndjson_check_core::{Checker, ExitStatus, NoRetry, Observer, ProducerExit};

use super::args::Cli;
use super::check_stream::{StreamJob, check_stream};
use super::ended_line::EndedLine;
use super::error::CliError;
use super::exit::{self, Exit};
use super::inputs::contents::{FoundStream, each_stream};
use super::inputs::{Input, STDIN};
use super::outputs::Outputs;
use super::redaction::Redaction;
use super::reports::STDERR;
use super::tee::TeeTarget;
use super::whole_process::WHOLE_PROCESS;
use super::workflow_commands::escape_commands;
use super::{attempts, batch, conclude, print_stderr, setup, stdio};

/// Checks the stream of a command, or of standard input. A command may be run again.
pub(super) fn check_producer(cli: &Cli, checker: &mut Checker, outputs: &mut Outputs) -> Exit {
    loop {
        let (code, mut interrupt) = match run_once(cli, checker, outputs) {
            Ok(end) => end,
            Err(error) => {
                outputs.end_attempts(NoRetry::NotStarted);
                outputs.not_checked(&error);
                (Some(error.exit_code()), None)
            }
        };
        if let Some(wait) = outputs.attempt.next.filter(|_| interrupt.is_none()) {
            match next_attempt(wait, cli, outputs) {
                Ok(None) => continue,
                Ok(stopped) => {
                    outputs.end_attempts(NoRetry::Interrupted);
                    interrupt = stopped;
                }
                Err(error) => {
                    outputs.end_attempts(NoRetry::NotStarted);
                    outputs.not_checked(&error);
                }
            }
        }
        // The reports show the code with which a signal ends us.
        let by_signal = interrupt.and_then(|it| u8::try_from(128 + it.signal).ok());
        return Exit { code: conclude(by_signal.or(code), outputs), interrupt };
    }
}

/// Waits for the next attempt, and begins it unless a signal ends us.
fn next_attempt(
    wait: Duration,
    cli: &Cli,
    outputs: &mut Outputs,
) -> Result<Option<Interrupt>, CliError> {
    let attempt = outputs.attempt.following();
    let (number, most) = (attempt.number, attempt.most());
    let after = humantime::format_duration(Duration::from_secs(wait.as_secs()));
    let reason =
        outputs.attempt.reason.map(|reason| format!(" ({})", reason.name())).unwrap_or_default();
    let message = format!(
        "ndjson-check: the run failed{reason}; attempt {number} of {most} begins after {after}"
    );
    outputs.flush();
    let announce = || outputs.progress.hide_during(|| print_stderr(&message));
    let program = || cli.command[0].to_string_lossy().into_owned();
    let failed = |source| CliError::Start { program: program(), source };
    let interrupt = pause(wait, announce).map_err(failed)?;
    if interrupt.is_none() {
        outputs.begin_attempt(attempt, cli)?;
    }
    Ok(interrupt)
}

/// Checks one stream to its end. Returns the command's own code, if it is passed on, and the signal
/// to end us, if one came.
fn run_once(
    cli: &Cli,
    checker: &mut Checker,
    outputs: &mut Outputs,
) -> Result<(Option<u8>, Option<Interrupt>), CliError> {
    let (producer, source, name) = begin(cli, outputs)?;
    outputs.attempt_began();
    let name = outputs.attempt.name(&name);
    let (mut exit, mut interrupt) = (ProducerExit::default(), None);
    let (copies, redaction) = (mem::take(&mut outputs.copies), outputs.redaction.clone());
    let measured = |copy: TeeTarget| copy.through(|writer| Box::new(producer.measured(writer)));
    let mut copies: Vec<TeeTarget> = copies.into_iter().map(measured).collect();
    let ended_alone = Rc::clone(&outputs.attempt.ended_alone);
    let is_watched = !cli.command.is_empty() || cli.is_timed();
    let mut running = Some(producer);
    each_stream(&name, source, setup::needs_one_stream(cli), |stream| {
        let result = stream.and_then(|FoundStream { name, source, is_member }| {
            let Some(producer) = &running else { return Ok(()) };
            let (mut watch, mut nothing) = (producer.observer(), ());
            // A signal alone needs no events.
            let supervisor: &mut dyn Observer = if is_watched { &mut watch } else { &mut nothing };
            let job = StreamJob {
                name,
                redaction: redaction.as_ref(),
                copies: &mut copies,
                out: &mut producer.measured(&mut *outputs),
                supervisor,
            };
            check_stream(checker, job, source, || {
                // What wrote an archive says nothing of the runs in it.
                let Some(producer) = running.take_if(|_| !is_member) else {
                    return ProducerExit::default();
                };
                (exit, interrupt) = producer.finish();
                exit.status = exit.status.or(cli.exit_status.map(ExitStatus::Code));
                ended_alone.set(attempts::ended_alone(&exit));
                exit.clone()
            })
        });
        let of_command =
            failed_status(&exit).filter(|_| !cli.command.is_empty() && !exit.was_interrupted);
        let result = result.map_err(|error| match of_command {
            Some(status) => CliError::CommandFailed(error, status),
            None => error.into(),
        });
        batch::conclude_stream(result, outputs);
    });
    if let Some(producer) = running.take() {
        (exit, interrupt) = producer.finish();
    }
    outputs.copies = copies;
    let own_code = outputs.totals().exit_code(0);
    let propagated =
        cli.propagate_exit_code && [exit::SUCCEEDED, exit::RUN_FAILED].contains(&own_code);
    Ok((failed_status(&exit).filter(|_| propagated).map(ExitStatus::shell_code), interrupt))
}

/// Starts what writes the stream: the producer, its stream, and its name.
fn begin(cli: &Cli, outputs: &Outputs) -> Result<(Producer, ProducerStream, String), CliError> {
    let calls = cli.call_timeout.iter().map(|it| (it.kind, it.limit)).collect();
    let mut timers =
        Timers { timeout: cli.timeout, idle: cli.idle_timeout, calls, ..Timers::default() };
    // Such an agent ends when its input does.
    let waits_for_input =
        !cli.no_stdin && Producer::reads_messages(cli.command.iter().map(OsString::as_os_str));
    let default = if waits_for_input { Duration::MAX } else { timers.grace };
    timers.grace = cli.exit_grace.unwrap_or(default);
    let failed = |program: &str, source| CliError::Start { program: program.to_owned(), source };
    let Some(program) = cli.command.first() else {
        let started = Producer::of_input(Input::Stdin.open()?, timers, WHOLE_PROCESS);
        let (producer, source) = started.map_err(|error| failed(STDIN, error))?;
        return Ok((producer, source, Input::Stdin.name()));
    };
    let stderr = stdio::stderr().map_err(|error| CliError::output(STDERR, error))?;
    let out = Some(escape_commands(EndedLine::new(outputs.progress.hidden_by(stderr))));
    let redactor = outputs.redaction.as_ref().map(Redaction::of_text);
    let started = start(cli, timers, StderrCopy { out, redactor });
    let (producer, source) = started.map_err(|error| failed(&program.to_string_lossy(), error))?;
    Ok((producer, source, Producer::called(program).to_string_lossy().into_owned()))
}

/// Starts the command, with our standard input unless it must have none.
fn start(cli: &Cli, timers: Timers, copy: StderrCopy) -> io::Result<(Producer, ProducerStream)> {
    let mut command = Command::new(Producer::program(&cli.command[0]));
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
