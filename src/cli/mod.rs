//! The command line program: from the arguments to the exit code.

mod archive;
mod args;
mod at_start;
mod attempts;
mod baseline;
mod batch;
mod check_stream;
mod commands;
mod config;
mod diff;
mod drift;
mod ended_line;
mod error;
mod exit;
mod inputs;
mod outputs;
mod progress;
mod redaction;
mod replay;
mod report_pages;
mod report_target;
mod reports;
mod rule_pages;
mod run_command;
mod same_file;
mod setup;
mod stdio;
mod stream_files;
mod stream_reader;
mod tee;
mod terminal;
mod whole_process;
mod workflow_commands;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::process::ExitCode;

use ndjson_check_core::{
    ExitStatus, ProducerExit,
    escape::{clipped, visible},
};
use ndjson_check_formats::report::push_wrapped;

use args::{Cli, Invocation};
use batch::InputOptions;
use error::CliError;
use exit::Exit;
use inputs::{Input, Listed};
use outputs::Outputs;
use progress::Progress;
use redaction::{Redaction, shown};
use terminal::{has_color, stderr_width};
use workflow_commands::escape_commands;

/// Longest message on standard error, in bytes.
const MESSAGE_BYTES_MAX: usize = 2_048;

pub(crate) fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    if whole_process::begin(&arguments) {
        return ExitCode::SUCCESS;
    }
    // A panic would end with 101, which means nothing to the caller.
    let exit = panic::catch_unwind(|| run(&arguments));
    exit.unwrap_or(Exit::from(exit::NOT_CHECKED)).end()
}

fn run(arguments: &[OsString]) -> Exit {
    invoke(arguments).unwrap_or_else(|error| {
        let code = fail(&error);
        if !args::names_subcommand(arguments) {
            reports::of_refusal(&error);
        }
        code.into()
    })
}

fn invoke(arguments: &[OsString]) -> Result<Exit, CliError> {
    if arguments.last().is_some_and(|last| last == "--") {
        // Such as `-- $COMMAND` with an empty variable: this must not wait for standard input.
        return Err(CliError::usage("expected a command after `--`"));
    }
    let hint = args::meant_word(arguments).or_else(|| args::meant_subcommand(arguments));
    if let Some(hint) = hint {
        return Err(CliError::usage(hint));
    }
    match Invocation::parse(arguments) {
        Ok(Invocation::Check(cli)) => check(&cli),
        Ok(Invocation::Subcommand(subcommand)) => commands::run(&subcommand).map(Exit::from),
        Err(error) if error.use_stderr() => Err(CliError::Usage(args::one_line(&error, arguments))),
        Err(help) => {
            let is_terminal = io::stdout().is_terminal();
            let help = help.to_string();
            let has_color = is_terminal && has_color(args::Color::Auto, is_terminal);
            print(&if has_color { args::painted(&help) } else { help })?;
            Ok(exit::SUCCEEDED.into())
        }
    }
}

fn check(cli: &Cli) -> Result<Exit, CliError> {
    let redaction = Redaction::of(&cli.redact)?;
    check_redacted(cli, redaction.clone()).map_err(|error| error.redacted(redaction.as_ref()))
}

fn check_redacted(cli: &Cli, redaction: Option<Redaction>) -> Result<Exit, CliError> {
    let config = config::of(cli)?;
    if cli.print_config {
        print(&config.printed().map_err(CliError::usage)?)?;
        return Ok(exit::SUCCEEDED.into());
    }
    let runs = !cli.command.is_empty();
    let listed = cli.files_from.is_some() || cli.files0_from.is_some();
    if !runs && !listed && cli.files.is_empty() && io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "{}\n\nFor all options: ndjson-check --help", args::usage());
        return Ok(exit::NOT_CHECKED.into());
    }
    let streams = if runs { Listed::default() } else { setup::streams(cli)? };
    let inputs = &streams.inputs;
    setup::consistent(cli, inputs)?;
    // Leaked on purpose: to drop compiled schemas right before the exit only costs time.
    let mut checker = ManuallyDrop::new(setup::checker(cli, &config)?);
    let settings = [config.files(), checker.profile_files().to_vec()].concat();
    same_file::refuse(cli, &settings, inputs)?;
    attempts::refuse(cli)?;
    // Before the outputs: they empty files.
    let baseline = baseline::of(cli)?;
    let progress = Progress::of(cli, config.limits(), inputs);
    let mut outputs = Outputs::open(cli, &config.demands(), progress, redaction, baseline)?;
    // So that a signal that ends a pipe leaves a whole report, and no status line.
    let writes_file =
        cli.write_baseline.is_some() || cli.report.iter().any(|report| report.file.is_some());
    let arrives =
        matches!(inputs[..], [Ok(Input::Stdin)]) && (writes_file || !stdio::stdin_is_file());
    if runs || cli.is_timed() || arrives {
        return Ok(run_command::check_producer(cli, &mut checker, &mut outputs));
    }
    let exit = cli.exit_status.map(|code| ProducerExit::from(ExitStatus::Code(code)));
    let options = InputOptions {
        exit: exit.unwrap_or_default(),
        only_one_for: setup::needs_one_stream(cli),
        jobs: cli.jobs,
    };
    if reports::has_human(cli)
        && let Some(note) = streams.note()
    {
        let note = shown(&note, outputs.redaction.as_ref());
        print_stderr(&format!("ndjson-check: note: {note}"));
    }
    Ok(batch::check_inputs(streams.inputs, &mut checker, &options, &mut outputs).into())
}

/// Returns the exit code.
fn conclude(own_code: Option<u8>, outputs: &mut Outputs) -> u8 {
    let finished = outputs.finish(own_code);
    finished.unwrap_or_else(|error| fail(&error.redacted(outputs.redaction.as_ref())))
}

fn print(text: &str) -> Result<(), CliError> {
    let stdout = stdio::stdout().map(escape_commands);
    CliError::of_stdout(stdout.and_then(|mut stdout| stdout.write_all(text.as_bytes())))
}

/// Prints an error; returns its exit code.
fn fail(error: &CliError) -> u8 {
    print_stderr(&format!("ndjson-check: {error}"));
    error.exit_code()
}

fn print_stderr(message: &str) {
    let mut line = String::new();
    push_wrapped(&clipped(&visible(message), MESSAGE_BYTES_MAX), 2, stderr_width(), &mut line);
    // If standard error is closed, there is nowhere to report it.
    let _ = match stdio::stderr() {
        Ok(stderr) => escape_commands(stderr).write_all(line.as_bytes()),
        // There is no descriptor left.
        Err(_) => escape_commands(io::stderr()).write_all(line.as_bytes()),
    };
}
