//! Why something could not be checked. A defect of a stream is never an error.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Why a stream could not be checked: input, schemas, profiles.
///
/// Each variant names its object; the text is a fragment in lower case, as in "failed to …".
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    /// An input could not be opened or read to its end.
    Read {
        /// The stream's name: a path, or `-`.
        stream: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A command could not be started.
    Start {
        /// The name of the program.
        program: String,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// A schema file could not be read, is not a JSON Schema, or refers to something outside
    /// itself.
    Schema {
        /// The stream with which this came out, if any.
        stream: Option<String>,
        /// The schema's file, or the profile that brought it.
        origin: String,
        /// What is wrong with it.
        message: String,
    },
    /// A profile could not be read, or is not written in the profile language.
    Profile {
        /// The profile's name or file.
        origin: String,
        /// What is wrong with it, with the JSON Pointer of the place.
        message: String,
    },
    /// A pattern, a glob or a schema of an expectation does not compile.
    Expectation {
        /// Where the expectation is stated.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// A json report cannot be joined with others.
    Report {
        /// The report's file.
        origin: String,
        /// What is wrong with it, and in which line.
        message: String,
    },
    /// The first events of a stream match no profile.
    UnknownAgent {
        /// The stream's name.
        stream: String,
        /// The text of the first event, or its start.
        first: Option<String>,
        /// Where in the first event is one of a known agent: a filter of `jq`, with its option,
        /// such as `-r .log`.
        inside: Option<String>,
    },
    /// The first events show a format that no profile reads.
    UnreadFormat {
        /// The stream's name.
        stream: String,
        /// What it is: `a saved session of Pi`.
        format: String,
    },
    /// The first events of a stream match several profiles.
    AmbiguousStream {
        /// The stream's name.
        stream: String,
        /// The profiles.
        profiles: Vec<String>,
    },
    /// The agent of this profile has no format that is a single object.
    NoSingleObject {
        /// The stream's name.
        stream: String,
        /// The profile's name.
        profile: String,
    },
    /// There was nothing to check.
    NothingToCheck {
        /// The list or directory.
        origin: String,
        /// Why there is nothing.
        message: String,
    },
}

impl Error {
    pub(crate) fn schema(origin: &str, message: String) -> Self {
        Self::Schema { stream: None, origin: origin.to_owned(), message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { stream, source } => write!(out, "failed to read {stream}: {source}"),
            Self::Start { program, source } => write!(out, "failed to start {program}: {source}"),
            Self::Schema { stream, origin, message } => {
                if let Some(stream) = stream {
                    write!(out, "{stream}: ")?;
                }
                write!(out, "failed to use the schema {origin}: {message}")
            }
            Self::Profile { origin, message } => {
                write!(out, "failed to use the profile {origin}: {message}")
            }
            Self::Expectation { place, message } => {
                write!(out, "failed to use the expectation {place}: {message}")
            }
            Self::Report { origin, message } => {
                write!(out, "failed to use the report {origin}: {message}")
            }
            Self::UnknownAgent { stream, .. } => {
                write!(out, "{stream}: no known agent writes these events")
            }
            Self::UnreadFormat { stream, format } => {
                write!(out, "{stream}: this is {format}, which no profile reads")
            }
            Self::AmbiguousStream { stream, profiles } => {
                let profiles = profiles.join(" and ");
                write!(out, "{stream}: the first events match {profiles}")
            }
            Self::NoSingleObject { stream, profile } => {
                write!(out, "{stream}: profile {profile} has no single object")
            }
            Self::NothingToCheck { origin, message } => {
                write!(out, "nothing to check in {origin}: {message}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The text has what the system said, so a chain of causes must not have it again.
            Self::Read { source, .. } | Self::Start { source, .. } => source.source(),
            _ => None,
        }
    }
}

/// A message without what the system calls an error by number: `(os error 2)`.
pub fn without_error_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once(')').map_or(part, |(_, rest)| rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io;

    use super::{Error, without_error_numbers};

    #[test]
    fn a_chain_of_causes_says_nothing_twice() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = Error::Read { stream: "a".into(), source: source.into() };
        assert!(error.to_string().starts_with("failed to read a: "), "{error}");
        assert!(error.source().is_none());
    }

    #[test]
    fn a_message_has_no_number_of_an_error() {
        for (message, plain) in [
            ("a: No such file or directory (os error 2)", "a: No such file or directory"),
            ("a: denied (os error 13); b: full (os error 28)", "a: denied; b: full"),
            ("a (os error", "a (os error"),
        ] {
            assert_eq!(without_error_numbers(message), plain);
        }
    }
}
