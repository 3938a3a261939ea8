//! The width and the colours of the terminal.

use std::env;
use std::io;

use super::args::Color;

/// The columns of standard error, if it is a terminal that says how many it has.
pub(super) fn stderr_width() -> Option<usize> {
    columns(&io::stderr())
}

/// The columns of standard output, if it is a terminal that says how many it has.
pub(super) fn stdout_width() -> Option<usize> {
    columns(&io::stdout())
}

#[cfg(unix)]
fn columns(terminal: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(windows)]
fn columns(terminal: &impl std::os::windows::io::AsHandle) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(terminal.as_handle())?;
    Some(usize::from(width.0)).filter(|columns| *columns > 0)
}

/// Whether what a person reads has colour: the flag, then `NO_COLOR`, then `FORCE_COLOR` and
/// `CLICOLOR_FORCE`, then what the target is.
pub(super) fn has_color(color: Color, on_terminal: bool) -> bool {
    let value = |name| env::var_os(name).filter(|value| !value.is_empty());
    let is_forced = |name| value(name).is_some_and(|value| value != "0");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if value("NO_COLOR").is_some() => false,
        Color::Auto if value("FORCE_COLOR").is_some() => is_forced("FORCE_COLOR"),
        Color::Auto if is_forced("CLICOLOR_FORCE") => true,
        Color::Auto => {
            on_terminal
                && env::var_os("CLICOLOR").is_none_or(|value| value != "0")
                && env::var_os("TERM").is_none_or(|value| value != "dumb")
        }
    }
}
