//! Stage: servers and plugins whose tools the agent cannot use.

use std::collections::BTreeMap;

use crate::check::stage::lines::SaidLine;
use crate::facts::{Facts, Unavailable};
use crate::limits::SESSION_LIST_MAX;
use crate::profile::ToolSource;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::shown;

/// Reports each of them once: an agent may list them again in each turn.
#[derive(Debug, Default)]
pub(crate) struct ServerCheck {
    reported: BTreeMap<String, Vec<ToolSource>>,
}

impl ServerCheck {
    pub(crate) fn observe(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        for Unavailable { is, name, why } in facts.rare.iter().flat_map(|rare| &rare.unavailable) {
            if !self.is_new(name, *is) {
                continue;
            }
            let what = match is {
                ToolSource::Server => "the tool server",
                ToolSource::Plugin => "the plugin",
            };
            let why = why.as_deref().map(|why| format!(": {}", shown(why))).unwrap_or_default();
            let message = format!("{what} {} is not available{why}", shown(name));
            let diagnostic = Diagnostic::new(Rule::ToolServerUnavailable, message);
            found.push(diagnostic.at(facts.line, facts.offset));
        }
    }

    /// A line of plain text has the names of servers, with commas between them, or says that some
    /// are not available.
    pub(crate) fn said(&mut self, said: &SaidLine, found: &mut Vec<Diagnostic>) {
        let names: Vec<&str> = said.text.split(", ").collect();
        let are_names = names.iter().all(|name| !name.contains(char::is_whitespace));
        for name in if are_names { names } else { vec![&*said.text] } {
            if !self.is_new(name, ToolSource::Server) {
                continue;
            }
            let message = if are_names {
                format!("the tool server {} is not available", shown(name))
            } else {
                format!("a tool server may not be available: {}", shown(name))
            };
            let diagnostic = Diagnostic::new(Rule::ToolServerUnavailable, message);
            found.push(match said.at {
                Some((line, offset)) => diagnostic.at(line, offset),
                None => diagnostic,
            });
        }
    }

    fn is_new(&mut self, name: &str, is: ToolSource) -> bool {
        let is_reported = self.reported.get(name).is_some_and(|reported| reported.contains(&is));
        let is_new = !is_reported && self.reported.len() < SESSION_LIST_MAX;
        if is_new {
            self.reported.entry(name.to_owned()).or_default().push(is);
        }
        is_new
    }
}
