//! How a producer reports its own failures: error events and exit codes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{EndReason, Objects, RunOutcome};
use crate::profile::path::Conditions;
use crate::rules::names::names;

/// An exit status, as the system reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub enum ExitStatus {
    /// The process exited with this code.
    #[serde(rename = "exit_status")]
    Code(u8),
    /// This signal ended it.
    #[serde(rename = "signal")]
    Signal(u8),
}

impl ExitStatus {
    /// Whether it reports success.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// As a shell reports it: 128 plus the number of the signal.
    pub fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
        }
    }
}

impl From<std::process::ExitStatus> for ExitStatus {
    fn from(status: std::process::ExitStatus) -> Self {
        // A larger code must not become a success.
        let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(byte(signal));
        }
        Self::Code(status.code().map_or(u8::MAX, byte))
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(out, "exit status {code}"),
            Self::Signal(signal) => write!(out, "signal {signal}"),
        }
    }
}

/// An event, or part of one, that reports an error.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ErrorRule {
    pub severity: ErrorSeverity,
    pub when: Conditions,
    /// The objects with the error; one is enough.
    #[serde(flatten)]
    pub of: Objects,
}

names! {
    /// How bad an error is that the agent reports.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
    #[non_exhaustive]
    pub enum ErrorSeverity {
        /// The run has failed, even if the terminal event reports success.
        Failure = "failure",
        /// The run cannot have succeeded; a terminal event that reports success is wrong.
        Fatal = "fatal",
        /// The run may go on.
        Warning = "warning",
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExitCodes {
    /// The codes of a run that succeeded.
    pub success: Vec<i32>,
    /// The codes of a run that failed; by default all but those of success. A code in neither list
    /// has no meaning for the outcome.
    pub failure: Option<FailureCodes>,
    /// What a code means, for messages.
    pub meaning: BTreeMap<i32, String>,
    /// Why the run ended, for a code that says so.
    pub reason: BTreeMap<i32, EndReason>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureCodes {
    /// Any, including 0.
    Any,
    #[serde(untagged)]
    These(Vec<i32>),
}

impl Default for ExitCodes {
    fn default() -> Self {
        Self { success: vec![0], failure: None, meaning: BTreeMap::new(), reason: BTreeMap::new() }
    }
}

impl ExitCodes {
    pub(crate) fn interpret(&self, status: ExitStatus) -> StatusMeaning<'_> {
        let code = i32::from(status.shell_code());
        let success = self.success.contains(&code);
        let (failure, unlisted) = match &self.failure {
            None => (!success, false),
            Some(FailureCodes::Any) => (true, false),
            Some(FailureCodes::These(codes)) => {
                let failure = codes.contains(&code);
                (failure, !success && !failure)
            }
        };
        let meaning = self.meaning.get(&code).map(String::as_str);
        let reason = self.reason.get(&code).copied();
        StatusMeaning { status, meaning, reason, success, failure, unlisted }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatusMeaning<'p> {
    pub status: ExitStatus,
    pub meaning: Option<&'p str>,
    pub reason: Option<EndReason>,
    success: bool,
    failure: bool,
    /// In neither of two lists.
    unlisted: bool,
}

impl StatusMeaning<'_> {
    /// False for a status that the profile does not list.
    pub(crate) fn is_success(&self) -> bool {
        self.success
    }

    /// Whether a run with this outcome can have it; true for a status that is not listed.
    pub(crate) fn is_consistent_with(&self, outcome: RunOutcome) -> bool {
        let listed = match outcome {
            RunOutcome::Success => self.success,
            RunOutcome::Failure => self.failure,
        };
        listed || self.unlisted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_status_says_what_the_profile_knows() {
        let exit = |text: &str| serde_json::from_str::<ExitCodes>(text).expect("it is well-formed");
        let said = |text: &str, status| {
            let exit = exit(text);
            let meaning = exit.interpret(status);
            (
                meaning.is_consistent_with(RunOutcome::Success),
                meaning.is_consistent_with(RunOutcome::Failure),
            )
        };
        let (zero, one, killed) =
            (ExitStatus::Code(0), ExitStatus::Code(1), ExitStatus::Signal(15));
        assert_eq!(said("{}", zero), (true, false));
        assert_eq!(said("{}", one), (false, true));
        assert_eq!(said("{}", killed), (false, true));
        assert_eq!(said(r#"{"failure": [0, 1]}"#, zero), (true, true));
        assert_eq!(said(r#"{"failure": "any"}"#, zero), (true, true));
        assert_eq!(said(r#"{"failure": [1]}"#, one), (false, true));
        assert_eq!(said(r#"{"failure": [1]}"#, zero), (true, false));
        assert_eq!(said(r#"{"failure": [41]}"#, one), (true, true));
        assert_eq!(said(r#"{"success": [0, 143]}"#, killed), (true, false));
        let unlisted = exit(r#"{"failure": [41]}"#);
        assert!(!unlisted.interpret(one).is_success() && unlisted.interpret(zero).is_success());
        let exit = exit(r#"{"meaning": {"143": "ended by SIGTERM"}}"#);
        assert_eq!(exit.interpret(killed).meaning, Some("ended by SIGTERM"));
        assert_eq!(exit.interpret(one).meaning, None);
    }
}
