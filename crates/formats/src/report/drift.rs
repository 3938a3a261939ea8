//! What profiles do not know of the streams of a new version.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ndjson_check_core::{Bound, Note, StreamSummary, counted, escape::escaped_json};
use serde::Serialize;

use super::json::REPORT_VERSION;
use super::markdown_text::fenced;
use super::stats::{Agent, FoundName, StatsTotals, Unknown, UnknownRow};
use super::stats_text::agent;
use super::summary_text::grouped;
use super::unknown_text;
use crate::limits::{NAMES_MAX, UNKNOWN_NAMES_MAX};

/// What the profiles do not know of some streams.
#[derive(Debug, Default)]
pub struct DriftReport {
    totals: StatsTotals,
    /// Whether a stream has more names than are counted.
    has_uncounted: bool,
    has_unread: bool,
}

/// What is new in some streams.
#[derive(Debug)]
pub struct News<'d> {
    agents: Vec<AgentNews<'d>>,
    /// Whether names were not counted, and streams were not read.
    has_more: bool,
    has_unread: bool,
    /// The same of the known streams.
    lacks_known: bool,
}

/// What is new in one version of an agent.
#[derive(Debug)]
struct AgentNews<'d> {
    agent: &'d Agent,
    streams: u64,
    names: Vec<(&'d Unknown, &'d FoundName)>,
}

impl DriftReport {
    /// Adds a stream, which was checked with its figures.
    pub fn add(&mut self, stream: &StreamSummary) {
        self.has_uncounted |= stream.notes.contains(&Note::LimitReached(Bound::Names));
        self.totals.add(&stream.into());
    }

    /// A stream could not be read.
    pub fn miss(&mut self) {
        self.has_unread = true;
    }

    /// Whether all streams could be read.
    pub fn has_all(&self) -> bool {
        !self.has_unread
    }

    /// What is new, without what the known streams of the same profile have.
    pub fn without<'d>(&'d self, known: &Self) -> News<'d> {
        let names = known.totals.unknown.named.keys();
        let names: BTreeSet<_> = names.map(|((profile, _), unknown)| (profile, unknown)).collect();
        let of_agent = |agent: &'d Agent| -> Vec<_> {
            let all = self.totals.unknown.named.iter().filter(|((of, _), _)| of == agent);
            let all = all.map(|((_, unknown), found)| (unknown, found));
            all.filter(|(unknown, _)| !names.contains(&(&agent.0, *unknown))).collect()
        };
        let agents = self.totals.agents.named.iter().map(|(agent, sum)| {
            let (streams, names) = (sum.streams, of_agent(agent));
            AgentNews { agent, streams, names }
        });
        News {
            agents: agents.collect(),
            has_more: self.has_more(),
            has_unread: self.has_unread,
            lacks_known: known.has_more() || known.has_unread,
        }
    }

    fn has_more(&self) -> bool {
        let StatsTotals { unknown, agents, .. } = &self.totals;
        self.has_uncounted || unknown.others.is_some() || agents.others.is_some()
    }
}

impl News<'_> {
    /// Whether there is any, as far as it was counted.
    pub fn is_empty(&self) -> bool {
        self.count() == 0 && !self.has_more
    }

    fn count(&self) -> usize {
        self.agents.iter().map(|agent| agent.names.len()).sum()
    }

    /// A part for each version of an agent.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for AgentNews { agent: (profile, version), streams, names } in &self.agents {
            let (agent, streams) =
                (agent(profile, version.as_deref()), counted(*streams, "stream"));
            let news = match names.len() {
                0 if self.has_more => "nothing new among the names that were counted".to_owned(),
                0 => "nothing new".to_owned(),
                count => format!("{count} new"),
            };
            let _ = writeln!(text, "{agent}, {streams}: {news}");
            for (unknown, found) in names {
                let _ = writeln!(text, "  {}", unknown_text::line(unknown, found));
            }
        }
        if self.has_more {
            let _ = writeln!(
                text,
                "There is more: at most {NAMES_MAX} names of a kind are counted for a stream, {} \
                 in all, and the names of {NAMES_MAX} versions.",
                grouped(UNKNOWN_NAMES_MAX as u64)
            );
        }
        if self.has_unread {
            text += "Not all recordings could be read.\n";
        }
        if self.lacks_known && self.count() > 0 {
            text += "Some of it may be known: not all names of the known recordings were read.\n";
        }
        text
    }

    /// The text as a block of code.
    pub fn markdown(&self) -> String {
        let title = match self.count() {
            0 if self.has_more || self.has_unread => "not everything was compared".to_owned(),
            0 => "nothing new".to_owned(),
            count => format!("{} new", counted(count as u64, "name")),
        };
        format!("## ndjson-check drift: {title}\n\n{}", fenced("text", &self.text()))
    }

    /// One line of JSON.
    pub fn json(&self) -> String {
        let agents = self.agents.iter().map(|of| AgentLine {
            profile: &of.agent.0,
            agent_version: of.agent.1.as_deref(),
            streams: of.streams,
            new: of.names.len(),
        });
        let rows = self.agents.iter().flat_map(|of| {
            of.names.iter().map(|(unknown, found)| UnknownRow::new(of.agent, unknown, found))
        });
        let line = DriftLine {
            r#type: "drift",
            report_version: REPORT_VERSION,
            tool_version: env!("CARGO_PKG_VERSION"),
            is_complete: !(self.has_more || self.has_unread || self.lacks_known),
            agents: agents.collect(),
            unknown: rows.collect(),
        };
        escaped_json(&serde_json::to_string(&line).unwrap_or_default()) + "\n"
    }
}

#[derive(Serialize)]
struct DriftLine<'a> {
    r#type: &'a str,
    report_version: u8,
    tool_version: &'a str,
    is_complete: bool,
    agents: Vec<AgentLine<'a>>,
    unknown: Vec<UnknownRow<'a>>,
}

#[derive(Serialize)]
struct AgentLine<'a> {
    profile: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_version: Option<&'a str>,
    streams: u64,
    new: usize,
}
