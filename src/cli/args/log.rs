//! What `--to text` and `--to transcript` show.

use clap::Args;

use super::values::count;

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// With `--to text` or `transcript`: show N lines of each result
    #[arg(long, value_name = "N", requires = "to", help_heading = "Convert")]
    #[arg(value_parser = count::<u32>)]
    pub(crate) results: Option<u32>,

    /// With `--to text` or `transcript`: show the prompt, reasoning and retries
    #[arg(long, requires = "to", help_heading = "Convert")]
    pub(crate) thinking: bool,
}

impl LogArgs {
    /// Whether one of them is given.
    pub(crate) fn are_given(&self) -> bool {
        self.results.is_some() || self.thinking
    }
}
