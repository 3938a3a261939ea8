//! The options of retries.

use std::num::NonZeroU64;

use clap::Args;
use ndjson_check_core::EndReason;

use super::values::retry_reason;

/// When a command is run again.
#[derive(Debug, Clone, Default, Args)]
#[cfg_attr(not(unix), expect(dead_code, reason = "run mode needs a Unix system"))]
pub(crate) struct RetryArgs {
    /// Run it again, up to N times, if that is worth it
    #[arg(long, value_name = "N", requires_all = ["command", "no_stdin"], help_heading = "Run")]
    pub(crate) retries: Option<NonZeroU64>,

    /// Retry only after this reason [default: retryable]
    #[arg(long, value_name = "REASON", value_parser = retry_reason, value_delimiter = ',')]
    #[arg(requires = "retries", help_heading = "Run")]
    pub(crate) retry_on: Vec<EndReason>,

    /// Retry a run that may have changed files, too
    #[arg(long, requires = "retries", help_heading = "Run")]
    pub(crate) retry_after_writes: bool,
}
