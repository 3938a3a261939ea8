//! Known lines that are not events.

use serde::Deserialize;

use super::{EndReason, Profile};
use crate::profile::pattern::LazyRegex;
use crate::stream::Line;

/// A known line, or start of a line, that is not an event.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noise {
    pub matches: LazyRegex,
    pub is: NoiseKind,
    /// The run has failed, unless a terminal event follows; the line says why.
    #[serde(default)]
    pub failed: bool,
    /// It has not if an event follows: the agent tries again.
    #[serde(default)]
    pub may_recover: bool,
    /// Why it failed, in one word.
    pub reason: Option<EndReason>,
    /// What no event shows, and the line does.
    pub means: Option<NoiseMeaning>,
    #[serde(rename = "where", default)]
    pub place: NoisePlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoiseKind {
    /// The producer writes it to its stream.
    Banner,
    /// Written to standard error, which was merged into the stream.
    Stderr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoiseMeaning {
    /// A call was denied.
    DeniedCall,
    /// A call failed.
    FailedCall,
    /// Background work was lost.
    BackgroundWorkLost,
    /// Tool servers did not start: the text has their names, or says that there are some.
    ToolServerUnavailable,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoisePlace {
    #[default]
    Line,
    /// In front of the first object of a line, which is the event.
    Before,
    /// A line that begins as an object, whole or broken, and is the output of a command.
    Object,
}

impl Noise {
    /// What the agent says in a line: the group `text` of the pattern, or all of it.
    pub(crate) fn text<'t>(&self, line: &'t str) -> &'t str {
        self.matches.group(line, "text").unwrap_or(line).trim()
    }
}

impl Profile {
    /// The rule of a line that is not an event.
    pub(crate) fn known_line(&self, line: &str) -> Option<&Noise> {
        let is_known = |rule: &&Noise| rule.place == NoisePlace::Line && rule.matches.is_in(line);
        self.noise.iter().find(is_known)
    }

    /// The rule of a line that looks like an event, and is none.
    pub(crate) fn known_object(&self, line: &Line<'_>) -> Option<&Noise> {
        let is_in = |rule: &Noise| line.text().is_some_and(|text| rule.matches.is_in(text));
        self.noise.iter().find(|rule| rule.place == NoisePlace::Object && is_in(rule))
    }

    /// The rule of a line of standard error that says more about the run.
    pub(crate) fn known_stderr(&self, line: &str) -> Option<&Noise> {
        let is_known = |rule: &&Noise| {
            rule.is == NoiseKind::Stderr
                && rule.place == NoisePlace::Line
                && rule.matches.is_in(line)
        };
        let rule = self.noise.iter().find(is_known)?;
        (rule.failed || rule.means.is_some()).then_some(rule)
    }
}
