//! Stage: events and tools that the profile does not know, each name once, counted.

use std::collections::BTreeMap;

use crate::check::{Limit, Note};
use crate::facts::{Call, Facts, TagStatus};
use crate::limits::{CALL_ID_BYTES_MAX, NAMES_MAX};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::{clipped, shown};

/// Notices names that the profile does not know.
#[derive(Debug, Default)]
pub(crate) struct Drift {
    events: BTreeMap<String, u64>,
    undocumented: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
    values: BTreeMap<String, u64>,
    /// The undocumented tag that was counted last.
    latest: String,
    has_overflowed: bool,
}

impl Drift {
    /// The event itself. One that fails the schema has been reported already.
    #[inline]
    pub(crate) fn event(&mut self, facts: &Facts<'_>, is_valid: bool, found: &mut Vec<Diagnostic>) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        match facts.tag_status {
            TagStatus::Unknown
                if is_valid && count(&mut self.events, facts.tag, &mut self.has_overflowed) =>
            {
                let message = format!("the profile does not know the event {}", facts.name());
                found.push(at(Diagnostic::new(Rule::UnknownEvent, message)));
            }
            TagStatus::Observed if self.latest == facts.tag => {}
            TagStatus::Observed if self.is_new(facts.tag) => {
                let message = format!("the event {} is not documented", facts.name());
                found.push(at(Diagnostic::new(Rule::UndocumentedEvent, message)));
            }
            TagStatus::Documented | TagStatus::Observed | TagStatus::Unknown => {}
        }
    }

    /// Its tool calls. `started_tool` says what the start of a call that this event completes
    /// names.
    pub(crate) fn calls<'t>(
        &mut self,
        facts: &Facts<'_>,
        started_tool: impl Fn(&Call<'_>) -> Start<'t>,
        found: &mut Vec<Diagnostic>,
    ) {
        let started = facts.started().iter().map(|call| (call, Start::Unknown));
        // A completion that names its tool needs no start.
        let completed = facts.completed().iter().map(|(call, _)| {
            (call, if call.tool.is_none() { started_tool(call) } else { Start::Unknown })
        });
        for (call, start) in started.chain(completed) {
            if let Some(unknown) = unknown(call, start)
                && count(&mut self.tools, &unknown, &mut self.has_overflowed)
            {
                let message = format!("the profile does not know {unknown}");
                let diagnostic = Diagnostic::new(Rule::UnknownTool, message);
                found.push(diagnostic.at(facts.line, facts.offset));
            }
        }
    }

    /// Values outside the sets that the agent documents.
    pub(crate) fn values(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        for (path, text) in facts.rare.iter().flat_map(|rare| &rare.unknown_values) {
            let name = format!("{path} {text}");
            if count(&mut self.values, &name, &mut self.has_overflowed) {
                let message =
                    format!("the profile does not know the value {} of {path}", shown(text));
                let diagnostic = Diagnostic::new(Rule::UnknownValue, message);
                found.push(diagnostic.at(facts.line, facts.offset));
            }
        }
    }

    /// Whether an undocumented tag comes for the first time.
    fn is_new(&mut self, tag: &str) -> bool {
        tag.clone_into(&mut self.latest);
        count(&mut self.undocumented, tag, &mut self.has_overflowed)
    }

    /// Unknown events that came more than once, in the order of their names.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let repeated = self.events.iter().filter(|(_, count)| **count > 1);
        let mut notes: Vec<Note> = repeated
            .map(|(tag, count)| Note::UnknownEventRepeated { tag: tag.clone(), count: *count })
            .collect();
        notes.extend(self.has_overflowed.then_some(Note::LimitReached(Limit::Names)));
        notes
    }
}

/// The tool that the start of a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start<'t> {
    /// The call is not open.
    Unknown,
    Unnamed,
    Named(&'t str),
}

/// What the profile does not know about a call.
fn unknown(call: &Call<'_>, start: Start<'_>) -> Option<String> {
    let own = call.tool.as_deref();
    let of_start = if let Start::Named(tool) = start { Some(tool) } else { None };
    match own.or(of_start) {
        // The start has been checked already.
        _ if own.is_none() && start != Start::Unknown && call.is_result_known => None,
        None if !call.is_tool_known => Some("a tool that has no name".to_owned()),
        Some(tool) if own.is_some() && !call.is_tool_known => {
            Some(format!("the tool {}", shown(tool)))
        }
        Some(tool) if !call.is_result_known => {
            Some(format!("this kind of result of the tool {}", shown(tool)))
        }
        None | Some(_) => None,
    }
}

/// Counts a name; true if it is new and within the bound.
fn count(names: &mut BTreeMap<String, u64>, name: &str, has_overflowed: &mut bool) -> bool {
    let name = clipped(name, CALL_ID_BYTES_MAX);
    if let Some(count) = names.get_mut(name.as_ref()) {
        *count += 1;
        return false;
    }
    let has_room = names.len() < NAMES_MAX;
    if has_room {
        names.insert(name.into_owned(), 1);
    }
    *has_overflowed |= !has_room;
    has_room
}
