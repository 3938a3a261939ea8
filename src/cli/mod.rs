//! One run of the program: from what was typed to the exit code.

pub mod args;
mod batch;
mod choice;
#[cfg_attr(not(unix), path = "no_command.rs")]
mod command;
pub mod draft;
pub mod inputs;
mod outputs;
#[cfg(unix)]
pub mod producer;
pub mod progress;
mod relay;
pub mod stdio;
pub mod tee;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::mem::ManuallyDrop;
use std::path::Path;

use clap::{CommandFactory as _, Parser as _};

use crate::cli::args::{Cli, EngineName, InputFormat, PrintSchema};
use crate::check::contract::{Contract, Engine};
use crate::error::Error;
use crate::profile::detect::AUTO;
use crate::cli::draft::infer;
use crate::cli::inputs::list::{self, Separator};
use crate::cli::inputs::{Input, STDIN, inputs};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::profile::{self, Profile};
use crate::output::report::{Report as _, json};
use crate::rules::{Rule, Severities, Severity};
use crate::check::summary::RunSummary;
use crate::check::verdict::Format;
use crate::rules::escape::{clipped, visible};
use crate::output::github_actions::{Guard, is_watched};

use choice::Contracts;
use outputs::{Failure, Outputs};

const COULD_NOT_CHECK: u8 = 2;

/// How a run of the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// The exit code.
    pub code: u8,
    /// The signal that we are to die of instead: it was meant for us, and we were not done.
    #[cfg(unix)]
    pub interrupt: Option<crate::cli::producer::Interrupt>,
}

impl From<u8> for Exit {
    fn from(code: u8) -> Self {
        Self {
            code,
            #[cfg(unix)]
            interrupt: None,
        }
    }
}

/// Runs the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.last().is_some_and(|last| last == "--") {
        // Such as `-- $COMMAND` without the variable: not to be taken for a pipe.
        return complain("a command is to follow --").into();
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return complain(&one_line(&error)).into(),
        Err(help) => return print(&help.to_string()).into(),
    };
    if cli.infer {
        return draft(&cli).into();
    }
    match modes(&cli) {
        Some(Ok(text)) => print(&text).into(),
        Some(Err(error)) => complain(&error.to_string()).into(),
        None => prepare(&cli).unwrap_or_else(|message| complain(&message).into()),
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
    if cli.list_profiles {
        return Some(profile_list());
    }
    if let Some(name) = &cli.print_profile {
        return Some(Profile::whole_text(name));
    }
    Some(match cli.print_schema? {
        PrintSchema::Report => Ok(json::SCHEMA.to_owned()),
        PrintSchema::ProfileFile => Ok(profile::LANGUAGE.to_owned()),
        PrintSchema::Profile => Profile::load(named_profile(cli)).and_then(|(_, schema)| {
            let none = || Error::Profile {
                origin: cli.profile.clone(),
                message: "it has no schema".to_owned(),
            };
            schema.map(|schema| format!("{:#}\n", schema.document())).ok_or_else(none)
        }),
    })
}

/// Prints the draft of a profile, and on standard error what it rests on.
fn draft(cli: &Cli) -> u8 {
    let draft = match infer(&cli.files) {
        Ok(draft) => draft,
        Err(error) => return complain(&error.to_string()),
    };
    // Nobody is left to tell if standard error is closed.
    draft.evidence.iter().for_each(|told| drop(say(told)));
    let mut profile = Vec::new();
    let written = if is_watched() {
        Guard::new(&mut profile).write_all(draft.profile().as_bytes())
    } else {
        profile.write_all(draft.profile().as_bytes())
    };
    let text = written.map(|()| String::from_utf8_lossy(&profile));
    text.map_or(COULD_NOT_CHECK, |text| print(&text))
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

fn profile_list() -> Result<String, Error> {
    let mut text = format!("{:<13} AGENT, AND THE VERSIONS SEEN\n", "PROFILE");
    for name in Profile::names() {
        let (profile, _) = Profile::load(name)?;
        let seen = profile.versions.seen.join(", ");
        let seen = if seen.is_empty() { seen } else { format!("\n{:13} {seen}", "") };
        text.extend([format!("{name:<13} {}{seen}\n", profile.title)]);
    }
    Ok(text)
}

/// Opens everything and checks; an error is one line for the user.
fn prepare(cli: &Cli) -> Result<Exit, String> {
    let runs = !cli.command.is_empty();
    let listed = cli.files_from.is_some() || cli.files0_from.is_some();
    if !runs && !listed && cli.files.is_empty() && io::stdin().is_terminal() {
        let usage = Cli::command().render_usage();
        let _ = writeln!(io::stderr(), "{usage}\n\nFor all options: ndjson-check --help");
        return Ok(COULD_NOT_CHECK.into());
    }
    let inputs = if runs { Vec::new() } else { streams(cli)? };
    let timed = cli.timeout.is_some() || cli.idle_timeout.is_some();
    if inputs.len() > 1 && cli.exit_status.is_some() {
        return Err("--exit-status is of one run, and there are several streams".to_owned());
    }
    if inputs.len() > 1 && cli.tee.is_some() {
        return Err("--tee is of one stream, and there are several".to_owned());
    }
    if !runs && (cli.no_stdin || cli.propagate) {
        return Err("--no-stdin and --propagate are of a command".to_owned());
    }
    if runs && cli.exit_status.is_some() {
        return Err("--exit-status is not needed: the command's own is known".to_owned());
    }
    if timed && !runs && !matches!(inputs[..], [Ok(Input::Stdin)]) {
        return Err("timeouts are of standard input or of a command, not of files".to_owned());
    }
    // They are used to the end: the system takes them back quicker than we could, piece by piece.
    let contracts = ManuallyDrop::new(Contracts::new(cli)?);
    outputs::distinct(cli, &inputs)?;
    let progress = outputs::progress(cli, &inputs);
    let mut outputs = Outputs::open(cli, contracts.first().profile(), progress)?;
    // So that a signal finds the report finished, and no half of one left behind.
    let leaves_files = cli.report.iter().any(|report| report.file.is_some());
    if runs || timed || (leaves_files && matches!(inputs[..], [Ok(Input::Stdin)])) {
        return command::check_producer(cli, &contracts, &mut outputs);
    }
    Ok(batch::check_inputs(&inputs, &contracts, cli.jobs, &mut outputs).into())
}

/// The streams that the command line names, and those of a list after them.
fn streams(cli: &Cli) -> Result<Vec<Result<Input, Error>>, String> {
    let (list, separator) = match (&cli.files_from, &cli.files0_from) {
        (None, None) => return Ok(inputs(cli.files.clone())),
        (Some(list), _) => (list, Separator::Newline),
        (None, Some(list)) => (list, Separator::Nul),
    };
    let listed = list::names(list, separator).map_err(|error| error.to_string())?;
    let nothing = listed.is_empty().then(|| Error::NothingToCheck {
        origin: list.display().to_string(),
        message: "the list names no file".to_owned(),
    });
    let names = [cli.files.clone(), listed].concat();
    if list.as_os_str() == STDIN && names.iter().any(|name| name.as_os_str() == STDIN) {
        return Err("standard input is the list, and cannot be a stream as well".to_owned());
    }
    let streams = if names.is_empty() { Vec::new() } else { inputs(names) };
    Ok(streams.into_iter().chain(nothing.map(Err)).collect())
}

/// Tells the reports the sum, and the exit code.
fn conclude(mut total: RunSummary, outputs: &mut Outputs<'_>) -> u8 {
    // Every stream's report has been flushed: what failed until here is in the summary.
    total.unwritten = outputs.failure().is_some();
    // Reports never fail: they remember.
    let _ = outputs.reports.summary(&total);
    match outputs.failure() {
        None => total.exit_code(),
        Some(Failure::Silent) => COULD_NOT_CHECK,
        Some(Failure::Told(message)) => complain(&message),
    }
}

/// What streams are held against, as the command line says; if it leaves the profile to the
/// stream, what one is held against that shows none.
///
/// # Errors
///
/// When the profile, the schema or the severities cannot be used; one line for the user.
pub fn contract(cli: &Cli) -> Result<Contract, String> {
    contract_of(cli, named_profile(cli))
}

/// The profile that is named, or the one used where a stream shows none.
fn named_profile(cli: &Cli) -> &str {
    if cli.profile == AUTO { profile::DEFAULT } else { &cli.profile }
}

/// As [`contract`], of this profile.
fn contract_of(cli: &Cli, profile: &str) -> Result<Contract, String> {
    let (profile, schema) = Profile::load(profile).map_err(|error| error.to_string())?;
    let mut contract = Contract::new(profile, schema).map_err(|error| error.to_string())?;
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
    contract.engine = match cli.engine {
        EngineName::Fast => Engine::Fast,
        EngineName::Uncached => Engine::Uncached,
        EngineName::Reference => Engine::Reference,
    };
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

/// Prints what was asked for; a failed write is no success.
fn print(text: &str) -> u8 {
    let written = stdio::stdout().and_then(|mut stdout| stdout.write_all(text.as_bytes()));
    match written {
        Ok(()) => 0,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => COULD_NOT_CHECK,
        Err(error) => complain(&format!("failed to write to standard output: {error}")),
    }
}

/// One line on standard error, and the exit code that belongs to it.
fn complain(message: &str) -> u8 {
    // A name may be as long as the file that was taken for a list.
    // Nobody is left to tell if standard error is closed.
    let _ = say(&format!("ndjson-check: {message}"));
    COULD_NOT_CHECK
}

/// One line on standard error.
fn say(message: &str) -> io::Result<()> {
    let line = format!("{}\n", clipped(&visible(message), MESSAGE_BYTES_MAX));
    if is_watched() {
        Guard::new(io::stderr()).write_all(line.as_bytes())
    } else {
        io::stderr().write_all(line.as_bytes())
    }
}

/// The parser's message without its usage, on one line.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // Of the parser's tips only those for slips of the pen fit.
    let tip = paragraphs.flat_map(str::lines).map(str::trim).find_map(|it| {
        it.strip_prefix("tip: ")
            .filter(|it| it.starts_with("a similar") || it.starts_with("some similar"))
    });
    let tip = tip.map_or(String::new(), |tip| format!("; {tip}"));
    let words: Vec<&str> = message.split_whitespace().collect();
    format!("{}{tip} (see --help)", words.join(" "))
}
