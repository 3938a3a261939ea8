//! Stage: does the profile know the event and the tool? What it does not is drift, counted.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::rules::diagnostic::Diagnostic;
use crate::facts::{Call, CallId, Fact, Facts, Standing, Subject};
use crate::limits::{CALL_ID_BYTES_MAX, NAMES_MAX};
use crate::rules::Rule;
use crate::rules::escape::{clipped, shown};

/// Notices events and tools that the profile does not know, each name once.
#[derive(Debug, Default)]
pub struct Vocabulary {
    events: BTreeMap<String, u64>,
    undocumented: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
    /// The tag that was counted last, of those that need no more than that.
    latest: Option<Rc<str>>,
    overflow: bool,
}

impl Vocabulary {
    /// Takes an event into account. `valid` says whether it satisfies the schema: one that does
    /// not has been reported already. `started` finds the start of a call that is
    /// open.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other facts are for others")]
    pub fn observe<'c>(
        &mut self,
        facts: &Facts<'_>,
        valid: bool,
        started: impl Fn(&CallId) -> Option<Started<'c>>,
        found: &mut Vec<Diagnostic>,
    ) {
        let at = |diagnostic: Diagnostic| diagnostic.at(facts.line, facts.offset);
        match facts.standing {
            Standing::Unknown
                if valid && count(&mut self.events, &facts.tag, &mut self.overflow) =>
            {
                let message = format!("the profile does not know the event {}", facts.named());
                found.push(at(Diagnostic::new(Rule::UnknownEvent, message)));
            }
            Standing::Observed
                if self.latest.as_ref().is_some_and(|it| Rc::ptr_eq(it, &facts.tag)) => {}
            Standing::Observed if self.is_new(&facts.tag) => {
                let message = format!("the event {} is not documented", facts.named());
                found.push(at(Diagnostic::new(Rule::UndocumentedEvent, message)));
            }
            Standing::Documented | Standing::Observed | Standing::Unknown => {}
        }
        let list = if facts.are_about(Subject::Call) { facts.list() } else { &[] };
        for fact in list {
            let (call, start) = match fact {
                // A completion that names its tool needs no start.
                Fact::CallCompleted(call, _) if call.tool.is_none() => (call, started(&call.id)),
                Fact::CallStarted(call) | Fact::CallCompleted(call, _) => (call, None),
                _ => continue,
            };
            if let Some(unknown) = unknown(call, start)
                && count(&mut self.tools, &unknown, &mut self.overflow)
            {
                let message = format!("the profile does not know {unknown}");
                found.push(at(Diagnostic::new(Rule::UnknownTool, message)));
            }
        }
    }

    /// Whether an undocumented tag occurs for the first time.
    fn is_new(&mut self, tag: &Rc<str>) -> bool {
        self.latest = Some(tag.clone());
        count(&mut self.undocumented, tag, &mut self.overflow)
    }

    /// Whether there were more names than are counted.
    pub fn overflowed(&self) -> bool {
        self.overflow
    }

    /// What occurred more than once although it was reported once: unknown events with their
    /// number, in the order of their names.
    pub fn repeated(&self) -> impl Iterator<Item = (&str, u64)> {
        self.events.iter().filter(|(_, count)| **count > 1).map(|(tag, &count)| (&**tag, count))
    }
}

/// The start of a call.
#[derive(Debug, Clone, Copy)]
pub struct Started<'c> {
    /// The tool that it names.
    pub tool: Option<&'c str>,
}

/// What the profile does not know of a call.
fn unknown(call: &Call<'_>, start: Option<Started<'_>>) -> Option<String> {
    let own = call.tool.as_deref();
    match own.or_else(|| start?.tool) {
        // What is unknown of the tool was said of the start.
        _ if own.is_none() && start.is_some() && call.result_known => None,
        None if !call.tool_known => Some("a tool that has no name".to_owned()),
        Some(tool) if own.is_some() && !call.tool_known => {
            Some(format!("the tool {}", shown(tool)))
        }
        Some(tool) if !call.result_known => {
            Some(format!("this kind of result of the tool {}", shown(tool)))
        }
        None | Some(_) => None,
    }
}

/// Counts a name; true if it is new and within the bound.
fn count(names: &mut BTreeMap<String, u64>, name: &str, overflow: &mut bool) -> bool {
    let name = clipped(name, CALL_ID_BYTES_MAX);
    if let Some(count) = names.get_mut(name.as_ref()) {
        *count += 1;
        return false;
    }
    let room = names.len() < NAMES_MAX;
    if room {
        names.insert(name.into_owned(), 1);
    }
    *overflow |= !room;
    room
}
