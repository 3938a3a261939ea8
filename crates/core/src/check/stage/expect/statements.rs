//! What an expectation demands, as a statement that is true of a run that meets it.

use std::fmt;

use crate::check::{Expectation, ExpectedCalls};
use crate::profile::CallKind;
use crate::rules::escape::{clipped, shown, visible};

/// Longest pattern in a message, in bytes.
const PATTERN_BYTES_MAX: usize = 60;

fn short(pattern: &str) -> String {
    shown(&clipped(pattern, PATTERN_BYTES_MAX))
}

fn joined(globs: &[String], word: &str) -> String {
    globs.iter().map(|glob| short(glob)).collect::<Vec<_>>().join(word)
}

impl fmt::Display for Expectation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnswerMatches(pattern) => write!(out, "the answer matches {}", short(pattern)),
            Self::AnswerSatisfies(_) => out.write_str("the answer satisfies the schema"),
            Self::Calls(calls) => out.write_str(&calls.statement()),
            Self::WritesWithin(globs) => {
                write!(out, "calls write only files that match {}", joined(globs, " or "))
            }
            Self::WritesNever(globs) => {
                write!(out, "no call writes a file that matches {}", joined(globs, " or "))
            }
            Self::Model(glob) => write!(out, "the model is {}", short(glob)),
            Self::Session(id) => write!(out, "the session is {}", short(id)),
            Self::Servers(globs) => {
                write!(out, "these tool servers are available: {}", joined(globs, ", "))
            }
            Self::Tools(globs) => write!(out, "there are these tools: {}", joined(globs, ", ")),
        }
    }
}

impl ExpectedCalls {
    fn statement(&self) -> String {
        let all = [
            self.at_most.map(|most| self.at_most_statement(most)),
            self.at_least.map(|least| self.at_least_statement(least)),
            self.last_must_succeed.then(|| self.last_statement()),
            self.requires.map(|kind| self.requires_statement(kind)),
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(", and ")
    }

    pub(super) fn at_most_statement(&self, most: u64) -> String {
        let (name, place) = (self.named(most.max(1)), self.conditions());
        match most {
            0 => format!("there was no {name}{place}"),
            1 => format!("there was only 1 {name}{place}"),
            _ => format!("there were at most {most} {name}{place}"),
        }
    }

    pub(super) fn at_least_statement(&self, least: u64) -> String {
        format!("at least {least} {} succeeded{}", self.named(least), self.conditions())
    }

    pub(super) fn last_statement(&self) -> String {
        format!("the last {} succeeded{}", self.named(1), self.conditions())
    }

    pub(super) fn requires_statement(&self, kind: CallKind) -> String {
        let (name, kind) = (self.named(1), kind.name());
        format!("each {name} came after a {kind} call with the same path")
    }

    /// Where the calls must come and what they must print, as a message says it.
    pub(super) fn conditions(&self) -> String {
        let Self { after, before, output_matches, output_never, .. } = self;
        let place = |word, kind: &Option<CallKind>| {
            kind.map(|kind| format!(" {word} {} call", kind.name())).unwrap_or_default()
        };
        let (after, before) = (place("after the last", after), place("before the first", before));
        let is_named = self.name.is_some();
        let prints = output_matches.as_ref().filter(|_| !is_named);
        let prints = prints.map(|it| format!(", with {} in the output", short(it)));
        let prints_not = output_never.as_ref().filter(|_| !is_named);
        let prints_not = prints_not.map(|it| format!(", without {} in the output", short(it)));
        let output = prints.unwrap_or_default() + &prints_not.unwrap_or_default();
        format!("{after}{before}{output}")
    }

    /// So many of the calls, as a message names them.
    pub(super) fn named(&self, count: u64) -> String {
        let Self { kind, tool, matches, runs, name, .. } = self;
        let plural = if count == 1 { "" } else { "s" };
        if let Some(name) = name {
            return format!("{}{plural}", visible(name));
        }
        let kind = kind.map(|kind| format!("{} ", kind.name()));
        let kind = kind.or(runs.as_ref().map(|_| "command ".to_owned())).unwrap_or_default();
        let tool = tool.as_ref().map(|tool| format!(" of the tool {}", shown(tool)));
        let text = |word, pattern: &Option<String>| {
            pattern.as_ref().map(|it| format!(" {word} {}", short(it))).unwrap_or_default()
        };
        let (runs, matches) = (text("of", runs), text("with", matches));
        format!("{kind}call{plural}{}{runs}{matches}", tool.unwrap_or_default())
    }
}
