//! What a user meant who typed something that is not a command line of ours.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory as _;

use ndjson_check_core::Rule;
use ndjson_check_core::internals::{nearest, profile_entry, profile_names};

use super::CommandLine;
use super::shell_words::in_shell;

/// The subcommand of `profiles`.
const DRAFT: &str = "draft";

const SUBCOMMANDS: [&str; 9] =
    ["rules", "profiles", "schema", "merge", "diff", "drift", "replay", "completions", "man"];

/// The likely meaning of a first word that is neither a subcommand nor a file.
pub(crate) fn meant_word(arguments: &[OsString]) -> Option<String> {
    let word = arguments.get(1)?.to_str()?;
    let hint = match word {
        "help" => "`ndjson-check --help` shows the help",
        "version" => "`ndjson-check --version` shows the version",
        "check" | "validate" | "lint" => "leave it out: `ndjson-check FILE` checks a file",
        "run" => "leave it out: `ndjson-check -- COMMAND` runs a command",
        "rule" | "explain" => "`ndjson-check rules NAME` explains a rule",
        "profile" => "`ndjson-check profiles` lists the profiles",
        "stats" => "`ndjson-check --stats FILE` shows figures",
        "transcript" => "`ndjson-check --to transcript FILE` shows what the agent did",
        "report" => "`ndjson-check --report FORMAT FILE` writes a report",
        "convert" => "`ndjson-check --to FORM FILE` converts a stream",
        // First: what follows takes ten times as long as to check a small stream.
        _ if word.starts_with('-') || Path::new(word).exists() => return None,
        "profiles" => return meant_profile(&arguments[2..]),
        _ if Rule::named(word).is_some() => {
            let hint = format!("`ndjson-check rules {word}` explains this rule");
            return Some(format!("there is no file `{word}`; {hint}"));
        }
        _ => match meant_command(arguments).filter(|_| is_agent(word)) {
            Some(hint) => return Some(format!("there is no file `{word}`; {hint}")),
            None => &format!("a similar one is `{}`", similar_subcommand(word)?),
        },
    };
    let is_file = Path::new(word).exists();
    (!is_file).then(|| format!("there is no subcommand `{word}`, and no such file; {hint}"))
}

/// The subcommand that a word without a dot or a slash may mean, if it is none.
fn similar_subcommand(word: &str) -> Option<String> {
    if !word.bytes().all(|it| it.is_ascii_alphabetic()) {
        return None;
    }
    let syntax = CommandLine::command();
    let names = syntax.get_subcommands().map(clap::Command::get_name);
    let is_known = syntax.find_subcommand(word).is_some();
    // A typo is rarely in the first letter, and many names of files end like a subcommand.
    let is_near = |near: &&str| !is_known && near.get(..1) == word.get(..1);
    nearest(word, names).filter(is_near).map(ToOwned::to_owned)
}

/// What is wrong with the arguments of `profiles`, if they are neither a name nor `draft`.
fn meant_profile(arguments: &[OsString]) -> Option<String> {
    let word = arguments.first()?.to_str().filter(|word| !word.starts_with('-'))?;
    let is_known = word == DRAFT || profile_names().any(|name| name == word);
    if !is_known && nearest(word, [DRAFT].into_iter()).is_some() {
        return Some(format!("there is no profile `{word}`; a similar subcommand is `{DRAFT}`"));
    }
    let other = arguments.get(1)?.to_str().filter(|it| word != DRAFT && !it.starts_with('-'))?;
    Some(format!("`profiles` takes one name, but `{other}` is another one"))
}

/// Whether this is the program of an agent.
fn is_agent(word: &str) -> bool {
    let mut entries = profile_names().filter_map(|name| profile_entry(name).ok());
    entries.any(|entry| entry.program.as_deref() == Some(word))
}

/// The command line of a user who left out the `--` before a command.
pub(crate) fn meant_command(arguments: &[OsString]) -> Option<String> {
    let arguments: Vec<&str> = arguments.iter().skip(1).filter_map(|it| it.to_str()).collect();
    let (options, command) = after_options(&arguments)?;
    with_dashes(&options.concat(), command)
}

/// Our options at the beginning, each with its value, and the words behind them. If an option is
/// none of ours, it is what is wrong.
fn after_options<'a>(arguments: &'a [&'a str]) -> Option<(Vec<&'a [&'a str]>, &'a [&'a str])> {
    let (mut options, mut rest) = (Vec::new(), arguments);
    while rest.first()?.starts_with('-') {
        let (option, behind) = rest.split_at_checked(option_words(rest)?)?;
        options.push(option);
        rest = behind;
    }
    Some((options, rest))
}

/// The command line of a user who wrote options before a subcommand.
pub(crate) fn meant_subcommand(arguments: &[OsString]) -> Option<String> {
    let begins_with_option = arguments.get(1)?.as_encoded_bytes().starts_with(b"-");
    let is_name = |argument: &OsString| SUBCOMMANDS.iter().any(|name| argument == name);
    // First: what follows takes longer than to check a small stream.
    if !begins_with_option || !arguments.iter().any(is_name) {
        return None;
    }
    let arguments: Vec<&str> = arguments.iter().skip(1).filter_map(|it| it.to_str()).collect();
    let (options, rest) = after_options(&arguments)?;
    let (name, rest) = rest.split_first()?;
    if options.is_empty() || Path::new(name).exists() {
        return None;
    }
    let syntax = CommandLine::command();
    let subcommand = syntax.find_subcommand(name)?;
    let word = |option: &&[&str]| option[0].split('=').next().unwrap_or_default().to_owned();
    let has = |option: &&[&str]| {
        let mut all = subcommand.get_arguments().filter_map(clap::Arg::get_long);
        all.any(|long| word(option).strip_prefix("--") == Some(long))
    };
    let (known, others): (Vec<_>, Vec<_>) = options.into_iter().partition(has);
    let parts = [&["ndjson-check", *name][..], &known.concat()[..], rest].concat();
    let parts: Vec<Cow<'_, str>> = parts.iter().map(|part| in_shell(part)).collect();
    let others: Vec<String> = others.iter().map(word).collect();
    let without = match &others[..] {
        [] => String::new(),
        others => format!("; `{name}` has no {}", others.join(" and no ")),
    };
    Some(format!("put the subcommand first: {}{without}", parts.join(" ")))
}

/// The command line of a user who wrote our options behind the command, without `--`.
pub(crate) fn meant_order(arguments: &[OsString]) -> Option<String> {
    let arguments: Vec<&str> = arguments.iter().skip(1).filter_map(|it| it.to_str()).collect();
    let (mut ours, mut command, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(word) = arguments.get(at) {
        let words = option_words(&arguments[at..]).filter(|_| word.starts_with('-'));
        let end = (at + words.unwrap_or(1)).min(arguments.len());
        let part = if words.is_some() { &mut ours } else { &mut command };
        part.extend(&arguments[at..end]);
        at = end;
    }
    with_dashes(&ours, &command)
}

/// How many arguments an option of ours takes that begins here, with its value.
fn option_words(arguments: &[&str]) -> Option<usize> {
    let (syntax, option) = (CommandLine::command(), *arguments.first()?);
    let name = option.split('=').next().unwrap_or_default();
    let mut options = syntax.get_arguments().filter(|it| it.get_long().is_some());
    let known = options.find(|it| it.get_long() == name.strip_prefix("--"));
    let has_value = known.is_some_and(|it| it.get_action().takes_values()) && name == option;
    (known.is_some() || name == "-q").then_some(if has_value { 2 } else { 1 })
}

fn with_dashes(ours: &[&str], command: &[&str]) -> Option<String> {
    let is_command = !Path::new(command.first()?).exists();
    let parts = ["ndjson-check"].iter().chain(ours).chain(&["--"]).chain(command);
    let parts: Vec<Cow<'_, str>> = parts.map(|part| in_shell(part)).collect();
    is_command.then(|| format!("put `--` before the command: {}", parts.join(" ")))
}

/// Whether the arguments of the program begin with the name of a subcommand.
pub(crate) fn names_subcommand(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|name| CommandLine::command().find_subcommand(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_subcommands_are_known() {
        let syntax = CommandLine::command();
        let names: Vec<&str> = syntax.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(names, SUBCOMMANDS);
    }
}
