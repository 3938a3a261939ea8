//! What a run must start with: its model, its session, its servers and tools.

use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::globs::NameGlob;
use crate::check::{EventKind, SessionFacts};
use crate::facts::Server;
use crate::rules::escape::shown;

#[derive(Debug)]
pub(super) enum StartPattern {
    Model(NameGlob),
    Session(String),
    /// For each of them there must be a server that the agent can use.
    Servers(Vec<NameGlob>),
    /// For each of them there must be a tool.
    Tools(Vec<NameGlob>),
}

/// What is known of the start of a run.
#[derive(Debug, Default)]
pub(super) struct StartTally {
    /// Whether the stream has shown what is asked for.
    is_shown: bool,
    servers: Option<Vec<Server>>,
    tools: Option<Vec<String>>,
    /// What is wrong, and the line that shows it.
    fault: Option<(String, u64)>,
}

impl StartPattern {
    pub(super) fn model(glob: &str) -> Result<Self, String> {
        NameGlob::new(glob).map(Self::Model)
    }

    pub(super) fn servers(globs: &[String]) -> Result<Self, String> {
        globs.iter().map(|glob| NameGlob::new(glob)).collect::<Result<_, _>>().map(Self::Servers)
    }

    pub(super) fn tools(globs: &[String]) -> Result<Self, String> {
        globs.iter().map(|glob| NameGlob::new(glob)).collect::<Result<_, _>>().map(Self::Tools)
    }

    pub(super) fn observe(&self, event: &EventKind<'_>, line: u64, tally: &mut StartTally) {
        let fault = match event {
            EventKind::Session(session) => self.session(&session.session, tally),
            EventKind::SessionChanged(session) => self.session(session, tally),
            // The agent is at work: what it has not named by now is not there.
            EventKind::TextDelta { .. } | EventKind::Text(_) | EventKind::CallStarted(_) => {
                self.missing(tally)
            }
            _ => None,
        };
        if let Some(fault) = fault {
            tally.fault.get_or_insert((fault, line));
        }
    }

    /// Takes what is said of the session; returns what is wrong with it.
    fn session(&self, session: &SessionFacts<'_>, tally: &mut StartTally) -> Option<String> {
        match self {
            Self::Model(glob) => {
                let model = session.model.as_deref()?;
                tally.is_shown = true;
                let fault = || format!("the model must be {}, but it is {}", glob, shown(model));
                (!glob.is_for(model)).then(fault)
            }
            Self::Session(id) => {
                let other = session.session_id.as_deref()?;
                tally.is_shown = true;
                let fault =
                    || format!("the session must be {}, but it is {}", shown(id), shown(other));
                (other != id).then(fault)
            }
            Self::Servers(_) => {
                let known = tally.servers.get_or_insert_default();
                for server in session.servers.as_deref()? {
                    known.retain(|it| it.name != server.name);
                    known.push(server.clone());
                }
                tally.is_shown = true;
                self.unavailable(tally)
            }
            Self::Tools(_) => {
                tally.tools = Some(session.tools.as_deref()?.to_vec());
                tally.is_shown = true;
                None
            }
        }
    }

    /// A server that the agent cannot use.
    fn unavailable(&self, tally: &StartTally) -> Option<String> {
        let Self::Servers(globs) = self else { return None };
        let servers = tally.servers.as_deref().unwrap_or_default();
        globs.iter().find_map(|glob| {
            let mut named = servers.iter().filter(|server| glob.is_for(&server.name));
            let first = named.next()?;
            let is_lost = |server: &Server| server.available == Some(false);
            let status = first.status.as_deref().map(|it| format!(": {}", shown(it)));
            let fault = || {
                let status = status.unwrap_or_default();
                format!(
                    "the tool server {} must be available, but is not{status}",
                    shown(&first.name)
                )
            };
            (is_lost(first) && named.all(is_lost)).then(fault)
        })
    }

    /// A server or a tool that is not among those that the agent has named.
    fn missing(&self, tally: &StartTally) -> Option<String> {
        if !tally.is_shown {
            return None;
        }
        match self {
            Self::Model(_) | Self::Session(_) => None,
            Self::Servers(globs) => {
                let servers = tally.servers.as_deref().unwrap_or_default();
                let is_there = |glob: &&NameGlob| servers.iter().any(|it| glob.is_for(&it.name));
                let glob = globs.iter().find(|glob| !is_there(glob))?;
                Some(format!("there must be a tool server {glob}, but there is none"))
            }
            Self::Tools(globs) => {
                let tools = tally.tools.as_deref().unwrap_or_default();
                let is_there = |glob: &&NameGlob| tools.iter().any(|it| glob.is_for(it));
                let glob = globs.iter().find(|glob| !is_there(glob))?;
                Some(format!("there must be a tool {glob}, but there is none"))
            }
        }
    }

    /// Whether each server is known to be available.
    fn are_available(&self, tally: &StartTally) -> bool {
        let Self::Servers(globs) = self else { return true };
        let servers = tally.servers.as_deref().unwrap_or_default();
        globs.iter().all(|glob| {
            servers.iter().any(|it| glob.is_for(&it.name) && it.available == Some(true))
        })
    }

    /// Holds for every run. What a run that failed has not shown is not asked for.
    pub(super) fn answer(&self, tally: &StartTally, context: Context) -> Option<Answered> {
        let missing = || self.missing(tally).map(|fault| (fault, 0));
        let fault = tally.fault.clone().or_else(missing);
        let truth = match (&fault, tally.is_shown && self.are_available(tally)) {
            (Some(_), _) => Truth::No,
            (None, true) => Truth::Yes,
            (None, false) if context.has_succeeded => Truth::Unknown,
            (None, false) => return None,
        };
        let (fact, line) = fault.unwrap_or_default();
        let mut lines = Tally::default();
        if line > 0 {
            lines.add(Truth::Yes, line);
        }
        let question = match self {
            Self::Model(glob) => format!("the model is {glob}"),
            Self::Session(id) => format!("the session is {}", shown(id)),
            Self::Servers(globs) => format!("these tool servers are available: {}", named(globs)),
            Self::Tools(globs) => format!("there are these tools: {}", named(globs)),
        };
        Some(Answered { truth, fact, question, tally: lines })
    }

    /// Whether something is wrong that no later event can make good.
    pub(super) fn is_broken(tally: &StartTally) -> bool {
        tally.fault.is_some()
    }
}

fn named(globs: &[NameGlob]) -> String {
    globs.iter().map(NameGlob::to_string).collect::<Vec<_>>().join(", ")
}
