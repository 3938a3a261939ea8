//! The options of retries.

use std::num::NonZeroU64;

use clap::Args;
use ndjson_check_core::EndReason;

use super::values::{retries, retry_reason};

/// When a command is run again.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RetryArgs {
    /// Run the command again, at most N times, if a retry may help
    #[arg(long, value_name = "N", value_parser = retries, help_heading = "Run")]
    pub(crate) retries: Option<NonZeroU64>,

    /// Retry only for this reason [default: all that may be temporary]
    #[arg(long, value_name = "REASON", value_parser = retry_reason, value_delimiter = ',')]
    #[arg(requires = "retries", help_heading = "Run")]
    pub(crate) retry_on: Vec<EndReason>,

    /// Also retry a run that may have changed something
    #[arg(long, requires = "retries", help_heading = "Run")]
    pub(crate) retry_after_writes: bool,
}
