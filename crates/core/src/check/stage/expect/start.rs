//! What a run must start with: its model, its session, its servers and tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::globs::NameGlob;
use crate::check::{EventCall, EventKind, SessionFacts};
use crate::facts::Server;
use crate::limits::SESSION_LIST_MAX;
use crate::profile::pattern::LazyRegex;
use crate::profile::{CallKind, CallOutcome};
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

#[derive(Debug, Default)]
pub(super) struct StartTally {
    /// Whether the stream has shown what is asked for.
    is_shown: bool,
    /// By their names, as they were listed last.
    servers: BTreeMap<String, Server>,
    /// Those that did not start, as a message says, by their names.
    unavailable: BTreeMap<String, u64>,
    tools: Vec<String>,
    /// The line that listed them last.
    listed_line: u64,
    /// Servers whose tools a call has used.
    used: BTreeSet<String>,
    /// The first id of the session, with its line, while none is the one that is asked for.
    other_session: Option<(String, u64)>,
    /// The first names of models that are what is asked for.
    models: Vec<String>,
    /// The first other names that may be of one of these models.
    other_models: Vec<String>,
    /// Whether the session was described anew since it was compared.
    is_new: bool,
    /// Whether everything was there when the agent worked. What comes later changes nothing.
    is_settled: bool,
    /// What is wrong, and the line that shows it.
    fault: Option<(String, u64)>,
}

/// How many names of models are kept: a run has one, in a few forms.
const MODELS_MAX: usize = 16;

/// The name of a model, and what its provider puts before and after it.
static MODEL: LazyLock<LazyRegex> = LazyLock::new(|| {
    let date = r"(?:[-@](?:(?<date>20\d{6}|20\d\d-\d\d-\d\d)|latest))?";
    let behind = format!(r"{date}(?<version>-v\d+(?::\d+)?)?(?:\[[^\]]*\])?");
    format!(r"^(?<provider>(?:.*/)?(?:[a-z-]+\.)*)(?<model>.+?){behind}$").into()
});

/// Whether two names may be of one model: `claude-opus-5[1m]` writes messages of
/// `claude-opus-5-20260101`. What only one of them has does not count.
fn are_same_model(one: &str, other: &str) -> bool {
    let parts = |part| [one, other].map(|name| MODEL.group(name, part).unwrap_or_default());
    let agree = |[one, other]: [&str; 2]| one.is_empty() || other.is_empty() || one == other;
    let [model, other_model] = parts("model");
    let [provider, other_provider] = parts("provider").map(|it| it.replace(['/', ':'], "."));
    let dates = parts("date").map(|date| date.replace('-', ""));
    model == other_model
        && (ends_in(&provider, &other_provider) || ends_in(&other_provider, &provider))
        && agree([&dates[0], &dates[1]])
        && agree(parts("version"))
}

/// Whether the last parts of one provider are the other: `us.anthropic.` and `anthropic.`.
fn ends_in(provider: &str, other: &str) -> bool {
    let before = provider.strip_suffix(other);
    other.is_empty() || before.is_some_and(|it| it.is_empty() || it.ends_with('.'))
}

/// The name of a model without the options in brackets: `claude-opus-5` of `claude-opus-5[1m]`.
fn without_options(model: &str) -> &str {
    let name = model.strip_suffix(']').and_then(|it| it.rsplit_once('['));
    name.map_or(model, |(name, _)| name)
}

impl StartPattern {
    pub(super) fn observe(&self, event: &EventKind<'_>, line: u64, tally: &mut StartTally) {
        let fault = match event {
            EventKind::Session(session) => self.session((&session.session, line), tally),
            EventKind::SessionChanged(session) => self.session((session, line), tally),
            // A sub-agent may have another model.
            EventKind::MessageUsage(message) if !message.is_inner => {
                // `<synthetic>` is not a model: the agent itself wrote the message.
                let model = message.model.as_deref().filter(|model| !model.starts_with('<'));
                model.and_then(|model| self.model_fault((model, line), tally))
            }
            // The agent is at work: what it cannot use by now, or has not named, counts.
            EventKind::TextDelta { .. }
            | EventKind::Text(_)
            | EventKind::ThinkingDelta { .. }
            | EventKind::ThinkingEnd { .. }
            | EventKind::CallStarted(_)
                if std::mem::take(&mut tally.is_new) =>
            {
                tally.is_settled |= self.is_met(tally);
                self.missing(tally)
            }
            EventKind::CallCompleted(completed) if completed.outcome == CallOutcome::Succeeded => {
                self.observe_use(&completed.call, tally);
                None
            }
            _ => None,
        };
        if let Some(fault) = fault {
            tally.fault.get_or_insert(fault);
        }
    }

    /// Takes what is said of the session; returns what is wrong with it.
    fn session(
        &self,
        (session, line): (&SessionFacts, u64),
        tally: &mut StartTally,
    ) -> Option<(String, u64)> {
        match self {
            Self::Model(_) => return self.model_fault((session.model.as_deref()?, line), tally),
            Self::Session(id) => {
                if let Some(it) = session.session_id.as_deref() {
                    (tally.is_shown, tally.is_new) = (true, true);
                    if it == id {
                        // What comes later is the session of a sub-agent, or a change, which has
                        // its own rule.
                        (tally.is_settled, tally.other_session) = (true, None);
                    } else {
                        tally.other_session.get_or_insert((it.to_owned(), line));
                    }
                }
                // Tools come with the session that begins; hooks before it have another id.
                return session.tools.as_ref().and_then(|_| self.missing(tally));
            }
            Self::Servers(_) => {
                for server in session.servers.as_deref()? {
                    tally.servers.insert(server.name.clone(), server.clone());
                }
            }
            Self::Tools(_) => {
                for server in session.servers.iter().flatten() {
                    tally.servers.insert(server.name.clone(), server.clone());
                }
                tally.tools = session.tools.as_deref()?.to_vec();
            }
        }
        (tally.is_shown, tally.is_new, tally.listed_line) = (true, true, line);
        None
    }

    /// A call of a tool succeeded: the tool is there, and so is its server.
    fn observe_use(&self, call: &EventCall<'_>, tally: &mut StartTally) {
        let is_new = |known: usize| known < SESSION_LIST_MAX;
        let tool = call.tool.as_deref().unwrap_or_default();
        match self {
            Self::Tools(globs)
                if is_new(tally.tools.len()) && globs.iter().any(|glob| glob.is_for(tool)) =>
            {
                tally.tools.push(tool.to_owned());
            }
            Self::Servers(globs)
                if call.kind == Some(CallKind::Mcp) && is_new(tally.used.len()) =>
            {
                let is_wanted = |name: &&str| globs.iter().any(|glob| glob.is_for(name));
                tally.used.extend(server_of(tool).filter(is_wanted).map(str::to_owned));
            }
            _ => {}
        }
    }

    /// A server that did not start, by its name.
    pub(super) fn observe_unavailable(&self, server: &str, line: u64, tally: &mut StartTally) {
        if matches!(self, Self::Servers(_)) && tally.unavailable.len() < SESSION_LIST_MAX {
            tally.unavailable.entry(server.to_owned()).or_insert(line);
            tally.is_new = true;
        }
    }

    fn model_fault(
        &self,
        (model, line): (&str, u64),
        tally: &mut StartTally,
    ) -> Option<(String, u64)> {
        let Self::Model(glob) = self else { return None };
        tally.is_shown = true;
        let names = if glob.is_for(model) || glob.is_for(without_options(model)) {
            &mut tally.models
        } else if tally.may_be_model(model) {
            &mut tally.other_models
        } else {
            return Some((format!("the model must be {glob}, but it is {}", shown(model)), line));
        };
        if names.len() < MODELS_MAX && !names.iter().any(|it| it == model) {
            names.push(model.to_owned());
        }
        None
    }

    /// Another session, a server that the agent cannot use or does not have, or a tool that it does
    /// not have; with the line that shows it.
    fn missing(&self, tally: &StartTally) -> Option<(String, u64)> {
        if tally.is_settled {
            return None;
        }
        let fault = match self {
            Self::Model(_) => return None,
            Self::Session(id) => {
                let (other, line) = tally.other_session.as_ref()?;
                let (id, other) = (shown(id), shown(other));
                return Some((format!("the session must be {id}, but it is {other}"), *line));
            }
            Self::Servers(globs) => {
                let glob = globs.iter().find(|glob| tally.has_server(glob) == Truth::No)?;
                let unavailable = tally.unavailable.iter().find(|(name, _)| glob.is_only(name));
                match (tally.servers.values().find(|it| glob.is_for(&it.name)), unavailable) {
                    (None, Some((name, line))) => {
                        let name = shown(name);
                        let fault = format!("the tool server {name} must be available");
                        return Some((fault + ", but it is not", *line));
                    }
                    (None, None) => {
                        format!("there must be a tool server {glob}, but there is none")
                    }
                    (Some(server), _) => {
                        let status = server.status.as_deref().map(|it| format!(": {}", shown(it)));
                        let (name, status) = (shown(&server.name), status.unwrap_or_default());
                        format!("the tool server {name} must be available, but it is not{status}")
                    }
                }
            }
            Self::Tools(globs) => {
                let glob = globs.iter().find(|glob| tally.has_tool(glob) == Truth::No)?;
                format!("there must be a tool {glob}, but there is none")
            }
        };
        Some((fault, tally.listed_line))
    }

    /// Whether everything is known to be there.
    fn is_met(&self, tally: &StartTally) -> bool {
        let is_met = match self {
            Self::Model(_) => tally.is_shown,
            Self::Session(_) => tally.is_shown && tally.other_session.is_none(),
            Self::Servers(globs) => globs.iter().all(|it| tally.has_server(it) == Truth::Yes),
            Self::Tools(globs) => globs.iter().all(|it| tally.has_tool(it) == Truth::Yes),
        };
        tally.is_settled || is_met
    }

    /// Applies to every run. A run that failed does not have to show it.
    pub(super) fn answer(&self, tally: &StartTally, context: Context) -> Option<Answered> {
        let fault = tally.fault.clone().or_else(|| self.missing(tally));
        let truth = match (&fault, self.is_met(tally)) {
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
        let is_clipped = is_clipped(tally.servers.len()) || is_clipped(tally.tools.len());
        let doubt = is_clipped.then(|| format!("only {SESSION_LIST_MAX} of them are known"));
        Some(Answered { truth, fact, tally: lines, doubt, ..Answered::default() })
    }
}

/// The server of a tool, where the name says it: `tracker` of `mcp__tracker__list`,
/// `tracker.list` and `tracker/list`.
fn server_of(tool: &str) -> Option<&str> {
    let (before, _) = tool.rsplit_once("__").or_else(|| tool.rsplit_once(['.', '/']))?;
    Some(before.rsplit_once("__").map_or(before, |(_, server)| server))
}

/// Whether a list of this length may go on.
fn is_clipped(length: usize) -> bool {
    length >= SESSION_LIST_MAX
}

impl StartTally {
    /// Whether something is wrong that no later event can make good.
    pub(super) fn is_broken(&self) -> bool {
        self.fault.is_some()
    }

    /// Whether it may be one of the models: it also agrees with the other names of that model, so
    /// that no name between two others can hide that they have different dates.
    fn may_be_model(&self, model: &str) -> bool {
        let name = MODEL.group(model, "model");
        let mut others = self.other_models.iter().filter(|it| MODEL.group(it, "model") == name);
        self.models.iter().any(|it| are_same_model(it, model))
            && others.all(|other| are_same_model(other, model))
    }

    /// Whether a server with such a name is available, as it was listed last.
    fn has_server(&self, glob: &NameGlob) -> Truth {
        if self.used.iter().any(|it| glob.is_for(it)) {
            return Truth::Yes;
        }
        let named = self.servers.values().filter(|it| glob.is_for(&it.name));
        let is_available = named.map(|it| it.available.map_or(Truth::Unknown, Truth::from)).max();
        match is_available {
            // Another server may match a glob.
            None if self.unavailable.keys().any(|it| glob.is_only(it)) => Truth::No,
            None if !self.is_shown => Truth::Unknown,
            None | Some(Truth::No) if is_clipped(self.servers.len()) => Truth::Unknown,
            None => Truth::No,
            Some(is_available) => is_available,
        }
    }

    /// A server that is still connecting may bring a tool with its name.
    fn has_tool(&self, glob: &NameGlob) -> Truth {
        let wanted = glob.to_string();
        let connecting = self.servers.values().filter(|it| it.available.is_none());
        let is_connecting = connecting.map(|it| it.name.as_str()).any(|it| wanted.contains(it));
        match self.tools.iter().any(|it| glob.is_for(it)) {
            false if is_connecting => Truth::Unknown,
            false if !self.is_shown || is_clipped(self.tools.len()) => Truth::Unknown,
            has => has.into(),
        }
    }
}
