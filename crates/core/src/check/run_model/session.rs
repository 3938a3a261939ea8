//! What is known of the session.

use std::borrow::Cow;

use crate::check::event::SessionFacts;
use crate::facts::{FactUpdate, Facts, Server, SessionDetail};
use crate::limits::SESSION_LIST_MAX;
use crate::profile::RunFact;

/// Takes what an event says of the session; returns whether any of it is new.
pub(super) fn take(
    known: &mut SessionFacts<'static>,
    facts: &Facts<'_>,
    details: Option<Vec<SessionDetail>>,
) -> bool {
    let mut is_new = is_other(&mut known.session_id, facts.session);
    if let Some(rare) = facts.rare.as_deref() {
        is_new |= is_other(&mut known.directory, rare.directory.as_deref());
        let model = rare.run_facts.iter().find_map(|update| match update {
            FactUpdate::Text(RunFact::Model, model) => Some(&**model),
            _ => None,
        });
        is_new |= is_other(&mut known.model, model);
    }
    for detail in details.into_iter().flatten() {
        is_new |= match detail {
            SessionDetail::Version(version) => is_other(&mut known.version, Some(&version)),
            SessionDetail::Model(model) => is_other(&mut known.model, Some(&model)),
            SessionDetail::Mode(mode) => is_other(&mut known.mode, Some(&mode)),
            SessionDetail::Tools(tools) => are_others(&mut known.tools, tools),
            SessionDetail::Servers(servers) => are_others(&mut known.servers, servers),
            SessionDetail::Server(server) => is_other_of(&mut known.servers, server),
        };
    }
    is_new
}

fn is_other(known: &mut Option<Cow<'static, str>>, text: Option<&str>) -> bool {
    let other = text.filter(|text| known.as_deref() != Some(*text));
    if let Some(other) = other {
        *known = Some(Cow::Owned(other.to_owned()));
    }
    other.is_some()
}

fn are_others<T: Clone + PartialEq>(known: &mut Option<Cow<'static, [T]>>, all: Vec<T>) -> bool {
    let are_others = known.as_deref() != Some(&all);
    *known = Some(Cow::Owned(all));
    are_others
}

/// What is said of one server.
fn is_other_of(known: &mut Option<Cow<'static, [Server]>>, server: Server) -> bool {
    let servers = known.get_or_insert_default().to_mut();
    match servers.iter().position(|it| it.name == server.name) {
        Some(at) => std::mem::replace(&mut servers[at], server) != servers[at],
        None if servers.len() == SESSION_LIST_MAX => false,
        None => {
            servers.push(server);
            true
        }
    }
}
