//! The syntax of `replay`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: that of the recorded agent, 2 for a recording that cannot be read

Examples:
  ndjson-check replay --list
  ndjson-check replay claude plain | ndjson-check
  ndjson-check replay codex tool --stall-at 4 --install ~/fake-bin")]
pub(crate) struct ReplayArgs {
    /// An agent from `--list`, or a version of one; or a file
    #[arg(value_name = "AGENT|FILE", required_unless_present = "list")]
    pub(crate) what: Option<String>,

    /// The recording, by its name in `--list`
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// List the recordings
    #[arg(long, conflicts_with = "what")]
    pub(crate) list: bool,

    /// Play N times as fast as the agent; `max` does not wait
    #[arg(long, value_name = "N|max", default_value = "1")]
    pub(crate) speed: Speed,

    /// Write half of this line, and exit
    #[arg(long, value_name = "LINE")]
    pub(crate) cut_at: Option<usize>,

    /// Write nothing from this line on, and do not exit
    #[arg(long, value_name = "LINE", conflicts_with = "cut_at")]
    pub(crate) stall_at: Option<usize>,

    /// Do not exit after the last line
    #[arg(long)]
    pub(crate) never_exit: bool,

    /// Write seven bytes at a time
    #[arg(long)]
    pub(crate) split_writes: bool,

    /// First write this number of lines to standard error
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) stderr_lines: u64,

    /// Exit with this status instead of the agent's
    #[arg(long, value_name = "STATUS")]
    pub(crate) exit: Option<u8>,

    /// Write a script that replays the recording, with the name of the agent's command
    #[arg(long, value_name = "DIR")]
    pub(crate) install: Option<PathBuf>,
}

/// How many times faster than the agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Speed {
    Times(f64),
    Max,
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let times = text.parse().ok().filter(|times: &f64| times.is_finite() && *times > 0.0);
        times.map(Self::Times).ok_or_else(|| "give a number above 0, or max".to_owned())
    }
}
