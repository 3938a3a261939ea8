//! Notes: facts about a stream that are not defects.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::end_of_run::duration;
use crate::limits::{
    CALL_ROWS_MAX, CALLS_ENDED_MAX, CALLS_OPEN_MAX, FILES_MAX, NAMES_MAX, TEXT_BYTES_MAX,
};
use crate::rules::Rule;
use crate::rules::escape::shown;
use crate::rules::names::names;

/// Something a reader of the report should know that is not a defect of the stream. Its text is
/// one sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// A configuration file was read.
    Configured {
        /// Its name.
        file: String,
    },
    /// Rules were turned off, by the configuration file or by an option.
    RulesOff {
        /// Which ones.
        rules: Vec<Rule>,
    },
    /// Rules that are errors were made warnings, by the configuration file or by an option.
    RulesLowered {
        /// Which ones.
        rules: Vec<Rule>,
    },
    /// No profile was named, and no event shows which agent wrote the stream.
    ProfileFallback {
        /// The profile that was used.
        profile: String,
    },
    /// The profile is written for other versions of the agent.
    VersionOutOfRange {
        /// The agent's version.
        version: String,
        /// The profile.
        profile: String,
        /// The versions that it is written for.
        range: String,
    },
    /// Of one rule more diagnostics were found than reported.
    DiagnosticsOmitted {
        /// The rule.
        rule: Rule,
        /// How many were not reported.
        count: u64,
    },
    /// An event that the profile does not know came more than once.
    UnknownEventRepeated {
        /// Its tag.
        tag: String,
        /// How often it came.
        count: u64,
    },
    /// Events lack a call id, or a text where the profile expects one.
    EventsIncomplete {
        /// How many.
        count: u64,
    },
    /// A line that looks like an event is not a usable one; what it could explain is not reported.
    LineLost {
        /// The first such line.
        line: u64,
    },
    /// A limit was reached, and something was not followed or not kept.
    LimitReached(Bound),
    /// The stream reports that the run failed.
    FailureReported {
        /// The line.
        line: u64,
        /// What the line is.
        sign: FailureSource,
    },
    /// The stream ended before the run did; what is missing.
    CutShort {
        /// Whether the terminal event is missing.
        no_terminal_event: bool,
        /// The calls that are open.
        open_calls: Option<String>,
    },
    /// This agent's stream does not show whether the run succeeded, and no exit status is known.
    OutcomeUnknown,
    /// The agent reported errors and went on.
    ErrorsSurvived {
        /// How many.
        count: u64,
    },
    /// What the exit status means, by the agent's documentation.
    ExitStatusMeaning(String),
    /// The agent was still running after its terminal event.
    Lingered {
        /// Whether we stopped it, and did not just stop reading.
        was_stopped: bool,
    },
    /// An idle timeout did not apply: this agent writes a call only when it has ended.
    NoIdleTimeout {
        /// The profile.
        profile: String,
    },
    /// A timeout of calls did not apply: this agent writes a call only when it has ended.
    NoCallTimeout {
        /// The profile.
        profile: String,
    },
    /// The command ended, and another part of this program took its exit status.
    ExitStatusLost,
    /// A timeout fired.
    TimedOut(String),
    /// The run failed, and its command was started again: this stream decides nothing.
    TriedAgain {
        /// The number of the attempt that failed, from 1.
        attempt: u64,
        /// The time before the next one.
        wait: Duration,
    },
    /// A retry was requested, but did not happen.
    NotTriedAgain(NoRetry),
}

/// Why a run was not tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoRetry {
    /// There were as many attempts as were asked for.
    LastAttempt,
    /// The run exceeded a limit, or did what an expectation forbids.
    BrokeDemand,
    /// The run changed something, or may have.
    MayHaveWritten,
    /// The time for a retry is too far away.
    TooLate,
    /// The user wants retries for other reasons only.
    OtherReason,
    /// The same run fails again until something is changed.
    NotRetryable,
    /// Why the run failed is unknown, or does not say whether a retry can help.
    NotKnown,
    /// A signal came while we waited for the time of the next attempt.
    Interrupted,
    /// A timeout or a signal ended the command.
    Stopped,
    /// The next attempt could not begin.
    NotStarted,
}

/// What says that a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureSource {
    /// An error event, or a line of text.
    Error,
    /// The terminal event.
    TerminalEvent,
    /// An event before the terminal event, which does not say how the run ended: a failure, or a
    /// start that no success followed.
    EarlierEvent,
    /// The terminal event, in the middle of something that the agent had begun.
    Unfinished,
    /// The last event, with which no good run of this agent ends.
    LastEvent,
}

names! {
    /// A limit of the checker; see `limits.rs` for the reasons.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[non_exhaustive]
    pub enum Bound {
        /// Tool calls that are followed.
        Calls = "calls",
        /// Names of unknown events and tools that are counted.
        Names = "names",
        /// Tool calls that are listed in the report.
        ToolCalls = "call-rows",
        /// Files that are listed in the report.
        Files = "files",
        /// Text that is compared byte by byte.
        Text = "text",
    }
}

impl Note {
    /// Whether it is about the check, and so the same for every stream.
    pub fn is_of_check(&self) -> bool {
        matches!(self, Self::Configured { .. } | Self::RulesOff { .. } | Self::RulesLowered { .. })
    }

    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Configured { .. } => "configured",
            Self::RulesOff { .. } => "rules-off",
            Self::RulesLowered { .. } => "rules-lowered",
            Self::ProfileFallback { .. } => "profile-fallback",
            Self::VersionOutOfRange { .. } => "version-out-of-range",
            Self::DiagnosticsOmitted { .. } => "diagnostics-omitted",
            Self::UnknownEventRepeated { .. } => "unknown-event-repeated",
            Self::EventsIncomplete { .. } => "events-incomplete",
            Self::LineLost { .. } => "line-lost",
            Self::LimitReached(_) => "limit-reached",
            Self::FailureReported { .. } => "failure-reported",
            Self::CutShort { .. } => "cut-short",
            Self::OutcomeUnknown => "outcome-unknown",
            Self::ErrorsSurvived { .. } => "errors-survived",
            Self::ExitStatusMeaning(_) => "exit-status-meaning",
            Self::Lingered { .. } => "lingered",
            Self::NoIdleTimeout { .. } => "no-idle-timeout",
            Self::NoCallTimeout { .. } => "no-call-timeout",
            Self::ExitStatusLost => "exit-status-lost",
            Self::TimedOut(_) => "timed-out",
            Self::TriedAgain { .. } => "tried-again",
            Self::NotTriedAgain(_) => "not-tried-again",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured { file } => write!(out, "configured by {}", shown(file)),
            Self::RulesOff { rules } => listed(out, rules, ["is off", "are off"]),
            Self::RulesLowered { rules } => {
                listed(out, rules, ["is only a warning", "are only warnings"])
            }
            Self::ProfileFallback { profile } => {
                write!(out, "using profile {profile}: there is no event that identifies the agent")
            }
            Self::VersionOutOfRange { version, profile, range } => {
                write!(out, "profile {profile} is for versions {range}, ")?;
                write!(out, "but this agent has version {}", shown(version))
            }
            Self::DiagnosticsOmitted { rule, count } => {
                write!(out, "{}", counted(*count, &format!("more {rule} diagnostic")))?;
                write!(out, " {} not shown", if *count == 1 { "is" } else { "are" })
            }
            Self::UnknownEventRepeated { tag, count } if tag.is_empty() => {
                write!(out, "the unknown event without a tag occurs {count} times")
            }
            Self::UnknownEventRepeated { tag, count } => {
                write!(out, "the unknown event {} occurs {count} times", shown(tag))
            }
            Self::EventsIncomplete { count } => {
                let lack = if *count == 1 { "lacks" } else { "lack" };
                write!(out, "{} {lack} a call id or a text", counted(*count, "event"))
            }
            Self::LineLost { line } => write!(
                out,
                "line {line} cannot be read as an event; problems it may have caused are not \
                 reported"
            ),
            Self::LimitReached(limit) => out.write_str(&limit.sentence()),
            Self::FailureReported { line, sign } => failure_reported(out, *line, *sign),
            Self::CutShort { no_terminal_event, open_calls } => {
                let missing = no_terminal_event.then_some("there is no terminal event");
                let parts: Vec<&str> = missing.into_iter().chain(open_calls.as_deref()).collect();
                out.write_str(&parts.join("; "))
            }
            Self::OutcomeUnknown => out.write_str(
                "only the exit status shows whether the run succeeded: pass it to the check, or \
                 let ndjson-check run the command",
            ),
            Self::ErrorsSurvived { count } => {
                write!(out, "the run succeeded after {}", counted(*count, "error"))
            }
            Self::ExitStatusMeaning(meaning) => write!(out, "the exit status means: {meaning}"),
            Self::Lingered { was_stopped: true } => {
                out.write_str("the command was still running after its terminal event; stopped")
            }
            Self::Lingered { was_stopped: false } => {
                out.write_str("the stream stayed open after its terminal event; stopped reading")
            }
            Self::NoIdleTimeout { profile } => did_not_apply(out, "idle", profile),
            Self::NoCallTimeout { profile } => did_not_apply(out, "call", profile),
            Self::ExitStatusLost => out.write_str(
                "the exit status is lost: another part of this program waits for every process, or \
                 SIGCHLD is ignored",
            ),
            Self::TimedOut(message) => out.write_str(message),
            Self::TriedAgain { attempt, wait } => {
                write!(out, "attempt {attempt}; the next one followed {}", after(*wait))
            }
            Self::NotTriedAgain(why) => write!(out, "not tried again: {why}"),
        }
    }
}

fn did_not_apply(out: &mut fmt::Formatter<'_>, timeout: &str, profile: &str) -> fmt::Result {
    write!(
        out,
        "the {timeout} timeout did not apply, because {profile} shows calls only when they have \
         ended; limit the time of the whole run instead"
    )
}

impl fmt::Display for NoRetry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::LastAttempt => "this was the last attempt",
            Self::BrokeDemand => "the run did what a limit or an expectation forbids",
            Self::MayHaveWritten => "the run may have changed something",
            Self::TooLate => "a retry can help only after more than an hour",
            Self::OtherReason => "retries are only for other reasons",
            Self::NotRetryable => "it would fail again",
            Self::NotKnown => "whether a retry can help is unknown",
            Self::Interrupted => "a signal came before the next attempt",
            Self::Stopped => "a timeout or a signal ended the run",
            Self::NotStarted => "the next attempt could not begin",
        })
    }
}

impl Bound {
    fn sentence(self) -> String {
        match self {
            Self::Calls => format!(
                "more than {CALLS_OPEN_MAX} tool calls were open at once, or more than \
                 {CALLS_ENDED_MAX} ended: not all were followed"
            ),
            Self::Names => format!("only the first {NAMES_MAX} unknown names were counted"),
            Self::ToolCalls => format!(
                "only {CALL_ROWS_MAX} tool calls are listed: those that did not succeed go first"
            ),
            Self::Files => format!(
                "only the first {FILES_MAX} changed files are listed, and no very long path"
            ),
            Self::Text => {
                format!("text beyond {TEXT_BYTES_MAX} bytes was compared by length and hash only")
            }
        }
    }
}

fn failure_reported(out: &mut fmt::Formatter<'_>, line: u64, sign: FailureSource) -> fmt::Result {
    match sign {
        FailureSource::Error => write!(out, "an error in line {line} says that the run failed"),
        FailureSource::TerminalEvent => {
            write!(out, "the terminal event in line {line} says that the run failed")
        }
        FailureSource::EarlierEvent => {
            write!(out, "no event after line {line} shows that the run succeeded")
        }
        FailureSource::Unfinished => {
            write!(out, "the run ended at line {line}, in the middle of a turn")
        }
        FailureSource::LastEvent => {
            write!(
                out,
                "the stream ends at line {line}, and no good run of this agent ends so early"
            )
        }
    }
}

fn after(wait: Duration) -> String {
    if wait.is_zero() { "at once".to_owned() } else { format!("after {}", duration(wait)) }
}

/// How many rules there are, what they are, and their names.
fn listed(out: &mut fmt::Formatter<'_>, rules: &[Rule], [one, several]: [&str; 2]) -> fmt::Result {
    let names: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
    let are = if rules.len() == 1 { one } else { several };
    write!(out, "{} {are}: {}", counted(rules.len() as u64, "rule"), names.join(", "))
}

/// A number and a noun: `1 event`, `2 events`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("note", self.name())?;
        match self {
            Self::LimitReached(limit) => object.serialize_entry("limit", limit)?,
            Self::Configured { file } => object.serialize_entry("file", file)?,
            Self::RulesOff { rules } | Self::RulesLowered { rules } if !rules.is_empty() => {
                object.serialize_entry("rules", rules)?;
            }
            _ => {}
        }
        object.serialize_entry("message", &self.to_string())?;
        object.end()
    }
}
