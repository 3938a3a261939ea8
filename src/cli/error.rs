//! Why the command line could not do what was asked.

use std::fmt;
use std::io;
use std::path::Path;

use ndjson_check_core::escape::{clipped, visible};
use ndjson_check_core::internals::{NO_SUCH_PROFILE, without_error_numbers};
use ndjson_check_core::{Error, ExitStatus};

use super::exit;
use super::inputs::STDIN_NAME;
use super::outputs::STDOUT;
use super::redaction::{Redaction, shown};

/// A failure that ends the program or the check of one stream; its text is one line.
#[derive(Debug)]
pub(crate) enum CliError {
    Usage(String),
    Check(Error),
    /// The stream of a command could not be checked, and the command failed.
    CommandFailed(Error, ExitStatus),
    /// An output could not be opened or written. `name` is a path, or `standard output`.
    Output {
        name: String,
        source: io::Error,
    },
    Start {
        program: String,
        source: io::Error,
    },
}

impl CliError {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                exit::NOT_FOUND
            }
            Self::Start { .. } => exit::CANNOT_EXECUTE,
            Self::Usage(_) | Self::Check(_) | Self::CommandFailed(..) | Self::Output { .. } => {
                exit::NOT_CHECKED
            }
        }
    }

    /// Whether an input could not be read to its end.
    pub(crate) fn is_about_reading(&self) -> bool {
        matches!(self, Self::Check(Error::Read { .. }) | Self::CommandFailed(Error::Read { .. }, _))
    }

    /// The same without secrets, such as one in the path of a file.
    pub(crate) fn redacted(self, redaction: Option<&Redaction>) -> Self {
        if redaction.is_none() {
            return self;
        }
        let shown = |text: &str| shown(text, redaction);
        match self {
            Self::Output { name, source } => Self::Output { name: shown(&name), source },
            Self::Start { program, source } => Self::Start { program: shown(&program), source },
            Self::Usage(_) | Self::Check(_) | Self::CommandFailed(..) => {
                Self::Usage(shown(&self.to_string()))
            }
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn output(name: impl Into<String>, source: io::Error) -> Self {
        Self::Output { name: name.into(), source }
    }

    /// A subcommand wrote to standard output. Its reader may stop at any time.
    pub(crate) fn of_stdout(written: io::Result<()>) -> Result<(), Self> {
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Self::output(STDOUT, error))
            }
            _ => Ok(()),
        }
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self::Check(error)
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&without_error_numbers(&self.text()))
    }
}

impl CliError {
    /// The part of the text that says what to do, if it is the same for many inputs.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Self::Check(error) | Self::CommandFailed(error, _) => hint(error),
            Self::Usage(_) | Self::Output { .. } | Self::Start { .. } => "",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Usage(message) => message.clone(),
            Self::Check(error) => explained(error),
            Self::CommandFailed(error, status) => {
                format!("{}; the command ended with {status}", explained(error))
            }
            Self::Output { name, source } => format!("failed to write to {name}: {source}"),
            Self::Start { program, .. } if program.is_empty() => "the command is empty".to_owned(),
            Self::Start { program, source } => {
                format!("failed to start {program}: {source}{}", start_hint(program, source))
            }
        }
    }
}

/// The error with the name that a reader gives to the stream `-`.
fn with_stdin(error: &Error) -> String {
    let text = error.to_string();
    let begins = ["", "failed to read ", "nothing to check in ", "failed to use the report "];
    let of_stdin = begins.iter().find_map(|begin| {
        let rest = text.strip_prefix(begin)?.strip_prefix("-: ")?;
        Some(format!("{begin}{STDIN_NAME}: {rest}"))
    });
    of_stdin.unwrap_or(text)
}

/// Commands that only a shell has.
const BUILTINS: [&str; 12] = [
    ".", "alias", "cd", "eval", "exec", "exit", "export", "set", "source", "trap", "ulimit",
    "unset",
];

/// Longest event of an unknown agent that is quoted, in bytes.
const EVENT_BYTES_MAX: usize = 120;

/// The error, what to do, and the event that it is about.
fn explained(error: &Error) -> String {
    let text = format!("{}{}", with_stdin(error), hint(error));
    match error {
        Error::UnknownAgent { inside: Some(filter), .. } => {
            format!("{text}, but they have such events in them: `jq {filter} FILE | ndjson-check`")
        }
        Error::UnknownAgent { first: Some(event), .. } => {
            format!("{text}; the first is `{}`", visible(&clipped(event, EVENT_BYTES_MAX)))
        }
        _ => text,
    }
}

/// Signs that a shell reads, and no program.
const SHELL_SIGNS: [char; 5] = ['|', ';', '&', '<', '>'];

fn start_hint(program: &str, error: &io::Error) -> &'static str {
    // The system starts programs only, and no text without `#!`.
    const NOT_A_PROGRAM: i32 = 8;
    let path = Path::new(program);
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    if program.starts_with('-') {
        "; options of ndjson-check go before `--`"
    } else if program.contains(SHELL_SIGNS) && !path.exists() {
        "; a shell runs such a line: `-- sh -c 'LINE'`"
    } else if BUILTINS.contains(&program) {
        "; it is a command of the shell: `-- bash -c 'LINE'`"
    } else if is_missing && program.contains('=') && !program.contains(char::is_whitespace) {
        "; to set a variable, put `env` before it"
    } else if program.contains(char::is_whitespace) && !path.exists() {
        "; leave out the quotes around the command"
    } else if cfg!(unix) && error.raw_os_error() == Some(NOT_A_PROGRAM) {
        "; to check a recording, leave out `--`; \
         to run a script, put its interpreter before it, such as `sh`"
    } else if path.is_dir() && program.contains(['/', '\\']) {
        "; it is a directory"
    } else if !path.is_file() {
        ""
    } else if [".ndjson", ".jsonl"].iter().any(|ending| program.ends_with(ending)) {
        "; to check a recording, leave out `--`"
    } else if is_missing && !program.contains(['/', '\\']) {
        "; to run a program of this directory, write `./` before its name"
    } else if is_missing {
        "; the file exists, but not the program that interprets or loads it"
    } else {
        "; to check a recording, leave out `--`"
    }
}

fn hint(error: &Error) -> &'static str {
    match error {
        Error::UnknownAgent { inside: None, .. } => {
            ": choose with --profile NAME; `ndjson-check profiles` lists the agents, \
             `--profile claude-like` checks a relative of Claude Code, and `--profile jsonl` \
             checks any JSON Lines"
        }
        Error::Read { stream, .. } if stream.contains("://") => {
            "; this is an address: `curl -s ADDRESS | ndjson-check`"
        }
        Error::UnreadFormat { .. } => "; `--profile jsonl` checks any JSON Lines",
        Error::AmbiguousStream { .. } => "; name one with --profile",
        Error::NoSingleObject { .. } => ", which --to json and --input-format json need",
        Error::Profile { message, .. } if message.contains(NO_SUCH_PROFILE) => {
            "; `ndjson-check profiles` lists the built-in ones"
        }
        _ => "",
    }
}

impl std::error::Error for CliError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Check(error) | Self::CommandFailed(error, _) => Some(error),
            Self::Output { source, .. } | Self::Start { source, .. } => Some(source),
            Self::Usage(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_exit_code() {
        let start = |kind: io::ErrorKind| CliError::Start {
            program: "agent".to_owned(),
            source: kind.into(),
        };
        let nothing =
            || Error::NothingToCheck { origin: "-".to_owned(), message: "it is".to_owned() };
        let rows = [
            (CliError::usage("wrong"), 2),
            (CliError::from(nothing()), 2),
            (CliError::CommandFailed(nothing(), ExitStatus::Signal(9)), 2),
            (CliError::output("report.json", io::ErrorKind::StorageFull.into()), 2),
            (start(io::ErrorKind::NotFound), 127),
            (start(io::ErrorKind::PermissionDenied), 126),
        ];
        for (error, code) in rows {
            assert_eq!(error.exit_code(), code, "{error}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}
