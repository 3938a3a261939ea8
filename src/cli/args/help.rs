//! The help: `-h` is one screen, `--help` is everything.

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::exit;

pub(super) const USAGE: &str = "\
agent --print --output-format stream-json | ndjson-check [OPTIONS]
       ndjson-check [OPTIONS] [FILE]...
       ndjson-check [OPTIONS] -- COMMAND [ARG]...";

const FORMS: &str = "\
Forms of --to:
  text         one line per action, as it happens
  transcript   the assistant's text, with the actions in between
  answer       only the final message of a run that succeeded
  json         the agent's single object, if the run succeeded
  stream-json  the input's own bytes
  events       one vocabulary for all agents, as NDJSON
  ag-ui        the same as events of the AG-UI protocol
  chrome-trace, otlp-json, atif
               a trace for Perfetto, OpenTelemetry spans, a trajectory";

const NOTES: &str = "\
If killed by a signal, the exit status is 128+N.

To check a file whose name is also a subcommand, give a path such as ./rules.";

/// The options that `-h` shows; `--help` shows them all.
pub(super) const MOST_USED: [&str; 8] =
    ["profile", "strict", "exit_status", "to", "timeout", "idle_timeout", "report", "quiet"];

const SHORT_NOTES: &str = "\
Exit codes: 0 success, 1 not conforming, 2 not checked, 3 failed, 4 timed out";

/// The usage, for a terminal without arguments.
pub(crate) fn usage() -> String {
    super::CommandLine::command().render_usage().to_string()
}

/// The parser's message without its usage, on one line.
pub(crate) fn one_line(error: &clap::Error) -> String {
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
    // A subcommand has another usage.
    let may_be_command = is_unknown && text.contains(USAGE.trim());
    let meant = meant(error);
    let of_command = may_be_command.then_some("a command to run comes after `--`");
    let tip = meant.as_deref().or(tip).or(of_command);
    let tip = tip.map_or(String::new(), |tip| format!("; {tip}"));
    let words: Vec<&str> = message.split_whitespace().collect();
    format!("{}{tip} (see --help)", words.join(" "))
}

/// What other programs call an option that is ours under another name.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("--json", "--report json"),
    ("--format", "--report FORMAT"),
    ("--output", "--report FORMAT=FILE"),
    ("-o", "--report FORMAT=FILE"),
    ("-v", "--stats for figures, --to transcript for what the agent did"),
    ("--verbose", "--stats for figures, --to transcript for what the agent did"),
    ("--agent", "--profile NAME"),
    ("--no-color", "--color never"),
    ("--no-colour", "--color never"),
];

/// The option that somebody means who knows it by another name.
fn meant(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    let given = given.split('=').next().unwrap_or_default();
    let (_, ours) = OTHER_NAMES.iter().find(|(name, _)| *name == given)?;
    Some(format!("use {ours}"))
}

pub(super) fn long(command: clap::Command) -> clap::Command {
    command.after_help(format!("{FORMS}\n\n{}\n{NOTES}", exit::table()))
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
        .mut_arg("profile", |arg| arg.help("Agent profile: name, file, or `auto` to detect"))
        .mut_arg("to", |arg| arg.help("Convert to text, transcript, answer or json"))
        .mut_arg("timeout", |arg| arg.help("Longest run, such as 10m or 1h30m"))
        .mut_arg("report", |arg| arg.help("Another report, such as json or junit=FILE"))
}
