//! Completions for shells, and the manual page.

use std::io;

use clap::CommandFactory as _;
use clap::builder::PossibleValuesParser;

use ndjson_check_core::Rule;
use ndjson_check_core::internals::{AUTO, profile_names};

use super::CommandLine;
use super::help::long;

pub(crate) use clap_complete::Shell;

/// The script that completes our command line in a shell.
pub(crate) fn completions(shell: Shell) -> String {
    let (mut script, whole) = (Vec::new(), CommandLine::command());
    let shown = whole.get_arguments().filter(|arg| !arg.is_hide_set()).cloned();
    let subcommands = whole.get_subcommands().cloned().map(with_names);
    let command = clap::Command::new("ndjson-check").version(env!("CARGO_PKG_VERSION"));
    let command = command.disable_help_subcommand(true).args(shown).subcommands(subcommands);
    clap_complete::generate(shell, &mut with_names(command), "ndjson-check", &mut script);
    // The generator takes the hyphen in our name for the place before a subcommand.
    String::from_utf8_lossy(&script).replace("ndjson__subcmd__check", "ndjson__check")
}

/// The command with the names of rules and profiles as the values to choose from.
fn with_names(command: clap::Command) -> clap::Command {
    let (is_rules, is_profiles) = (command.get_name() == "rules", command.get_name() == "profiles");
    command.mut_args(|arg| match arg.get_id().as_str() {
        "deny" | "warn" | "allow" => arg.value_parser(rule_names()),
        "name" if is_rules => arg.value_parser(rule_names()),
        "name" if is_profiles => arg.value_parser(PossibleValuesParser::new(profile_names())),
        "profile" => {
            arg.value_parser(PossibleValuesParser::new([AUTO].into_iter().chain(profile_names())))
        }
        _ => arg,
    })
}

fn rule_names() -> PossibleValuesParser {
    PossibleValuesParser::new(Rule::ALL.iter().map(|rule| rule.name()))
}

/// The manual page, for `man`.
pub(crate) fn manual_page() -> io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(long(CommandLine::command())).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
