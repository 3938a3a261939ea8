//! Stage: events and tools that the profile does not know, each name once, counted.

use super::unknown_names::UnknownNames;
use crate::check::{Bound, Note, UnknownKind, UnknownName};
use crate::facts::{Call, Facts, TagStatus};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::shown;

#[derive(Debug, Default)]
pub(crate) struct Drift {
    events: UnknownNames,
    /// Of events that fail the schema, which is reported already.
    invalid_events: UnknownNames,
    notices: UnknownNames,
    undocumented: UnknownNames,
    tools: UnknownNames,
    results: UnknownNames,
    values: UnknownNames,
    /// The undocumented tag that was counted last.
    latest: String,
}

impl Drift {
    /// An event that fails the schema has been reported already.
    #[inline]
    pub(crate) fn event(&mut self, facts: &Facts<'_>, is_valid: bool, found: &mut Vec<Diagnostic>) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        match facts.tag_status {
            TagStatus::Unknown | TagStatus::Notice if !is_valid => {
                self.invalid_events.count("", facts.tag, facts.line);
            }
            TagStatus::Notice => {
                self.notices.count("", facts.tag, facts.line);
            }
            TagStatus::Unknown => {
                if self.events.count("", facts.tag, facts.line) {
                    let message = format!("the profile does not know the event {}", facts.name());
                    found.push(at(Diagnostic::new(Rule::UnknownEvent, message)));
                }
            }
            TagStatus::Observed if self.latest == facts.tag => {}
            TagStatus::Observed if self.is_new(facts) => {
                let message = format!("the event {} is not documented", facts.name());
                found.push(at(Diagnostic::new(Rule::UndocumentedEvent, message)));
            }
            TagStatus::Documented | TagStatus::Observed => {}
        }
    }

    /// `started_tool` says what the start of a call that this event completes names.
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
            let Some((kind, tool)) = unknown(call, start) else { continue };
            let is_result = kind == UnknownKind::Result;
            let names = if is_result { &mut self.results } else { &mut self.tools };
            if names.count("", tool, facts.line) {
                let what = match kind {
                    UnknownKind::Result => {
                        format!("this kind of result of the tool {}", shown(tool))
                    }
                    _ if tool.is_empty() => "a tool that has no name".to_owned(),
                    _ => format!("the tool {}", shown(tool)),
                };
                let message = format!("the profile does not know {what}");
                let diagnostic = Diagnostic::new(Rule::UnknownTool, message);
                found.push(diagnostic.at(facts.line, facts.offset));
            }
        }
    }

    /// Values outside the sets that the agent documents.
    pub(crate) fn values(&mut self, facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
        for (path, text) in facts.rare.iter().flat_map(|rare| &rare.unknown_values) {
            if self.values.count(path, text, facts.line) {
                let message =
                    format!("the profile does not know the value {} of {path}", shown(text));
                let diagnostic = Diagnostic::new(Rule::UnknownValue, message);
                found.push(diagnostic.at(facts.line, facts.offset));
            }
        }
    }

    /// Whether an undocumented tag comes for the first time.
    fn is_new(&mut self, facts: &Facts<'_>) -> bool {
        facts.tag.clone_into(&mut self.latest);
        self.undocumented.count("", facts.tag, facts.line)
    }

    /// Unknown events that came more than once, in the order of their names.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let repeated = self.events.list(UnknownKind::Event).filter(|event| event.count > 1);
        let mut notes: Vec<Note> = repeated
            .map(|event| Note::UnknownEventRepeated { tag: event.name, count: event.count })
            .collect();
        let events = [&self.events, &self.notices, &self.undocumented];
        let mut lists = events.into_iter().chain([&self.tools, &self.results, &self.values]);
        let has_overflowed = lists.any(|names| names.has_overflowed);
        notes.extend(has_overflowed.then_some(Note::LimitReached(Bound::Names)));
        notes
    }

    pub(crate) fn list(&self) -> Vec<UnknownName> {
        let events = [&self.events, &self.invalid_events, &self.notices];
        let lists = events.map(|names| (names, UnknownKind::Event)).into_iter().chain([
            (&self.tools, UnknownKind::Tool),
            (&self.results, UnknownKind::Result),
            (&self.values, UnknownKind::Value),
        ]);
        lists.flat_map(|(names, kind)| names.list(kind)).collect()
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

/// What the profile does not know about a call: its tool, without a name or with one, or the kind
/// of its result.
fn unknown<'n>(call: &'n Call<'_>, start: Start<'n>) -> Option<(UnknownKind, &'n str)> {
    let own = call.tool.as_deref();
    let of_start = if let Start::Named(tool) = start { Some(tool) } else { None };
    match own.or(of_start) {
        // The start has been checked already.
        _ if own.is_none() && start != Start::Unknown && call.is_result_known => None,
        None if !call.is_tool_known => Some((UnknownKind::Tool, "")),
        Some(tool) if own.is_some() && !call.is_tool_known => Some((UnknownKind::Tool, tool)),
        Some(tool) if !call.is_result_known => Some((UnknownKind::Result, tool)),
        None | Some(_) => None,
    }
}
