//! The recordings that `replay` knows by name.

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::ops::Range;

use flate2::read::GzDecoder;

/// A recording of an agent.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) agent: &'static str,
    pub(super) name: &'static str,
    /// With which the agent exited.
    pub(super) status: u8,
    bytes: Range<usize>,
}

/// All recordings, in the order of their agents.
#[expect(clippy::unreadable_literal, reason = "build.rs writes it")]
const RECORDINGS: &[Scenario] = include!(concat!(env!("OUT_DIR"), "/recordings.rs"));

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recordings.gz"));

impl Scenario {
    /// The recording of an agent, or of one version of it, with this name.
    pub(super) fn find(agent: &str, name: &str) -> Option<&'static Self> {
        Self::of(agent).find(|it| it.name == name)
    }

    pub(super) fn of(agent: &str) -> impl Iterator<Item = &'static Self> {
        RECORDINGS.iter().filter(move |it| it.agent == agent || it.profile() == agent)
    }

    /// The names of all agents, with and without a version.
    pub(super) fn agents() -> impl Iterator<Item = &'static str> {
        RECORDINGS.iter().flat_map(|it| [it.profile(), it.agent])
    }

    /// The name of its profile: that of the agent without its version.
    pub(super) fn profile(&self) -> &'static str {
        let is_version = |version: &str| version.starts_with(|it: char| it.is_ascii_digit());
        let version = self.agent.rsplit_once('-').filter(|(_, version)| is_version(version));
        version.map_or(self.agent, |(agent, _)| agent)
    }

    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        GzDecoder::new(PACKED).read_to_end(&mut all)?;
        Ok(all[self.bytes.clone()].to_vec())
    }
}

/// The names of all recordings, a line for each agent.
pub(super) fn list() -> String {
    let mut text = String::new();
    for of_agent in RECORDINGS.chunk_by(|a, b| a.agent == b.agent) {
        let names: Vec<&str> = of_agent.iter().map(|it| it.name).collect();
        let _ = writeln!(text, "{:<18} {}", of_agent[0].agent, names.join(" "));
    }
    text
}
