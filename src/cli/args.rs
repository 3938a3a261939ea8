//! The command line: what can be typed. `setup` and `commands` say what it means.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};

use super::exit;
use crate::limits::{JOBS_PER_CORE_MAX, LINE_BYTES_MAX, TIMER_MAX};
use crate::profile::DEFAULT;
use crate::profile::detect::AUTO;
use crate::rules::suggest::nearest;
use crate::rules::{Rule, UnknownRule};

const USAGE: &str = "\
agent --print --output-format stream-json | ndjson-check [OPTIONS]
       ndjson-check [OPTIONS] [FILE]...
       ndjson-check [OPTIONS] -- COMMAND [ARG]...";

const FORMS: &str = "\
Forms of --to:
  text         one line per action, as it happens
  transcript   the assistant's text, with the actions in between
  answer       only the final message of a run that succeeded
  json         the agent's single object, if the run succeeded
  stream-json  the input's own bytes";

const NOTES: &str = "\
If killed by a signal, the exit status is 128+N.

A file that is named like a subcommand is given as ./rules, for example.";

/// The options that `-h` shows; `--help` shows them all.
const MOST_USED: [&str; 8] =
    ["profile", "strict", "exit_status", "to", "timeout", "idle_timeout", "report", "quiet"];

const SHORT_NOTES: &str = "\
Exit codes: 0 success, 1 not conforming, 2 not checked, 3 failed, 4 timed out";

/// What was typed.
#[derive(Debug)]
pub(crate) enum Invocation {
    /// A check.
    Check(Box<Cli>),
    /// Something that checks nothing.
    Subcommand(Subcommand),
}

impl Invocation {
    /// Reads the arguments; the first is the name of the program.
    ///
    /// # Errors
    ///
    /// When they are wrong, or ask for help or the version.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let short_help = arguments.iter().any(|argument| argument == "-h");
        let mut command = if short_help { short(CommandLine::command()) } else { long() };
        let matches = command.try_get_matches_from_mut(arguments)?;
        let CommandLine { subcommand, check } = CommandLine::from_arg_matches(&matches)?;
        Ok(match subcommand {
            Some(subcommand) => Self::Subcommand(subcommand),
            None => Self::Check(Box::new(check)),
        })
    }
}

/// The usage, for a terminal without arguments.
pub(crate) fn usage() -> String {
    CommandLine::command().render_usage().to_string()
}

/// The parser's message without its usage, on one line.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // Of the parser's tips only those about spelling fit.
    let tip = paragraphs.flat_map(str::lines).map(str::trim).find_map(|line| {
        line.strip_prefix("tip: ")
            .filter(|tip| tip.starts_with("a similar") || tip.starts_with("some similar"))
    });
    let tip = tip.map_or(String::new(), |tip| format!("; {tip}"));
    let words: Vec<&str> = message.split_whitespace().collect();
    format!("{}{tip} (see --help)", words.join(" "))
}

/// The command line with the help of `--help`.
fn long() -> clap::Command {
    CommandLine::command().after_help(format!("{FORMS}\n\n{}\n{NOTES}", exit::table()))
}

/// The command line with the help of `-h`: the most used options, on one screen.
fn short(command: clap::Command) -> clap::Command {
    let command = command.after_help(SHORT_NOTES).mut_args(|arg| {
        if MOST_USED.contains(&arg.get_id().as_str()) {
            arg.help_heading(None)
        } else {
            arg.hide(true)
        }
    });
    command.mut_arg("to", |arg| arg.help("Convert the stream to text, answer, ... (see --help)"))
}

/// Checks the NDJSON event stream of an AI coding agent.
#[derive(Debug, Parser)]
#[command(name = "ndjson-check", version, max_term_width = 80, override_usage = USAGE)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(subcommand_help_heading = "Subcommands")]
struct CommandLine {
    #[command(subcommand)]
    subcommand: Option<Subcommand>,

    #[command(flatten)]
    check: Cli,
}

/// The subcommands: they check nothing.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// List the rules, or explain one
    Rules {
        /// Print the page of this rule
        #[arg(value_name = "NAME", value_parser = rule)]
        name: Option<Rule>,
    },
    /// List the built-in profiles, print one, or draft a new one
    #[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
    #[command(
        subcommand_help_heading = "Subcommands",
        override_usage = "\
ndjson-check profiles [NAME]
       ndjson-check profiles draft <FILE>..."
    )]
    Profiles {
        /// Print this built-in profile with its schema, as a starting point
        #[arg(value_name = "NAME")]
        name: Option<String>,

        #[command(subcommand)]
        draft: Option<ProfileDraft>,
    },
    /// Print a JSON Schema: of events, of the json report, or of profiles
    Schema {
        /// What the schema describes
        #[arg(value_enum, value_name = "WHAT", default_value = "events")]
        of: SchemaOf,

        /// For events: a built-in profile or a profile file
        #[arg(long, value_name = "NAME|FILE", help = format!(
            "For events: a built-in profile or a profile file [default: {DEFAULT}]"
        ))]
        profile: Option<String>,
    },
}

/// `profiles draft`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ProfileDraft {
    /// Draft a profile with its schema from recordings; reasons go to stderr
    Draft {
        /// Recordings: files, or directories of *.ndjson and *.jsonl
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

impl ProfileDraft {
    /// The recordings.
    pub(crate) fn files(&self) -> &[PathBuf] {
        let Self::Draft { files } = self;
        files
    }
}

/// What a printed schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The events of an agent.
    #[value(help = None)]
    Events,
    /// The lines of the json report.
    #[value(help = None)]
    Report,
    /// The files that `--profile` takes.
    #[value(help = None)]
    Profile,
}

/// The arguments of a check.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Cli {
    /// Files, or directories of *.ndjson and *.jsonl [default: stdin]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Run this command; check its output, exit status and stderr
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "files")]
    pub(crate) command: Vec<OsString>,

    /// Agent profile: built-in name, profile file, or `auto` to detect it
    #[arg(long, value_name = "NAME|FILE", default_value = AUTO, hide_default_value = true)]
    #[arg(help_heading = "Check")]
    pub(crate) profile: String,

    /// Use the strict severity of every rule
    #[arg(long, help_heading = "Check")]
    pub(crate) strict: bool,

    /// Make this rule an error
    #[arg(long, value_name = "RULE", value_parser = rule, action = ArgAction::Append)]
    #[arg(help_heading = "Check")]
    pub(crate) deny: Vec<Rule>,

    /// Make this rule a warning
    #[arg(long, value_name = "RULE", value_parser = rule, action = ArgAction::Append)]
    #[arg(help_heading = "Check")]
    pub(crate) warn: Vec<Rule>,

    /// Turn this rule off
    #[arg(long, value_name = "RULE", value_parser = rule, action = ArgAction::Append)]
    #[arg(help_heading = "Check")]
    pub(crate) allow: Vec<Rule>,

    /// Also check every event against this JSON Schema
    #[arg(long, value_name = "FILE", help_heading = "Check")]
    pub(crate) schema: Option<PathBuf>,

    /// Compare the stream with this exit status
    #[arg(long, value_name = "N", help_heading = "Check")]
    pub(crate) exit_status: Option<u8>,

    /// Format of the stream
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "auto")]
    #[arg(hide_default_value = true, help_heading = "Check")]
    pub(crate) input_format: InputFormat,

    /// Longest line, such as 512KiB
    #[arg(long, value_name = "SIZE", default_value_t = Size(LINE_BYTES_MAX))]
    #[arg(help_heading = "Check")]
    pub(crate) max_line_bytes: Size,

    /// Parsing engine, for debugging; all give the same result
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "fast", hide = true)]
    #[arg(help_heading = "Check")]
    pub(crate) engine: EngineName,

    /// Write the stream in this form; the report goes to stderr
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Convert")]
    #[arg(hide_possible_values = true)]
    pub(crate) to: Option<To>,

    /// With `--to stream-json`: write only valid events
    #[arg(long, help_heading = "Convert")]
    pub(crate) only_valid: bool,

    /// With `--to`: do not escape control characters
    #[arg(long, requires = "to", help_heading = "Convert")]
    pub(crate) raw: bool,

    /// Keep a copy of every byte received
    #[arg(long, value_name = "FILE", help_heading = "Convert")]
    pub(crate) tee: Option<PathBuf>,

    /// Longest run, such as 10m or 1h30m; also for stdin
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Run")]
    pub(crate) timeout: Option<Duration>,

    /// Longest wait for an event while no call is open
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Run")]
    pub(crate) idle_timeout: Option<Duration>,

    /// Time to exit after terminal event
    #[arg(long, value_name = "TIME", value_parser = duration_or_none)]
    #[arg(default_value = "10s", help_heading = "Run")]
    pub(crate) exit_grace: Duration,

    /// Give the command an empty standard input
    #[arg(long, requires = "command", help_heading = "Run")]
    pub(crate) no_stdin: bool,

    /// Exit with the command's own code instead of 0 or 3
    #[arg(long, requires = "command", help_heading = "Run")]
    pub(crate) propagate_exit_code: bool,

    /// Check N files at a time, at most 4 per core [default: one per core]
    #[arg(long, value_name = "N", value_parser = jobs, help_heading = "Files")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Also check the files listed in FILE, one per line; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "files0_from"])]
    #[arg(help_heading = "Files")]
    pub(crate) files_from: Option<PathBuf>,

    /// Same, NUL-separated, as written by `find -print0`
    #[arg(long, value_name = "FILE", conflicts_with = "command", help_heading = "Files")]
    pub(crate) files0_from: Option<PathBuf>,

    /// Write a human or json report; can be repeated
    #[arg(long, value_name = "FORMAT[=FILE]", action = ArgAction::Append)]
    #[arg(help_heading = "Report")]
    pub(crate) report: Vec<ReportTo>,

    /// Colour of the human report [auto, always, never]
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, help_heading = "Report")]
    pub(crate) color: Color,

    /// Write no report to standard output
    #[arg(short, long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

impl Cli {
    /// Whether a timeout is set.
    pub(crate) fn is_timed(&self) -> bool {
        self.timeout.is_some() || self.idle_timeout.is_some()
    }
}

/// What a stream is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    /// One line for each action, as it happens.
    #[value(help = None)]
    Text,
    /// The assistant's text, with the actions between.
    #[value(help = None)]
    Transcript,
    /// Only the final message of a run that succeeded.
    #[value(help = None)]
    Answer,
    /// The single object of a run that succeeded.
    #[value(help = None)]
    Json,
    /// The input's own bytes.
    #[value(help = None)]
    StreamJson,
}

/// The format the producer was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Told from the first event.
    #[value(help = None)]
    Auto,
    /// One event a line.
    #[value(help = None)]
    StreamJson,
    /// The single object.
    #[value(help = None)]
    Json,
}

/// How events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// A tape for each line, and a memory of the shapes of lines.
    #[value(help = None)]
    Fast,
    /// A tree for each line.
    #[value(help = None)]
    Reference,
}

/// When the human report is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment says otherwise.
    #[value(help = None)]
    Auto,
    /// Always.
    #[value(help = None)]
    Always,
    /// Never.
    #[value(help = None)]
    Never,
}

/// A report and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportTo {
    /// Its format.
    pub(crate) format: ReportFormat,
    /// Its file; none is standard output.
    pub(crate) file: Option<PathBuf>,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
}

impl FromStr for ReportTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = match text.split_once('=') {
            Some((_, "")) => return Err("the file name is empty".to_owned()),
            Some((format, "-")) => (format, None),
            Some((format, file)) => (format, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let format = match format {
            "human" => ReportFormat::Human,
            "json" => ReportFormat::Json,
            _ => return Err("the formats are human and json".to_owned()),
        };
        Ok(Self { format, file })
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl std::fmt::Display for Size {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            bytes if bytes > 0 && bytes.is_multiple_of(1 << 20) => {
                write!(out, "{}MiB", bytes >> 20)
            }
            bytes => write!(out, "{bytes}"),
        }
    }
}

/// A rule by its name.
fn rule(name: &str) -> Result<Rule, String> {
    name.parse().map_err(|unknown: UnknownRule| {
        let near = nearest(name, Rule::ALL.iter().map(|rule| rule.name()));
        let near = near.map_or(String::new(), |near| format!("; a similar one is {near}"));
        format!("{unknown}; `ndjson-check rules` lists them all{near}")
    })
}

/// A number of files to check at the same time. A larger number is lowered to what helps: the
/// check keeps a core busy, and many threads only wait for each other.
fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number: NonZeroUsize = text.parse().map_err(|_| "must be a whole number above 0")?;
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Ok(number.min(cores.saturating_mul(JOBS_PER_CORE_MAX)))
}

/// A duration as people write it.
fn duration(text: &str) -> Result<Duration, String> {
    match duration_or_none(text)? {
        Duration::ZERO => Err("must be greater than zero".to_owned()),
        duration => Ok(duration),
    }
}

fn duration_or_none(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(duration) if duration <= TIMER_MAX => Ok(duration),
        Ok(_) => Err("must be at most one year".to_owned()),
        Err(_) => Err("must be a duration such as 30s, 10m or 1h30m".to_owned()),
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let shift = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kib" => 10,
            "m" | "mib" => 20,
            "g" | "gib" => 30,
            _ => return Err("the units are KiB, MiB and GiB".to_owned()),
        };
        let number: u64 = number.parse().map_err(|_| "must be a number of bytes".to_owned())?;
        let size = number.checked_mul(1 << shift).filter(|size| *size > 0);
        size.map(Self).ok_or_else(|| "the size is out of range".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        long().debug_assert();
        short(CommandLine::command()).debug_assert();
    }

    #[test]
    fn the_short_help_names_options_that_exist() {
        let command = CommandLine::command();
        for id in MOST_USED {
            assert!(command.get_arguments().any(|arg| arg.get_id() == id), "{id}");
        }
    }

    #[test]
    fn jobs_are_capped() {
        let cores = thread::available_parallelism().expect("the system knows its cores");
        assert_eq!(jobs("1"), Ok(NonZeroUsize::MIN));
        assert_eq!(jobs("100000").map(NonZeroUsize::get), Ok(cores.get() * 4));
        assert!(jobs("0").is_err() && jobs("-1").is_err() && jobs("many").is_err());
    }

    #[test]
    fn sizes_have_units() {
        let of = |text: &str| text.parse::<Size>().ok().map(|size| size.0);
        assert_eq!(of("100"), Some(100));
        assert_eq!(of("64MiB"), Some(64 << 20));
        assert_eq!(of("2k"), Some(2048));
        assert_eq!(of("1G"), Some(1 << 30));
        for wrong in ["", "0", "x", "-1", "1.5M", "1TB", "99999999999999999999", "99999999999G"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(Size(LINE_BYTES_MAX).to_string(), "64MiB");
    }
}
