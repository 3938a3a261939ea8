//! What is made from the syntax of the command line: completions, the manual page, names.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use clap::CommandFactory as _;

use super::CommandLine;
use super::help::long;

pub(crate) use clap_complete::Shell;

/// The script that completes our command line in a shell.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    let mut command = CommandLine::command();
    clap_complete::generate(shell, &mut command, "ndjson-check", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The manual page, for `man`.
pub(crate) fn manual_page() -> io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(long(CommandLine::command())).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// What somebody means who begins with a word of another program, where no file has this name.
pub(crate) fn meant_word(arguments: &[OsString]) -> Option<String> {
    let word = arguments.get(1)?.to_str()?;
    let hint = match word {
        "help" => "`ndjson-check --help` shows the help",
        "version" => "`ndjson-check --version` shows the version",
        "check" | "validate" | "lint" => "leave it out: `ndjson-check FILE` checks a file",
        "run" => "leave it out: `ndjson-check -- COMMAND` runs a command",
        "rule" | "explain" => "`ndjson-check rules NAME` explains a rule",
        "profile" => "`ndjson-check profiles` lists the profiles",
        _ => return None,
    };
    let is_file = Path::new(word).exists();
    (!is_file).then(|| format!("there is no subcommand `{word}`, and no such file; {hint}"))
}

/// Whether the arguments of the program begin with the name of a subcommand.
pub(crate) fn names_subcommand(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|name| CommandLine::command().find_subcommand(name).is_some())
}
