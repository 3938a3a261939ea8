//! Events to plans, as one profile says.

use std::borrow::Cow;

use super::candidates::{Candidate, Candidates, Memory};
use super::plan::{Nodes, Plan, Step, Steps};
use super::{Call, CallId, Fact, Last, Standing, Usage};
use crate::event::Node;
use crate::path::{Finder, Path};
use crate::profile::{CallOutcome, Calls, Profile, Session, Terminal, TerminalPolicy};

/// Reads facts out of events, as one profile says.
#[derive(Debug)]
pub struct Reader<'p> {
    profile: &'p Profile,
    memory: Memory<'p>,
}

impl<'p> Reader<'p> {
    /// Reads by this profile.
    pub fn new(profile: &'p Profile) -> Self {
        Self { profile, memory: Memory::new(profile) }
    }

    /// Which facts an event tells, and where their values stand.
    pub fn plan<'e>(&mut self, root: Node<'e>) -> Plan<'e> {
        let profile = self.profile;
        let rules = self.memory.candidates(root);
        let mut steps = Steps::new();
        let session = session(&profile.session, rules, root, &mut steps);
        let time = profile.time.as_ref().and_then(|path| path.find(root));
        let calls = calls(&profile.calls, rules, root, &mut steps);
        let complete = calls & text(rules, root, &mut steps);
        if rules.boundaries.iter().any(|when| when.hold(root)) {
            steps.push(Step::Boundary);
        }
        let end = end(&profile.terminal, rules, root);
        let standing = if end.is_some() { Standing::Documented } else { rules.standing };
        steps.extend(end.map(|end| {
            Step::Ready(match profile.terminal.policy {
                TerminalPolicy::Required => Fact::Terminal(Box::new(end)),
                TerminalPolicy::None => Fact::Outcome(Box::new(end)),
            })
        }));
        Plan {
            tag: rules.tag.clone(),
            standing,
            incomplete: !complete,
            session,
            time: time.filter(|it| it.is_number()),
            steps,
        }
    }
}

/// The session's id, if the event names it.
fn session<'e>(
    session: &Session,
    rules: &Candidates<'_>,
    root: Node<'e>,
    steps: &mut Steps<'e>,
) -> Option<Cow<'e, str>> {
    if rules.session_start.iter().any(|when| when.hold(root)) {
        steps.push(Step::SessionStart);
        let directory = session.directory.as_ref().and_then(|path| path.find(root)?.as_str());
        steps.extend(directory.map(|it| Step::Ready(Fact::Directory(it))));
    }
    session.id.as_ref().and_then(|path| path.find(root)?.as_str())
}

/// False if the event is half of a call and has no id.
fn calls<'e>(calls: &Calls, rules: &Candidates<'_>, root: Node<'e>, steps: &mut Steps<'e>) -> bool {
    let mut complete = true;
    for Candidate { rule, .. } in rules.call_start.iter().filter(|it| it.when.hold(root)) {
        for object in rule.of.objects(root) {
            let call = call(calls, object, &rule.id);
            complete &= call.is_some();
            steps.extend(call.map(|it| Step::Ready(Fact::CallStarted(Box::new(it)))));
        }
    }
    for Candidate { rule, .. } in rules.completion.iter().filter(|it| it.when.hold(root)) {
        for object in rule.of.objects(root) {
            let mut finder = Finder::new(object);
            let outcome = rule.outcomes.iter().find(|rule| rule.when.hold_by(&mut finder));
            let call = call(calls, object, &rule.id);
            complete &= call.is_some();
            if let Some(mut call) = call {
                call.result_known = outcome.is_some();
                let outcome = outcome.map_or(CallOutcome::Unknown, |rule| rule.outcome);
                steps.push(Step::Ready(Fact::CallCompleted(Box::new(call), outcome)));
            }
        }
    }
    complete
}

fn call<'e>(calls: &Calls, root: Node<'e>, id: &[Path]) -> Option<Call<'e>> {
    let (tool, known) = tool(calls, root).unzip();
    let mut finder = Finder::new(root);
    Some(Call {
        id: call_id(root, id)?,
        tool,
        tool_known: known.unwrap_or(calls.tool.is_empty()),
        result_known: true,
        same: calls.same.iter().map(|path| finder.find(path)).collect(),
    })
}

/// False if the event is to carry text and part of it is not there.
fn text<'e>(rules: &Candidates<'_>, root: Node<'e>, steps: &mut Steps<'e>) -> bool {
    let Some(Candidate { rule, .. }) = rules.text.iter().find(|it| it.when.hold(root)) else {
        return true;
    };
    let mut complete = rule.of.is_there(root);
    let mut pieces = Nodes::new();
    for object in rule.of.objects(root) {
        match rule.value.find(object).filter(|it| it.is_string()) {
            Some(piece) => pieces.push(piece),
            None => complete = false,
        }
    }
    steps.push(Step::Text { mode: rule.mode, pieces, complete });
    complete
}

fn end(terminal: &Terminal, rules: &Candidates<'_>, root: Node<'_>) -> Option<Last> {
    let rule = rules.terminal.iter().find(|it| it.when.hold(root))?.rule;
    let number = |path: &Option<Path>| path.as_ref()?.find(root)?.as_u64();
    Some(Last {
        outcome: rule.outcome,
        duration_ms: number(&terminal.duration_ms),
        usage: Usage {
            input_tokens: number(&terminal.usage.input_tokens),
            output_tokens: number(&terminal.usage.output_tokens),
            cache_read_tokens: number(&terminal.usage.cache_read_tokens),
            cache_write_tokens: number(&terminal.usage.cache_write_tokens),
        },
    })
}

/// The tool's name, and whether the profile knows it.
fn tool<'e>(calls: &Calls, root: Node<'e>) -> Option<(Cow<'e, str>, bool)> {
    calls.tool.iter().find_map(|rule| {
        let key = rule.key.as_ref().and_then(|path| path.find_key(root));
        let name = key.or_else(|| rule.value.as_ref()?.find(root)?.as_str())?;
        let known = rule.known.as_ref();
        let known = known.is_none_or(|known| known.iter().any(|known| *known == name));
        Some((name, known))
    })
}

/// The id of a call: its parts, which all must be there.
fn call_id(root: Node<'_>, paths: &[Path]) -> Option<CallId> {
    let parts = paths.iter().map(|path| path.find(root)?.scalar_text());
    parts.collect::<Option<Vec<_>>>().map(|parts| CallId::new(&parts))
}
