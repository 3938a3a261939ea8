//! The command line: what can be typed. What it means is in `run`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgAction, Parser, ValueEnum};

use crate::profile::detect::AUTO;
use crate::limits::{LINE_BYTES_MAX, TIMER_MAX};
use crate::rules::suggest::nearest;
use crate::rules::{Rule, UnknownRule};

const EXIT_CODES: &str = "\
Exit codes:
  0  every stream conforms and every run succeeded
  1  a stream does not conform; a missing terminal event is this
  2  could not be checked: usage, input or output, bad schema or profile,
     nothing to check
  3  every stream conforms, and a run failed as its contract allows,
     or was cut short
  4  timed out
When several apply: 2, 1, 4, 3, 0. Of run mode: 126 the command cannot be
executed, 127 it is not found. A signal that ends us ends us as it would any
command.

Limits: lines of 64 MiB (--max-line-bytes), 127 levels of nesting, 20000 tool
calls open at once, 1 MiB of text compared byte by byte. A longer line is
skipped and reported; what is beyond the others is said in the report.";

/// Checks the NDJSON event stream of an AI coding agent.
///
/// Reads the stream, validates every event, correlates tool calls, puts the text together and
/// looks for the terminal event; says what is wrong, where, and whether the run succeeded.
#[derive(Debug, Parser)]
#[command(name = "ndjson-check", version, after_help = EXIT_CODES, max_term_width = 80)]
#[command(override_usage = "agent --print --output-format stream-json | ndjson-check [OPTIONS]
       ndjson-check [OPTIONS] [FILE]...
       ndjson-check [OPTIONS] -- COMMAND [ARG]...")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Cli {
    /// Streams: files, or directories of *.ndjson and *.jsonl; none, or -, is standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Run this command and check its output, its exit status and its standard error
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "files")]
    pub command: Vec<OsString>,

    /// What the events mean: a built-in profile, a profile file, or auto: the one they show
    #[arg(long, value_name = "NAME|FILE", default_value = AUTO)]
    #[arg(help_heading = "Check")]
    pub profile: String,

    /// A JSON Schema that every event must satisfy as well
    #[arg(long, value_name = "FILE", help_heading = "Check")]
    pub schema: Option<PathBuf>,

    /// Give every rule its strict severity
    #[arg(long, help_heading = "Check")]
    pub strict: bool,

    /// The format the agent was asked for; json is its single object
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "auto")]
    #[arg(help_heading = "Check")]
    pub input: InputFormat,

    /// The exit status of the agent, to be held against its stream
    #[arg(long, value_name = "N", help_heading = "Check")]
    pub exit_status: Option<u8>,

    /// Longest line that is checked, in bytes or with a unit: 512KiB, 64MiB
    #[arg(long, value_name = "SIZE", default_value_t = Size(LINE_BYTES_MAX))]
    #[arg(help_heading = "Check")]
    pub max_line_bytes: Size,

    /// How events are read; all find the same, and reference is slow: for reporting a difference
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "fast")]
    #[arg(help_heading = "Check")]
    pub engine: EngineName,

    /// Make a rule an error
    #[arg(long, value_name = "RULE", value_parser = rule, action = ArgAction::Append)]
    #[arg(help_heading = "Check")]
    pub error: Vec<Rule>,

    /// Make a rule a warning
    #[arg(long, value_name = "RULE", value_parser = rule, action = ArgAction::Append)]
    #[arg(help_heading = "Check")]
    pub warn: Vec<Rule>,

    /// Turn a rule off
    #[arg(long, value_name = "RULE", value_parser = rule, action = ArgAction::Append)]
    #[arg(help_heading = "Check")]
    pub allow: Vec<Rule>,

    /// Files that are checked at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = jobs, help_heading = "Many")]
    pub jobs: Option<NonZeroUsize>,

    /// Check what this list names, one name a line, as well; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "files0_from"])]
    #[arg(help_heading = "Many")]
    pub files_from: Option<PathBuf>,

    /// The same of a list whose names end with a NUL byte, as of find -print0
    #[arg(long, value_name = "FILE", conflicts_with = "command", help_heading = "Many")]
    pub files0_from: Option<PathBuf>,

    /// Write the stream to standard output in another form; the report goes to standard error
    #[arg(long, value_enum, value_name = "TARGET", help_heading = "Convert")]
    pub to: Option<To>,

    /// Keep a copy of every byte received
    #[arg(long, value_name = "FILE", help_heading = "Convert")]
    pub tee: Option<PathBuf>,

    /// With --to stream-json: only the events that satisfy the schemas
    #[arg(long, help_heading = "Convert")]
    pub only_valid: bool,

    /// Leave control characters in texts as they are; refused on a terminal
    #[arg(long, requires = "to", help_heading = "Convert")]
    pub raw: bool,

    /// Longest time the run may take: 30s, 10m, 1h30m; also for standard input
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Run")]
    pub timeout: Option<Duration>,

    /// Longest time without an event while no tool call is open; also for standard input
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = "Run")]
    pub idle_timeout: Option<Duration>,

    /// Time the command has to end after its terminal event
    #[arg(long, value_name = "DURATION", value_parser = duration_or_none)]
    #[arg(default_value = "10s", help_heading = "Run")]
    pub result_grace: Duration,

    /// Give the command an empty standard input instead of ours
    #[arg(long, requires = "command", help_heading = "Run")]
    pub no_stdin: bool,

    /// End with the command's own exit code where ours would be 0 or 3
    #[arg(long, requires = "command", help_heading = "Run")]
    pub propagate: bool,

    /// human or json, to standard output or to a file; may be given several times
    #[arg(long, value_name = "FORMAT[=FILE]", action = ArgAction::Append)]
    #[arg(help_heading = "Report")]
    pub report: Vec<ReportTo>,

    /// When the human report is coloured
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(help_heading = "Report")]
    pub color: Color,

    /// No report on standard output: only the exit code, and reports to files
    #[arg(short, long, help_heading = "Report")]
    pub quiet: bool,

    /// Print the page of a rule
    #[arg(long, value_name = "RULE", value_parser = rule, exclusive = true)]
    #[arg(help_heading = "Rules")]
    pub explain: Option<Rule>,

    /// Print every rule with its severity, default and strict
    #[arg(long, exclusive = true, help_heading = "Rules")]
    pub list_rules: bool,

    /// Print every profile built in, with the versions whose streams were seen
    #[arg(long, exclusive = true, help_heading = "Profiles")]
    pub list_profiles: bool,

    /// Print a profile that is built in, its schema in it, to be adapted
    #[arg(long, value_name = "NAME", exclusive = true, help_heading = "Profiles")]
    pub print_profile: Option<String>,

    /// Print a JSON Schema: of the profile's events, the json report, or profile files
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1)]
    #[arg(default_missing_value = "profile", help_heading = "Profiles")]
    #[arg(conflicts_with_all = ["files", "schema", "strict", "exit_status", "error", "warn"])]
    #[arg(conflicts_with_all = ["allow", "report", "quiet", "to", "tee", "files_from"])]
    #[arg(conflicts_with = "files0_from")]
    pub print_schema: Option<PrintSchema>,

    /// Draft a profile, its schema in it, from recordings of an unknown agent; why, on stderr
    #[arg(long, requires = "files", help_heading = "Profiles")]
    #[arg(conflicts_with_all = ["profile", "schema", "strict", "exit_status", "error", "warn"])]
    #[arg(conflicts_with_all = ["allow", "report", "quiet", "to", "tee", "files_from"])]
    #[arg(conflicts_with_all = ["files0_from", "timeout", "idle_timeout", "print_schema"])]
    #[arg(conflicts_with_all = ["input", "max_line_bytes", "engine", "jobs", "only_valid"])]
    #[arg(conflicts_with_all = ["raw", "result_grace", "color"])]
    pub infer: bool,
}

/// What a stream is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum To {
    /// One line for each action, as it happens.
    Text,
    /// The assistant's text, with the actions between.
    Transcript,
    /// Only the final message of a run that succeeded.
    Answer,
    /// The single object of a run that succeeded.
    Json,
    /// The input's own bytes.
    StreamJson,
}

/// The format the producer was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Told from the first event.
    Auto,
    /// One event a line.
    StreamJson,
    /// The single object.
    Json,
}

/// How events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// A tape for each line, and a memory of the shapes of lines.
    Fast,
    /// A tape for each line.
    Uncached,
    /// A tree for each line.
    Reference,
}

/// When the human report is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Which schema to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrintSchema {
    /// Of the events of the chosen profile.
    Profile,
    /// Of the lines of the json report.
    Report,
    /// Of the files that --profile takes.
    ProfileFile,
}

/// A report and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportTo {
    /// Its format.
    pub format: ReportFormat,
    /// Its file; none is standard output.
    pub file: Option<PathBuf>,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
}

impl FromStr for ReportTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, file) = match text.split_once('=') {
            Some((_, "")) => return Err("the file has no name".to_owned()),
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
pub struct Size(pub u64);

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
        near.map_or(unknown.to_string(), |near| format!("{unknown}; a similar one is {near}"))
    })
}

/// A number of files to check at the same time.
fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a whole number above 0 is needed".to_owned())
}

/// A duration as people write it.
fn duration(text: &str) -> Result<Duration, String> {
    match duration_or_none(text)? {
        Duration::ZERO => Err("a limit is longer than nothing".to_owned()),
        duration => Ok(duration),
    }
}

fn duration_or_none(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(duration) if duration <= TIMER_MAX => Ok(duration),
        Ok(_) => Err("more than a year is no limit".to_owned()),
        Err(_) => Err("a duration reads like 30s, 10m or 1h30m".to_owned()),
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
        let number: u64 = number.parse().map_err(|_| "a size is a number of bytes".to_owned())?;
        let size = number.checked_mul(1 << shift).filter(|size| *size > 0);
        size.map(Self).ok_or_else(|| "the size is out of range".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
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
