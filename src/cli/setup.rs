//! From the arguments to the options of a check.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io;

use ndjson_check_config::Config;
use ndjson_check_core::{AgentFormat, Checker, Error, Rule, Severity};

use super::args::{Cli, EngineName, InputFormat, ReportFormat, SessionCount, meant_order};
use super::error::CliError;
use super::inputs::list::{self, Separator};
use super::inputs::{Input, Listed, STDIN, listed};

pub(crate) fn checker(cli: &Cli, config: &Config) -> Result<Checker, CliError> {
    let mut builder = config
        .apply_to(Checker::builder())
        .repeated_calls(cli.repeated_calls)
        .max_line_bytes(cli.max_line_bytes.0)
        .many_sessions(cli.sessions == SessionCount::Many)
        .sha256(cli.report.iter().any(|report| report.format == ReportFormat::Json))
        .stats(cli.stats || writes_pages(cli))
        .members(cli.stats)
        .plain(cli.engine == EngineName::Reference);
    if let Some(command) = cli.command.first().and_then(|command| command.to_str()) {
        let arguments = cli.command[1..].iter().map(|it| it.to_string_lossy());
        builder = builder.command(command).arguments(arguments);
    }
    let directory = std::env::current_dir().ok().filter(|_| !cli.command.is_empty());
    if let Some(directory) = directory.as_ref().and_then(|it| it.to_str()) {
        builder = builder.directory(directory);
    }
    if let Some(file) = &cli.schema {
        builder = builder.schema_file(file)?;
    }
    builder = match cli.input_format {
        InputFormat::Auto | InputFormat::Array => builder,
        InputFormat::StreamJson => builder.format(AgentFormat::StreamJson),
        InputFormat::Json => builder.format(AgentFormat::Json),
    };
    if let Some(is_array) = cli.input_format.is_array() {
        builder = builder.array(is_array);
    }
    Ok(builder.build()?)
}

pub(super) fn severities(cli: &Cli) -> Result<BTreeMap<Rule, Option<Severity>>, CliError> {
    let mut named = BTreeMap::new();
    let flags = [
        (&cli.deny, Some(Severity::Error)),
        (&cli.warn, Some(Severity::Warning)),
        (&cli.allow, None),
    ];
    for (rules, severity) in flags {
        for &rule in rules {
            if named.insert(rule, severity).is_some_and(|other| other != severity) {
                return Err(CliError::Usage(format!("{rule} has more than one severity")));
            }
        }
    }
    Ok(named)
}

/// The streams that the arguments name, then those in the list. A stream that cannot be found is
/// an error in its place.
pub(super) fn streams(cli: &Cli) -> Result<Listed, CliError> {
    let (list, separator) = match (&cli.files_from, &cli.files0_from) {
        (None, None) => return Ok(unless_command(listed(cli.files.clone()))),
        (Some(list), _) => (list, Separator::Newline),
        (None, Some(list)) => (list, Separator::Nul),
    };
    let from_list = list::names(list, separator)?;
    let nothing = from_list.is_empty().then(|| Error::NothingToCheck {
        origin: list.display().to_string(),
        message: "the list is empty".to_owned(),
    });
    let names = [cli.files.clone(), from_list].concat();
    if list.as_os_str() == STDIN && names.iter().any(|name| name.as_os_str() == STDIN) {
        return Err(CliError::usage("standard input cannot be both the list and a stream"));
    }
    let mut streams = if names.is_empty() { Listed::default() } else { listed(names) };
    streams.inputs.extend(nothing.map(Err));
    Ok(streams)
}

/// The same; where the first name is a bare word and no file, the error says what it may be.
fn unless_command(mut streams: Listed) -> Listed {
    let Some(first) = streams.inputs.first_mut() else { return streams };
    if let Ok(input @ Input::Path(path)) = &*first
        && path.extension().is_none()
        && path.components().count() == 1
        && let Err(error) = path.metadata()
        && error.kind() == io::ErrorKind::NotFound
    {
        let message = format!("{error}; a command to run comes after `--`");
        *first = Err(input.failed(io::Error::new(error.kind(), message)));
    }
    streams
}

/// Refuses options that contradict each other or the streams.
pub(super) fn consistent(cli: &Cli, inputs: &[Result<Input, Error>]) -> Result<(), CliError> {
    let runs = !cli.command.is_empty();
    if let Some(option) = of_one_run(cli).filter(|_| cli.sessions == SessionCount::Many) {
        return Err(CliError::Usage(format!("--sessions many cannot be used with {option}")));
    }
    let limits = &cli.call_timeout;
    let is_twice = |at: &usize| limits[..*at].iter().any(|it| it.kind == limits[*at].kind);
    if let Some(twice) = (0..limits.len()).find(is_twice) {
        let calls = limits[twice]
            .kind
            .map_or("all calls".to_owned(), |kind| format!("calls of the kind `{}`", kind.name()));
        return Err(CliError::Usage(format!("--call-timeout gives two times for {calls}")));
    }
    let message = if inputs.len() > 1 && cli.exit_status.is_some() {
        "--exit-status works with a single stream only"
    } else if inputs.len() > 1 && cli.tee.is_some() {
        "--tee works with a single stream only"
    } else if !runs && cli.no_stdin {
        "--no-stdin requires a command, which comes after `--`"
    } else if !runs && cli.propagate_exit_code {
        "--propagate-exit-code requires a command, which comes after `--`"
    } else if runs && cli.exit_status.is_some() {
        "--exit-status cannot be used with a command: its own exit status is checked"
    } else if cli.exit_grace.is_some() && !runs && !cli.is_timed() {
        "--exit-grace requires a command or a timeout"
    } else if cli.is_timed() && !runs && !matches!(inputs, [Ok(Input::Stdin)]) {
        let arguments: Vec<OsString> = env::args_os().collect();
        let hint = meant_order(&arguments).map_or(String::new(), |hint| format!("; {hint}"));
        let message = "timeouts require a command, which comes after `--`, or standard input";
        return Err(CliError::Usage(format!("{message}{hint}")));
    } else if !runs && cli.retry.retries.is_some() {
        "--retries requires a command, which comes after `--`"
    } else if cli.retry.retries.is_some() && !cli.no_stdin {
        "--retries requires --no-stdin: the command gets its input only once"
    } else {
        return Ok(());
    };
    Err(CliError::usage(message))
}

/// What is about the only run of the stream, or about all of its bytes.
fn of_one_run(cli: &Cli) -> Option<&'static str> {
    let options = [
        (!cli.command.is_empty(), "a command"),
        (cli.timeout.is_some(), "--timeout"),
        (cli.idle_timeout.is_some(), "--idle-timeout"),
        (!cli.call_timeout.is_empty(), "--call-timeout"),
        (cli.exit_status.is_some(), "--exit-status"),
        (!cli.redact.modes.is_empty(), "--redact"),
        (!cli.redact.env.is_empty(), "--redact-env"),
    ];
    options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
}

/// What is about one stream only.
pub(super) fn needs_one_stream(cli: &Cli) -> Option<&'static str> {
    let options = [
        (!cli.command.is_empty(), "a command"),
        (cli.is_timed(), "a timeout"),
        (cli.exit_status.is_some(), "--exit-status"),
        (cli.tee.is_some(), "--tee"),
    ];
    options.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
}

fn writes_pages(cli: &Cli) -> bool {
    cli.report.iter().any(|report| report.format == ReportFormat::Html)
}
