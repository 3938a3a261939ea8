//! The syntax of the command line. `setup` and `commands` interpret it.

mod generated;
mod help;
mod log;
mod redact;
mod replay;
mod retry;
mod subcommand;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser};
use ndjson_check_core::LINE_BYTES_MAX;
use ndjson_check_core::Rule;
use ndjson_check_core::internals::REPEATED_CALLS;

use crate::cli::config::{Cost, Count};

use help::{USAGE, long, short};
use log::LogArgs;
use values::{duration, duration_or_none, jobs};

pub(crate) use generated::{completions, manual_page, meant_word, names_subcommand};
pub(crate) use help::{one_line, usage};
pub(crate) use redact::{RedactArgs, RedactMode};
pub(crate) use replay::{ReplayArgs, Speed};
pub(crate) use retry::RetryArgs;
pub(crate) use subcommand::{
    CompareFormat, DiffArgs, DriftArgs, ProfileDraft, SchemaOf, Subcommand,
};
pub(crate) use values::{
    Color, EngineName, InputFormat, ReportFormat, ReportTo, SessionCount, Size, Target, rule,
};

/// The value of `--exit-grace` without the flag.
#[cfg_attr(not(unix), expect(dead_code, reason = "run mode needs a Unix system"))]
pub(crate) const EXIT_GRACE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) enum Invocation {
    Check(Box<Cli>),
    Subcommand(Subcommand),
}

impl Invocation {
    /// Reads the arguments; the first is the name of the program. A request for help or the version
    /// is an error, too.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let short_help = arguments.iter().any(|argument| argument == "-h");
        // A negative number is a wrong value of an option, and not an unknown option.
        let negative = |arg: clap::Arg| {
            let takes_value = arg.get_long().is_some() && arg.get_action().takes_values();
            arg.allow_negative_numbers(takes_value)
        };
        let command = CommandLine::command().mut_args(negative);
        let command = command.mut_subcommands(|subcommand| subcommand.mut_args(negative));
        let mut command = if short_help { short(command) } else { long(command) };
        let matches = command.try_get_matches_from_mut(arguments)?;
        let CommandLine { subcommand, check } = CommandLine::from_arg_matches(&matches)?;
        Ok(match subcommand {
            Some(subcommand) => Self::Subcommand(subcommand),
            None => Self::Check(Box::new(check)),
        })
    }
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

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct Cli {
    /// Files, or directories of *.ndjson and *.jsonl, also .gz and .zst [default: stdin]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Run this command; check its output, exit status and stderr
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "files")]
    pub(crate) command: Vec<OsString>,

    /// Agent profile: built-in name, profile file, or `auto` to detect it
    #[arg(long, value_name = "NAME|FILE", help_heading = "Check")]
    pub(crate) profile: Option<String>,

    /// Use the strict severity of every rule
    #[arg(long, help_heading = "Check")]
    pub(crate) strict: bool,

    /// Make this rule an error
    #[arg(long, value_name = "RULE", value_parser = rule, value_delimiter = ',')]
    #[arg(help_heading = "Check")]
    pub(crate) deny: Vec<Rule>,

    /// Make this rule a warning
    #[arg(long, value_name = "RULE", value_parser = rule, value_delimiter = ',')]
    #[arg(help_heading = "Check")]
    pub(crate) warn: Vec<Rule>,

    /// Turn this rule off
    #[arg(long, value_name = "RULE", value_parser = rule, value_delimiter = ',')]
    #[arg(help_heading = "Check")]
    pub(crate) allow: Vec<Rule>,

    /// Also check every event against this JSON Schema
    #[arg(long, value_name = "FILE", help_heading = "Check")]
    pub(crate) schema: Option<PathBuf>,

    /// Compare the stream with this exit status
    #[arg(long, value_name = "N", help_heading = "Check")]
    pub(crate) exit_status: Option<u8>,

    /// Accept the findings in this file; new ones, and missing ones, fail
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline", help_heading = "Check")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings to this file, for --baseline
    #[arg(long, value_name = "FILE", help_heading = "Check")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Format of the stream; `array` is one JSON array of events
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "auto")]
    #[arg(hide_default_value = true, help_heading = "Check")]
    pub(crate) input_format: InputFormat,

    /// Read this configuration file [default: the nearest ndjson-check.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config", help_heading = "Check")]
    pub(crate) config: Option<PathBuf>,

    /// Read no configuration file
    #[arg(long, help_heading = "Check")]
    pub(crate) no_config: bool,

    /// Print the settings as a configuration file, and check nothing
    #[arg(long, help_heading = "Check")]
    pub(crate) print_config: bool,

    /// Sessions in one stream: judge all as one run, or each on its own
    #[arg(long, value_enum, value_name = "HOW-MANY", default_value = "one")]
    #[arg(help_heading = "Check")]
    pub(crate) sessions: SessionCount,

    /// Equal tool calls in a row that are reported
    #[arg(long, value_name = "N", default_value_t = REPEATED_CALLS)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..), help_heading = "Check")]
    pub(crate) repeated_calls: u64,

    /// Longest line, such as 512KiB
    #[arg(long, value_name = "SIZE", default_value_t = Size(LINE_BYTES_MAX))]
    #[arg(help_heading = "Check")]
    pub(crate) max_line_bytes: Size,

    /// Parsing engine, for debugging; all give the same result
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "fast", hide = true)]
    #[arg(help_heading = "Check")]
    pub(crate) engine: EngineName,

    /// Most that the run may cost, in US dollars
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    pub(crate) max_cost: Option<Cost>,

    /// Most tokens, in and out, cached ones included
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_tokens: Option<Count<1>>,

    /// Most turns of the model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_turns: Option<Count<1>>,

    /// Most tool calls
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_calls: Option<Count<0>>,

    /// Most tool calls that fail
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_failed_calls: Option<Count<0>>,

    /// Write the stream in this form; the report goes to stderr
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Convert")]
    #[arg(hide_possible_values = true)]
    pub(crate) to: Option<Target>,

    /// With `--to stream-json`: write only valid events
    #[arg(long, help_heading = "Convert")]
    pub(crate) only_valid: bool,

    /// With `--to`: do not escape control characters
    #[arg(long, requires = "to", help_heading = "Convert")]
    pub(crate) raw: bool,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    /// Keep a copy of the stream as it came; of redacted lines with --redact
    #[arg(long, value_name = "FILE", help_heading = "Convert")]
    pub(crate) tee: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) redact: RedactArgs,

    /// Longest run, such as 10m or 1h30m; also for stdin
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Run")]
    pub(crate) timeout: Option<Duration>,

    /// Longest wait for an event while no call is open
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Run")]
    pub(crate) idle_timeout: Option<Duration>,

    /// Grace after the terminal event [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration_or_none, help_heading = "Run")]
    pub(crate) exit_grace: Option<Duration>,

    /// Give the command an empty standard input
    #[arg(long, requires = "command", help_heading = "Run")]
    pub(crate) no_stdin: bool,

    /// Exit with the command's own code instead of 0 or 3
    #[arg(long, requires = "command", help_heading = "Run")]
    pub(crate) propagate_exit_code: bool,

    #[command(flatten)]
    pub(crate) retry: RetryArgs,

    /// Check N files at a time, at most 4 per core [default: one per core]
    #[arg(long, value_name = "N", value_parser = jobs, conflicts_with = "command")]
    #[arg(help_heading = "Files")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Also check the files listed in FILE, one per line; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "files0_from"])]
    #[arg(help_heading = "Files")]
    pub(crate) files_from: Option<PathBuf>,

    /// Same, NUL-separated, as written by `find -print0`
    #[arg(long, value_name = "FILE", conflicts_with = "command", help_heading = "Files")]
    pub(crate) files0_from: Option<PathBuf>,

    /// Write a report: human, json, github, markdown, junit, sarif, html
    #[arg(long, value_name = "FORMAT[=FILE]", action = ArgAction::Append)]
    #[arg(help_heading = "Report")]
    pub(crate) report: Vec<ReportTo>,

    /// Colour of the human report and the log [auto, always, never]
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, help_heading = "Report")]
    pub(crate) color: Color,

    /// Show times, durations and totals of the tool calls
    #[arg(long, help_heading = "Report")]
    pub(crate) stats: bool,

    /// Write no report to standard output
    #[arg(short, long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

impl Cli {
    pub(crate) fn is_timed(&self) -> bool {
        self.timeout.is_some() || self.idle_timeout.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        long(CommandLine::command()).debug_assert();
        short(CommandLine::command()).debug_assert();
    }

    #[test]
    fn the_short_help_names_options_that_exist() {
        let command = CommandLine::command();
        for id in help::MOST_USED {
            assert!(command.get_arguments().any(|arg| arg.get_id() == id), "{id}");
        }
    }
}
