//! Stage: servers and plugins whose tools the agent cannot use.

use std::collections::BTreeMap;

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
            let is_reported = self.reported.get(name).is_some_and(|reported| reported.contains(is));
            if is_reported || self.reported.len() == SESSION_LIST_MAX {
                continue;
            }
            self.reported.entry(name.clone()).or_default().push(*is);
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
}
