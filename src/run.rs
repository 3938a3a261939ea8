//! One run of the program: from what was typed to the exit code.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use clap::{CommandFactory as _, Parser as _};

use crate::check::{Contract, check};
use crate::cli::{Cli, Color, InputFormat, PrintSchema, ReportFormat};
use crate::descriptor;
use crate::error::Error;
use crate::input::{Input, inputs};
use crate::profile::{self, Profile};
use crate::report::human::Human;
use crate::report::json::{self, Json};
use crate::report::{Report as _, Reports, Target};
use crate::rule::{Rule, Severities, Severity};
use crate::summary::RunSummary;
use crate::verdict::Format;
use crate::visible::visible;

const COULD_NOT_CHECK: u8 = 2;

/// Runs the program and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return complain(&one_line(&error)),
        Err(help) => return print(&help.to_string()),
    };
    match modes(&cli) {
        Some(Ok(text)) => print(&text),
        Some(Err(error)) => complain(&error.to_string()),
        None => check_all(&cli),
    }
}

/// The modes that print something and check nothing.
fn modes(cli: &Cli) -> Option<Result<String, Error>> {
    if let Some(rule) = cli.explain {
        return Some(Ok(rule.page().to_owned()));
    }
    if cli.list_rules {
        return Some(Ok(rule_list()));
    }
    Some(match cli.print_schema? {
        PrintSchema::Report => Ok(json::SCHEMA.to_owned()),
        PrintSchema::ProfileFile => Ok(profile::LANGUAGE.to_owned()),
        PrintSchema::Profile => Profile::load(&cli.profile).and_then(|(_, schema)| {
            let none = || Error::Profile {
                origin: cli.profile.clone(),
                message: "it has no schema".to_owned(),
            };
            schema.map(|schema| format!("{schema:#}\n")).ok_or_else(none)
        }),
    })
}

fn rule_list() -> String {
    let name = |severity: Option<Severity>| severity.map_or("off", Severity::name);
    let rows = Rule::ALL.iter().map(|rule| {
        let (default, strict) = (name(rule.severity()), name(rule.strict_severity()));
        format!("{:<31} {default:<8} {strict:<8} {}\n", rule.name(), rule.summary())
    });
    let head = format!("{:<31} {:<8} {:<8} MEANING\n", "RULE", "DEFAULT", "STRICT");
    std::iter::once(head).chain(rows).collect()
}

fn check_all(cli: &Cli) -> u8 {
    if !cli.command.is_empty() {
        return complain("this version cannot run a command; pipe its output into ndjson-check");
    }
    if cli.files.is_empty() && io::stdin().is_terminal() {
        let help = Cli::command().render_help().to_string();
        let _ = io::stderr().write_all(help.as_bytes());
        return COULD_NOT_CHECK;
    }
    let inputs = inputs(&cli.files);
    if cli.exit_status.is_some() && inputs.len() > 1 {
        return complain("--exit-status is of one run, and there are several streams");
    }
    let prepared = contract(cli).and_then(|contract| Ok((contract, reports(cli)?)));
    match prepared {
        Ok((contract, reports)) => check_inputs(&inputs, &contract, reports),
        Err(error) => complain(&error),
    }
}

fn check_inputs(inputs: &[Result<Input, Error>], contract: &Contract, mut reports: Reports) -> u8 {
    let mut total = RunSummary::default();
    for input in inputs {
        let checked = match input {
            Ok(input) => input
                .open()
                .and_then(|source| check(source, &input.name(), contract, &mut reports))
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match checked {
            Ok(summary) => total.add(&summary),
            Err(message) => {
                total.not_checked += 1;
                complain(&message);
            }
        }
    }
    // Reports never fail: they remember.
    let _ = reports.summary(&total);
    match reports.failure() {
        None => total.exit_code(),
        // Whoever closed the pipe knows that they did.
        Some(Error::WriteReport { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            COULD_NOT_CHECK
        }
        Some(error) => complain(&error.to_string()),
    }
}

/// What streams are held against, as the command line says.
///
/// # Errors
///
/// When the profile, the schema or the severities cannot be used; one line for the user.
pub fn contract(cli: &Cli) -> Result<Contract, String> {
    let (profile, schema) = Profile::load(&cli.profile).map_err(|error| error.to_string())?;
    let mut contract =
        Contract::new(profile, schema.as_ref()).map_err(|error| error.to_string())?;
    if let Some(file) = &cli.schema {
        add_schema(&mut contract, file).map_err(|error| error.to_string())?;
    }
    contract.severities = severities(cli)?;
    contract.format = match cli.input {
        InputFormat::Auto => None,
        InputFormat::StreamJson => Some(Format::StreamJson),
        InputFormat::Json => Some(Format::Json),
    };
    contract.line_bytes_max = cli.max_line_bytes.0;
    contract.exit_status = cli.exit_status;
    Ok(contract)
}

fn add_schema(contract: &mut Contract, file: &Path) -> Result<(), Error> {
    let origin = file.display().to_string();
    match profile::read_json(file) {
        Ok(schema) => contract.add_schema(&origin, &schema),
        Err(message) => Err(Error::Schema { origin, message }),
    }
}

fn severities(cli: &Cli) -> Result<Severities, String> {
    let mut severities = Severities::new(cli.strict);
    let mut named: Vec<Rule> = Vec::new();
    let flags = [
        (&cli.error, Some(Severity::Error)),
        (&cli.warn, Some(Severity::Warning)),
        (&cli.allow, None),
    ];
    for (rules, severity) in flags {
        for &rule in rules {
            if named.contains(&rule) {
                return Err(format!("{rule} is given more than one severity"));
            }
            named.push(rule);
            severities.set(rule, severity);
        }
    }
    Ok(severities)
}

fn reports(cli: &Cli) -> Result<Reports, String> {
    let mut reports = Reports::default();
    let to_stdout = cli.report.iter().filter(|report| report.file.is_none()).count();
    if to_stdout > 1 {
        return Err("only one report can go to standard output; give the others a file".to_owned());
    }
    let stdout = || match descriptor::stdout() {
        Ok(stdout) => Ok(Target::stream("standard output", stdout)),
        Err(error) => Err(format!("failed to open standard output: {error}")),
    };
    let on_terminal = io::stdout().is_terminal();
    if cli.report.is_empty() && !cli.quiet {
        reports.add(Human::new(stdout()?, coloured(cli.color, on_terminal)));
    }
    for report in &cli.report {
        let target = match &report.file {
            Some(file) => Target::file(file).map_err(|error| error.to_string())?,
            None if cli.quiet => continue,
            None => stdout()?,
        };
        let on_terminal = on_terminal && report.file.is_none();
        match report.format {
            ReportFormat::Human => {
                reports.add(Human::new(target, coloured(cli.color, on_terminal)));
            }
            ReportFormat::Json => reports.add(Json::new(target)),
        }
    }
    Ok(reports)
}

/// Whether the human report is coloured: the flag, then `NO_COLOR`, then `FORCE_COLOR` and
/// `CLICOLOR_FORCE`, then what the target is.
fn coloured(color: Color, on_terminal: bool) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = |name| set(name) && env::var_os(name).is_some_and(|value| value != "0");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if forced("FORCE_COLOR") || forced("CLICOLOR_FORCE") => true,
        Color::Auto => {
            on_terminal
                && env::var_os("CLICOLOR").is_none_or(|value| value != "0")
                && env::var_os("TERM").is_none_or(|value| value != "dumb")
        }
    }
}

/// Prints what was asked for; a failed write is no success.
fn print(text: &str) -> u8 {
    let written = descriptor::stdout().and_then(|mut stdout| stdout.write_all(text.as_bytes()));
    match written {
        Ok(()) => 0,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => COULD_NOT_CHECK,
        Err(error) => complain(&format!("failed to write to standard output: {error}")),
    }
}

/// One line on standard error, and the exit code that belongs to it.
fn complain(message: &str) -> u8 {
    // Nobody is left to tell if standard error is closed.
    let _ = writeln!(io::stderr(), "ndjson-check: {}", visible(message));
    COULD_NOT_CHECK
}

/// The parser's message without its usage, on one line.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let end = text.find("\n\nUsage:").or_else(|| text.find("\n\nFor more")).unwrap_or(text.len());
    let message = text[..end].strip_prefix("error: ").unwrap_or(&text[..end]);
    let words: Vec<&str> = message.split_whitespace().collect();
    format!("{} (see --help)", words.join(" "))
}
