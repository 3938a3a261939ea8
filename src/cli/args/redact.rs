//! The options of redaction, which the check and the comparisons share.

use clap::{ArgAction, Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// Replace secrets, or all content, in everything that is written
    #[arg(long = "redact", value_enum, value_name = "MODE", value_delimiter = ',')]
    #[arg(help_heading = "Convert")]
    pub(crate) modes: Vec<RedactMode>,

    /// Replace secrets, and the value of this environment variable
    #[arg(long = "redact-env", value_name = "NAME", action = ArgAction::Append)]
    #[arg(help_heading = "Convert")]
    pub(crate) env: Vec<String>,
}

impl RedactArgs {
    pub(crate) fn are_given(&self) -> bool {
        !self.modes.is_empty() || !self.env.is_empty()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RedactMode {
    // Not documented for the parser: a text for one value makes the whole help long.
    Secrets,
    Content,
}
