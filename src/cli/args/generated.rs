//! What is made from the syntax of the command line: completions, the manual page, names.

use std::ffi::OsString;
use std::io;

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

/// Whether the arguments of the program begin with the name of a subcommand.
pub(crate) fn names_subcommand(arguments: &[OsString]) -> bool {
    arguments.get(1).is_some_and(|name| CommandLine::command().find_subcommand(name).is_some())
}
