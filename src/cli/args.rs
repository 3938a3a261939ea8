//! The syntax of the command line. `setup` and `commands` interpret it.

mod completions;
mod duration;
mod help;
mod log;
mod mistakes;
mod redact;
mod replay;
mod retry;
mod shell_words;
mod subcommand;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser};
use ndjson_check_config::{Cost, Count, rule};
use ndjson_check_core::LINE_BYTES_MAX;
use ndjson_check_core::Rule;
use ndjson_check_core::internals::REPEATED_CALLS;
use ndjson_check_formats::Form;

use super::inputs::STDIN;
use duration::{duration, duration_or_none};
use help::{USAGE, help_width, long, short};
use log::LogArgs;
use values::{CallTimeout, count, exit_status, forms, jobs, repeats, reports_apart};

pub(crate) use completions::{completions, manual_page};
pub(crate) use help::{one_line, painted, usage};
pub(crate) use mistakes::{meant_order, meant_subcommand, meant_word, names_subcommand};
pub(crate) use redact::{RedactArgs, RedactMode};
pub(crate) use replay::{ReplayArgs, Speed};
pub(crate) use retry::RetryArgs;
pub(crate) use shell_words::{in_shell, quoted};
pub(crate) use subcommand::{
    CompareFormat, DiffArgs, DriftArgs, ProfileDraft, SchemaOf, Subcommand,
};
pub(crate) use values::{
    Color, EngineName, InputFormat, ReportFormat, ReportTo, SessionCount, Size,
};

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
        let command = CommandLine::command().mut_args(negative).term_width(help_width());
        let command = command.mut_subcommands(|subcommand| subcommand.mut_args(negative));
        let mut command = if short_help { short(command) } else { long(command) };
        let matches = command.try_get_matches_from_mut(reports_apart(arguments))?;
        let CommandLine { subcommand, check } = CommandLine::from_arg_matches(&matches)?;
        Ok(match subcommand {
            Some(subcommand) => Self::Subcommand(subcommand),
            None => Self::Check(Box::new(check)),
        })
    }
}

/// Checks what an AI coding agent writes: is the run complete, and did it succeed?
#[derive(Debug, Parser)]
#[command(name = "ndjson-check", bin_name = "ndjson-check", version, override_usage = USAGE)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(subcommand_help_heading = "Subcommands")]
struct CommandLine {
    #[command(subcommand)]
    subcommand: Option<Subcommand>,

    #[command(flatten)]
    check: Cli,
}

#[derive(Debug, Args)]
pub(crate) struct Cli {
    /// Recordings: files, or directories and tar archives with *.ndjson and *.jsonl,
    /// also .gz and .zst [default: stdin]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Run this command; check its output, exit status and stderr
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "files")]
    pub(crate) command: Vec<OsString>,

    /// The agent's profile: a built-in name or a file; `auto` detects the agent
    #[arg(long, value_name = "NAME|FILE", help_heading = "Check")]
    pub(crate) profile: Option<String>,

    /// Raise every rule to its strict severity
    #[arg(long, help_heading = "Check")]
    pub(crate) strict: bool,

    /// Make this rule an error; separate several with commas
    #[arg(long, value_name = "RULE", value_parser = rule, value_delimiter = ',')]
    #[arg(help_heading = "Check")]
    pub(crate) deny: Vec<Rule>,

    /// Make this rule a warning; separate several with commas
    #[arg(long, value_name = "RULE", value_parser = rule, value_delimiter = ',')]
    #[arg(help_heading = "Check")]
    pub(crate) warn: Vec<Rule>,

    /// Turn this rule off; separate several with commas
    #[arg(long, value_name = "RULE", value_parser = rule, value_delimiter = ',')]
    #[arg(help_heading = "Check")]
    pub(crate) allow: Vec<Rule>,

    /// Also check every event against this JSON Schema
    #[arg(long, value_name = "FILE", help_heading = "Check")]
    pub(crate) schema: Option<PathBuf>,

    /// Exit status of the agent that wrote the stream
    #[arg(long, value_name = "N", value_parser = exit_status, help_heading = "Check")]
    pub(crate) exit_status: Option<u8>,

    /// Accept the findings in this file; fail on new errors and missing findings
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline", help_heading = "Check")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings to this file, which `--baseline` then accepts
    #[arg(long, value_name = "FILE", help_heading = "Check")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Format of the stream: one event on each line, one object, or an array of events
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "auto")]
    #[arg(hide_default_value = true, help_heading = "Check")]
    pub(crate) input_format: InputFormat,

    /// Read this configuration file [default: the nearest ndjson-check.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config", help_heading = "Check")]
    pub(crate) config: Option<PathBuf>,

    /// Read no configuration file
    #[arg(long, help_heading = "Check")]
    pub(crate) no_config: bool,

    /// Print the settings as a configuration file, and exit
    #[arg(long, help_heading = "Check")]
    pub(crate) print_config: bool,

    /// Judge all sessions in a stream as one run, or each session as a run
    #[arg(long, value_enum, value_name = "HOW-MANY", default_value = "one")]
    #[arg(help_heading = "Check")]
    pub(crate) sessions: SessionCount,

    /// Report N equal tool calls in a row
    #[arg(long, value_name = "N", default_value_t = REPEATED_CALLS)]
    #[arg(value_parser = repeats, help_heading = "Check")]
    pub(crate) repeated_calls: u64,

    /// Longest line that is read, such as 512KiB
    #[arg(long, value_name = "SIZE", default_value_t = Size(LINE_BYTES_MAX))]
    #[arg(help_heading = "Check")]
    pub(crate) max_line_bytes: Size,

    /// Parsing engine, for debugging; all give the same result
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "fast", hide = true)]
    #[arg(help_heading = "Check")]
    pub(crate) engine: EngineName,

    /// Maximum cost of the run, in US dollars
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    pub(crate) max_cost: Option<Cost>,

    /// Maximum number of tokens, in and out, cached ones included
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_tokens: Option<Count<1>>,

    /// Maximum number of turns of the model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_turns: Option<Count<1>>,

    /// Maximum number of tool calls
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_calls: Option<Count<0>>,

    /// Maximum number of tool calls that fail
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_failed_calls: Option<Count<0>>,

    /// Write the stream to stdout in this form, see below; the report goes to stderr
    #[arg(long, value_parser = forms(), value_name = "FORM", help_heading = "Convert")]
    #[arg(hide_possible_values = true)]
    pub(crate) to: Option<Form>,

    /// With `--to stream-json`: write only the valid events
    #[arg(long, help_heading = "Convert")]
    pub(crate) only_valid: bool,

    /// With `--to`: leave control characters as they are
    #[arg(long, requires = "to", help_heading = "Convert")]
    pub(crate) raw: bool,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    /// Write a copy of the stream to this file, redacted if `--redact` is given
    #[arg(long, value_name = "FILE", help_heading = "Convert")]
    pub(crate) tee: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) redact: RedactArgs,

    /// Stop the run after this time, such as 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Run")]
    pub(crate) timeout: Option<Duration>,

    /// Stop the run after this time without an event, unless a tool call is open
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Run")]
    pub(crate) idle_timeout: Option<Duration>,

    /// Stop the run if a tool call takes longer than this; KIND=TIME for one kind
    #[arg(long, value_name = "TIME", value_delimiter = ',', help_heading = "Run")]
    pub(crate) call_timeout: Vec<CallTimeout>,

    /// Time to exit after the terminal event and awaited background work [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration_or_none, help_heading = "Run")]
    pub(crate) exit_grace: Option<Duration>,

    /// Give the command an empty standard input
    #[arg(long, help_heading = "Run")]
    pub(crate) no_stdin: bool,

    /// Exit with a failed command's code, not with 0 or 3
    #[arg(long, help_heading = "Run")]
    pub(crate) propagate_exit_code: bool,

    #[command(flatten)]
    pub(crate) retry: RetryArgs,

    /// Check N files at a time, at most 4 per core [default: one per core]
    #[arg(long, value_name = "N", value_parser = jobs, conflicts_with = "command")]
    #[arg(help_heading = "Files")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Also check the files that FILE lists, one on each line; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "files0_from"])]
    #[arg(help_heading = "Files")]
    pub(crate) files_from: Option<PathBuf>,

    /// Also check the files that FILE lists, with NUL between them (`find -print0`)
    #[arg(long, value_name = "FILE", conflicts_with = "command", help_heading = "Files")]
    pub(crate) files0_from: Option<PathBuf>,

    /// Accept up to N inputs that cannot be read
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "command")]
    #[arg(hide_default_value = true, value_parser = count::<u64>, help_heading = "Files")]
    pub(crate) unreadable: u64,

    /// Write a report to stdout or FILE: human, json, github, markdown, junit, sarif, html=FILE
    #[arg(long, value_name = "FORMAT[=FILE]", action = ArgAction::Append)]
    #[arg(help_heading = "Report")]
    pub(crate) report: Vec<ReportTo>,

    /// When to colour the human report [auto, always, never]
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true, help_heading = "Report")]
    pub(crate) color: Color,

    /// Show how long the run and its tool calls took
    #[arg(long, help_heading = "Report")]
    pub(crate) stats: bool,

    /// Write no human report and no annotations
    #[arg(short, long, help_heading = "Report")]
    pub(crate) quiet: bool,
}

impl Cli {
    pub(crate) fn reads_only_stdin(&self) -> bool {
        let has_list = self.files_from.is_some() || self.files0_from.is_some();
        !has_list && self.files.iter().all(|file| file.as_os_str() == STDIN)
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.timeout.is_some() || self.idle_timeout.is_some() || !self.call_timeout.is_empty()
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
