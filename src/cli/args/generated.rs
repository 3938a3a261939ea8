//! What is made from the syntax of the command line: completions, and the manual page.

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
