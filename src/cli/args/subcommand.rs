//! The syntax of the subcommands.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use ndjson_check_core::{Rule, internals::DEFAULT};

use super::completions::Shell;
use super::{RedactArgs, ReplayArgs, rule};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// List the rules, or explain one
    Rules {
        /// Print the page of this rule
        #[arg(value_name = "NAME", value_parser = rule)]
        name: Option<Rule>,
    },
    /// List the profiles of agents, print one, or draft a new one
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
    /// Print a JSON Schema: events, reports, settings and others
    Schema {
        /// Print the schema of this format
        #[arg(value_enum, value_name = "WHAT", default_value = "events")]
        of: SchemaOf,

        /// For events: a built-in profile or a profile file
        #[arg(long, value_name = "NAME|FILE", help = format!(
            "For events: a built-in profile or a profile file [default: {DEFAULT}]"
        ))]
        profile: Option<String>,
    },
    /// Join json reports into one; the most severe exit code wins
    #[command(mut_arg("modes", |arg| {
        // Content is refused with the reason: a report does not say what in it is content.
        arg.value_name("secrets").hide_possible_values(true).help("Replace secrets in the result")
    }))]
    Merge {
        /// The reports: files, or `-` for standard input
        #[arg(value_name = "REPORT", required = true)]
        reports: Vec<PathBuf>,

        #[command(flatten)]
        redact: RedactArgs,
    },
    /// Show what changed between two recordings
    Diff(DiffArgs),
    /// List the events, tools and fields that are not in the profile
    Drift(DriftArgs),
    /// Play a recording as its agent wrote it: a fake agent for tests
    Replay(ReplayArgs),
    /// Print the completion script for a shell
    Completions {
        /// The shell
        #[arg(value_enum, value_name = "SHELL")]
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ProfileDraft {
    /// Draft a profile with its schema from recordings; stderr explains the choices
    Draft {
        /// Recordings: files, or directories of *.ndjson and *.jsonl
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    Events,
    Report,
    Profile,
    Config,
    Baseline,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing new, 1 new or uncounted names, 2 unreadable recordings"
)]
pub(crate) struct DriftArgs {
    /// Recordings: files, or directories and tar archives of *.ndjson and *.jsonl
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Leave out names that also occur in these older recordings
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub(crate) known: Vec<PathBuf>,

    /// Format of the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub(crate) report: CompareFormat,

    /// The agent's profile: a built-in name or a file; `auto` detects the agent
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) profile: Option<String>,

    #[command(flatten)]
    pub(crate) redact: RedactArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the runs did the same, 1 they differ, or a part was not compared, \
                  2 one could not be read"
)]
pub(crate) struct DiffArgs {
    /// The first recording, such as that of the old version
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,

    /// The second recording
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,

    /// Format of the result
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub(crate) report: CompareFormat,

    /// The agent's profile: a built-in name or a file; `auto` detects the agent
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) profile: Option<String>,

    #[command(flatten)]
    pub(crate) redact: RedactArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    Human,
    Json,
    Markdown,
}
