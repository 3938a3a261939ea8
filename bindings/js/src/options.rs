//! What JavaScript says about a stream, as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use ndjson_check::{Checker, ExitStatus, Output, ProducerExit, Severity, StopReason};
use ndjson_check_config::Config;
use ndjson_check_formats::{FormStyle, single};
use serde::Deserialize;

use crate::readers::text;

/// The name of a configuration in messages.
const CONFIG: &str = "ndjson-check.toml";

#[derive(PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Options {
    /// The name of the stream.
    pub(crate) name: Option<String>,
    profile: Option<String>,
    #[serde(default)]
    strict: bool,
    /// The level of a rule, by its name.
    #[serde(default)]
    rules: BTreeMap<String, Level>,
    /// The text of a configuration file; the options above win.
    config: Option<String>,
    max_line_bytes: Option<u64>,
    /// The program of a run, and where it was started.
    command: Option<String>,
    directory: Option<String>,
    /// The name of a form or a report. Without it, there are events.
    output: Option<String>,
    #[serde(default)]
    raw: bool,
    #[serde(default)]
    results: usize,
    #[serde(default)]
    thinking: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warning,
    Off,
}

impl Options {
    pub(crate) fn output(&self) -> Result<Option<Box<dyn Output>>, String> {
        let Self { raw: is_raw, results, thinking, .. } = *self;
        let style = FormStyle { is_raw, results, thinking, ..FormStyle::default() };
        let output = |name| {
            let unknown = || format!("no such form or report: {name}");
            single::output(name, style).ok_or_else(unknown)
        };
        self.output.as_deref().map(output).transpose()
    }

    pub(crate) fn checker(&self) -> Result<Checker, String> {
        let needs_stats = self.output.as_deref() == Some(single::PAGE);
        let mut builder = self.settings()?.apply_to(Checker::builder());
        if let Some(bytes) = self.max_line_bytes {
            builder = builder.max_line_bytes(bytes);
        }
        if let Some(command) = &self.command {
            builder = builder.command(command);
        }
        if let Some(directory) = &self.directory {
            builder = builder.directory(directory);
        }
        builder.stats(needs_stats).members(false).build().map_err(text)
    }

    fn settings(&self) -> Result<Config, String> {
        let mut config = match &self.config {
            Some(text) => Config::parse(CONFIG, text.clone())?,
            None => Config::default(),
        };
        if let Some(profile) = &self.profile {
            config.set_profile(profile);
        }
        if self.strict {
            config.make_strict();
        }
        for (name, level) in &self.rules {
            let rule = ndjson_check_config::rule(name).map_err(|it| format!("{name}: {it}"))?;
            let severity = match level {
                Level::Error => Some(Severity::Error),
                Level::Warning => Some(Severity::Warning),
                Level::Off => None,
            };
            config.set_severity(rule, severity);
        }
        Ok(config)
    }
}

/// How the process of the agent ended.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Exit {
    exit_status: Option<u8>,
    signal: Option<u8>,
    stop: Option<Stop>,
    #[serde(default)]
    interrupted: bool,
    #[serde(default)]
    stdout_held_open: bool,
    #[serde(default)]
    expects_turn: bool,
    stderr: Option<Vec<String>>,
    #[serde(default)]
    stderr_lines: Vec<String>,
}

#[derive(Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case", deny_unknown_fields)]
enum Stop {
    Lingered,
    LimitExceeded,
    WrongStart,
    #[serde(rename_all = "camelCase")]
    Timeout {
        limit_ms: u64,
        /// The lines that started the open calls, and for how many milliseconds they were open.
        open_calls: Vec<(u64, u64)>,
    },
    #[serde(rename_all = "camelCase")]
    IdleTimeout {
        limit_ms: u64,
    },
}

impl From<Exit> for ProducerExit {
    fn from(exit: Exit) -> Self {
        let status = exit.exit_status.map(ExitStatus::Code);
        let mut producer = Self::default();
        producer.status = status.or(exit.signal.map(ExitStatus::Signal));
        producer.was_interrupted = exit.interrupted;
        producer.stdout_held_open = exit.stdout_held_open;
        producer.expects_turn = exit.expects_turn;
        if let Some(lines) = exit.stderr {
            producer.keep_stderr(&lines.join("\n"));
        }
        producer.stderr_lines = exit.stderr_lines;
        producer.stop = exit.stop.map(|stop| match stop {
            Stop::Lingered => StopReason::Lingered,
            Stop::LimitExceeded => StopReason::LimitExceeded,
            Stop::WrongStart => StopReason::WrongStart,
            Stop::Timeout { limit_ms, open_calls } => StopReason::Timeout {
                limit: Duration::from_millis(limit_ms),
                open_calls: open_calls
                    .into_iter()
                    .map(|(line, open_ms)| (line, Duration::from_millis(open_ms)))
                    .collect(),
            },
            Stop::IdleTimeout { limit_ms } => {
                StopReason::IdleTimeout { limit: Duration::from_millis(limit_ms) }
            }
        });
        producer
    }
}
