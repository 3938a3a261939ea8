//! The help: `-h` is one screen, `--help` is everything.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use ndjson_check_core::internals::nearest;
use owo_colors::OwoColorize as _;

use super::mistakes::meant_command;
use crate::cli::exit;
use crate::cli::terminal::stdout_width;

pub(super) const USAGE: &str = "\
ndjson-check [OPTIONS] -- COMMAND [ARG]...
       ndjson-check [OPTIONS] [FILE]...
       COMMAND | ndjson-check [OPTIONS]";

const EXAMPLES: &str = "\
Examples:
  Run an agent, and stop it after 45 minutes:
    ndjson-check --timeout 45m -- agent --print --output-format stream-json hi
  Check recordings:
    ndjson-check recordings/
  Print what an agent did, and write a page about it:
    ndjson-check --to transcript --report html=run.html run.ndjson";

const FORMS: &str = "\
Forms of --to:
  text         one line for each action, as it happens
  transcript   the assistant's text, with the actions in between
  answer       only the answer of a run that succeeded
  json         the agent's `--output-format json` object, if the run succeeded
  stream-json  the input; each element of an array is on its own line
  events       one vocabulary for all agents, as NDJSON
  chrome-trace, otlp-json, atif
               a trace for Perfetto, OpenTelemetry spans, a trajectory";

const NOTES: &str = "\
If a signal ends ndjson-check, the exit status is 128 plus the signal's number.

To check a file that has the name of a subcommand, such as rules, write ./rules.";

/// The widest help, in columns, and its width where no terminal shows it.
const COLUMNS_MAX: usize = 100;
const COLUMNS: usize = 80;

/// The width of the help: that of the terminal, as far as lines are easy to read.
pub(super) fn help_width() -> usize {
    stdout_width().unwrap_or(COLUMNS).min(COLUMNS_MAX)
}

/// The help in colour: headings, and what is typed.
pub(crate) fn painted(help: &str) -> String {
    let mut text = String::new();
    for line in help.lines() {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        // Behind a gap comes what it means.
        let typed = match words.find("  ") {
            Some(gap) if indent > 0 => gap,
            None if words.starts_with('-') => words.len(),
            _ => 0,
        };
        if let Some(rest) = line.strip_prefix("Usage:") {
            text.extend([&*"Usage:".bold().to_string(), rest]);
        } else if indent == 0 && line.ends_with(':') {
            text += &line.bold().to_string();
        } else if typed > 0 {
            let (typed, rest) = words.split_at(typed);
            text.extend([&line[..indent], &typed.cyan().to_string(), rest]);
        } else {
            text += line;
        }
        text.push('\n');
    }
    text
}

/// The options that `-h` shows; `--help` shows them all.
pub(super) const MOST_USED: [&str; 8] =
    ["profile", "strict", "exit_status", "to", "timeout", "idle_timeout", "report", "quiet"];

const SHORT_NOTES: &str = "\
Exit codes: 0 success, 1 broken stream, 2 not checked, 3 failed, 4 timed out";

/// The usage, for a terminal without arguments.
pub(crate) fn usage() -> String {
    super::CommandLine::command().render_usage().to_string()
}

/// The parser's message about these arguments without its usage, on one line.
pub(crate) fn one_line(error: &clap::Error, arguments: &[OsString]) -> String {
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // Only the tips about spelling make sense without the usage.
    let tip = paragraphs.flat_map(str::lines).map(str::trim).find_map(|line| {
        line.strip_prefix("tip: ")
            .filter(|tip| tip.starts_with("a similar") || tip.starts_with("some similar"))
    });
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    let tip = tip.filter(|_| !is_unknown || is_near(error));
    // A subcommand has another usage.
    let may_be_command = is_unknown && text.contains(USAGE.trim());
    let command = if may_be_command { meant_command(arguments) } else { None };
    let meant = command.or_else(|| meant(error));
    let begins_with_word =
        arguments.get(1).is_some_and(|it| !it.as_encoded_bytes().starts_with(b"-"));
    let of_command = "a command to run comes after `--`";
    let of_command = (may_be_command && begins_with_word).then_some(of_command);
    let tip = meant.as_deref().or(tip).or(of_command);
    let tip = tip.map_or(String::new(), |tip| format!("; {tip}"));
    let words: Vec<&str> = message.split_whitespace().collect();
    format!("{}{tip} (see --help)", words.join(" "))
}

/// What other programs call an option that is ours under another name.
const OTHER_NAMES: [(&str, &str); 30] = [
    ("--html", "--report html=FILE"),
    ("--junit", "--report junit=FILE"),
    ("--markdown", "--report markdown=FILE"),
    ("--sarif", "--report sarif=FILE"),
    ("-p", "--profile NAME; options of the agent go after `-- COMMAND`"),
    ("-f", "ndjson-check FILE, without an option"),
    ("--file", "ndjson-check FILE, without an option"),
    ("--json", "--report json"),
    ("--format", "--report FORMAT"),
    ("--output", "--report FORMAT=FILE"),
    ("--output-format", "--report FORMAT; options of the agent go after `-- COMMAND`"),
    ("--silent", "--quiet"),
    ("-o", "--report FORMAT=FILE"),
    ("-v", "--stats for figures, --to transcript for what the agent did"),
    ("--verbose", "--stats for figures, --to transcript for what the agent did"),
    ("--agent", "--profile NAME"),
    ("--no-color", "--color never"),
    ("--no-colour", "--color never"),
    ("--exit-code", "--exit-status N"),
    ("--retry", "--retries N"),
    ("--stdin", "ndjson-check without a file: it reads standard input"),
    ("--input", "ndjson-check FILE, without an option"),
    ("--ignore", "--allow RULE"),
    ("--disable", "--allow RULE"),
    ("--ci", "--report github"),
    ("--github", "--report github"),
    ("--budget", "--max-cost USD"),
    ("--cost", "--max-cost USD"),
    ("--max-time", "--timeout TIME"),
    ("--transcript", "--to transcript"),
];

/// Whether the option that the parser suggests is like the one that was given.
fn is_near(error: &clap::Error) -> bool {
    let name = |kind| match error.get(kind)? {
        ContextValue::String(name) => Some(name.trim_start_matches('-')),
        ContextValue::Strings(names) => names.first().map(|name| name.trim_start_matches('-')),
        _ => None,
    };
    let names = name(ContextKind::InvalidArg).zip(name(ContextKind::SuggestedArg));
    names.is_some_and(|(given, ours)| nearest(given, [ours].into_iter()).is_some())
}

/// A report is not a form of the stream.
fn meant_report(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (option, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let report = if value == "md" { "markdown" } else { value };
    let is_report = ["html", "markdown", "junit", "sarif", "github"].contains(&report);
    let is_meant = option.starts_with("--to ") && is_report;
    let file = if report == "github" { "" } else { "=FILE" };
    is_meant.then(|| format!("use --report {report}{file}"))
}

/// Our option for one that other programs have under another name.
fn meant(error: &clap::Error) -> Option<String> {
    if error.kind() == ErrorKind::InvalidValue {
        return meant_report(error);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    let given = given.split('=').next().unwrap_or_default();
    if given.contains(char::is_whitespace) {
        let message = "write each option as a separate argument; in `args` of the action, one on \
                       each line";
        return Some(message.to_owned());
    }
    let (_, ours) = OTHER_NAMES.iter().find(|(name, _)| *name == given)?;
    Some(format!("use {ours}"))
}

pub(super) fn long(command: clap::Command) -> clap::Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{EXAMPLES}\n\n\
         {{all-args}}{{after-help}}"
    );
    command.help_template(template).after_help(format!("{FORMS}\n\n{}\n{NOTES}", exit::table()))
}

pub(super) fn short(command: clap::Command) -> clap::Command {
    let command = command.after_help(SHORT_NOTES).mut_args(|arg| {
        if MOST_USED.contains(&arg.get_id().as_str()) {
            arg.help_heading(None)
        } else {
            arg.hide(true)
        }
    });
    let rare = ["completions", "diff", "drift", "man", "merge", "replay"];
    let command = rare.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |subcommand| subcommand.hide(true))
    });
    // One line each.
    command
        .mut_arg("profile", |arg| arg.help("Profile of the agent [default: auto]"))
        .mut_arg("to", |arg| arg.help("Show the text, transcript, answer or json"))
        .mut_arg("timeout", |arg| arg.help("Stop the run after this time, such as 10m"))
        .mut_arg("idle_timeout", |arg| arg.help("Stop the run after this time without an event"))
        .mut_arg("report", |arg| arg.help("Choose a report, such as json or junit=FILE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_all_that_is_added() {
        let help =
            "Usage: x [FILE]\n\nRun:\n  -q, --quiet  Write none\n      --long\n          Text\n";
        let painted = painted(help);
        assert!(painted.contains("\x1b[36m-q, --quiet\x1b[39m  Write none"), "{painted:?}");
        assert!(painted.contains("\x1b[1mRun:\x1b[0m\n"), "{painted:?}");
        let codes = ["\x1b[36m", "\x1b[39m", "\x1b[1m", "\x1b[0m"];
        assert_eq!(codes.iter().fold(painted, |text, code| text.replace(code, "")), help);
    }
}
