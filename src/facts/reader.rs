//! Events to plans, as one profile says.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::plan::{Nodes, Parts, Plan, Step, Steps};
use super::tag_rules::{Candidate, Candidates, Memory};
use super::{Call, CallId, Fact, Last, Standing, Usage};
use crate::profile::path::{Finder, Path, Scope};
use crate::profile::{
    CallCompletion, CallOutcome, CallRules, EndRules, ErrorSeverity, Objects, Profile, RunOutcome,
    SessionRules, TerminalOutcome, TerminalPolicy, TextMode, ToolName, WithoutStart,
};
use crate::stream::event::Node;

/// Reads facts out of events, as one profile says.
#[derive(Debug)]
pub struct Reader<'p> {
    profile: &'p Profile,
    memory: Memory<'p>,
    /// Whether texts come in groups; those that name none are then of one of their own.
    grouped: bool,
}

impl<'p> Reader<'p> {
    /// Reads by this profile.
    pub fn new(profile: &'p Profile) -> Self {
        let grouped = profile.text.rules.iter().any(|rule| !rule.group.is_empty());
        Self { profile, memory: Memory::new(profile), grouped }
    }

    /// Which facts an event tells, and where their values stand.
    pub fn plan<'e>(&mut self, root: Node<'e>) -> Plan<'e> {
        let profile = self.profile;
        let rules = self.memory.candidates(root);
        let mut steps = Steps::new();
        let session = session(&profile.session, rules, root, &mut steps);
        let time = profile.session.time.as_ref().and_then(|path| path.find(root));
        let calls = calls(&profile.calls, rules, root, &mut steps);
        let complete = calls & text(rules, self.grouped, root, &mut steps);
        if rules.boundaries.iter().any(|when| when.hold(root)) {
            steps.push(Step::Boundary);
        }
        course(rules, root, &mut steps);
        let end = end(&profile.end, rules, root);
        let standing = if end.is_some() { Standing::Documented } else { rules.standing };
        steps.extend(end.map(|end| {
            Step::Ready(match profile.end.policy {
                TerminalPolicy::Required | TerminalPolicy::Optional => {
                    Fact::Terminal(Box::new(end))
                }
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
    session: &SessionRules,
    rules: &Candidates<'_>,
    root: Node<'e>,
    steps: &mut Steps<'e>,
) -> Option<Cow<'e, str>> {
    if rules.session_start.iter().any(|when| when.hold(root)) {
        steps.push(Step::SessionStart);
        let directory = session.directory.as_ref().and_then(|path| path.find(root)?.as_str());
        steps.extend(directory.map(|it| Step::Ready(Fact::Directory(it))));
    }
    session.id.iter().find_map(|path| path.find(root))?.as_str()
}

/// False if the event is half of a call and has no id.
fn calls<'e>(
    calls: &CallRules,
    rules: &Candidates<'_>,
    root: Node<'e>,
    steps: &mut Steps<'e>,
) -> bool {
    let mut complete = true;
    for Candidate { rule, .. } in rules.call_start.iter().filter(|it| it.when.hold(root)) {
        for object in rule.of.objects(root) {
            let tool = rule.tool.as_ref().unwrap_or(&calls.tool);
            let call = call(calls, object, &rule.id, tool);
            complete &= call.is_some();
            let call = call.map(|it| Box::new(Call { repeat: rule.may_repeat, ..it }));
            steps.extend(call.map(|it| Step::Ready(Fact::CallStarted(it))));
        }
    }
    for Candidate { rule, .. } in rules.completion.iter().filter(|it| it.when.hold(root)) {
        for object in rule.of.objects(root) {
            let completed = completed(calls, object, rule);
            complete &= completed.is_some();
            steps.extend(completed.map(Step::Ready));
        }
    }
    complete
}

fn completed<'e>(calls: &CallRules, scope: Scope<'e>, rule: &CallCompletion) -> Option<Fact<'e>> {
    let mut finder = Finder::new(scope);
    let outcome = rule.outcomes.iter().find(|rule| rule.when.hold_by(&mut finder));
    let tool = rule.tool.as_ref().unwrap_or(&calls.tool);
    let call = Call {
        result_known: outcome.is_some(),
        repeat: rule.may_repeat,
        alone: rule.without_start,
        contradicts: outcome.is_some_and(|rule| rule.is_contradictory),
        ..call(calls, scope, &rule.id, tool)?
    };
    let outcome = outcome.map_or(CallOutcome::Unknown, |rule| rule.outcome);
    Some(Fact::CallCompleted(Box::new(call), outcome))
}

fn call<'e>(
    calls: &CallRules,
    scope: Scope<'e>,
    id: &[Path],
    names: &[ToolName],
) -> Option<Call<'e>> {
    let (tool, known) = tool(names, scope).unzip();
    let mut finder = Finder::new(scope);
    Some(Call {
        id: call_id(scope, id)?,
        tool,
        tool_known: known.unwrap_or(names.is_empty()),
        result_known: true,
        repeat: false,
        alone: WithoutStart::Error,
        contradicts: false,
        object: scope.object,
        same: calls.must_match.iter().map(|path| finder.find(path)).collect(),
    })
}

/// What the event says of the course of the run.
fn course<'e>(rules: &Candidates<'_>, root: Node<'e>, steps: &mut Steps<'e>) {
    let is_told = |of: &Objects| of.objects(root).next().is_some();
    let error = rules.errors.iter().find(|it| it.when.hold(root) && is_told(&it.rule.of));
    steps
        .extend(error.map(|it| {
            Step::Ready(Fact::Error { fatal: it.rule.severity == ErrorSeverity::Fatal })
        }));
    let verdict = rules.verdict.iter().find(|it| it.when.hold(root));
    steps.extend(verdict.map(|it| Step::Ready(Fact::Verdict(it.rule.outcome))));
    if rules.reopen.iter().any(|when| when.hold(root)) {
        steps.push(Step::Reopen);
    }
    if rules.after.iter().any(|when| when.hold(root)) {
        steps.push(Step::Epilogue);
    }
}

/// False if the event is to carry text and part of it is not there.
fn text<'e>(rules: &Candidates<'_>, grouped: bool, root: Node<'e>, steps: &mut Steps<'e>) -> bool {
    let Some(Candidate { rule, .. }) = rules.text.iter().find(|it| it.when.hold(root)) else {
        return true;
    };
    // Elements of an array may be of a group each.
    let apart = rule.of.are_elements() && rule.group.iter().any(|path| !path.is_of_event());
    let mut complete = rule.of.is_there(root);
    let mut pieces = Nodes::new();
    for object in rule.of.objects(root) {
        match rule.value.find(object).filter(|it| it.is_string()) {
            Some(piece) if apart => {
                let pieces = Nodes::from_iter([piece]);
                steps.push(Step::Group(key(&rule.group, object)));
                steps.push(Step::Text { mode: rule.mode, pieces, complete: true });
            }
            Some(piece) => pieces.push(piece),
            None => complete = false,
        }
    }
    if apart || pieces.is_empty() && complete && rule.of.is_among_others(root) {
        // Nothing is left in it, or nothing in it is text.
        return complete;
    }
    if grouped && rule.mode != TextMode::Final {
        steps.push(Step::Group(key(&rule.group, root.into())));
    }
    steps.push(Step::Text { mode: rule.mode, pieces, complete });
    complete
}

/// The values that name the group of a text.
fn key<'e>(group: &[Path], scope: Scope<'e>) -> Parts<'e> {
    let is_name = |it: &Node<'_>| it.is_string() || it.is_number();
    group.iter().map(|path| path.find(scope).filter(is_name)).collect()
}

fn end(terminal: &EndRules, rules: &Candidates<'_>, root: Node<'_>) -> Option<Last> {
    let rule = rules.terminal.iter().find(|it| it.when.hold(root))?.rule;
    let number = |path: &Option<Path>| path.as_ref()?.find(root)?.as_u64();
    Some(Last {
        outcome: match rule.outcome {
            TerminalOutcome::Failure => Some(RunOutcome::Failure),
            TerminalOutcome::Success => Some(RunOutcome::Success),
            TerminalOutcome::Neutral => None,
        },
        suspect: rule.suspect,
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
fn tool<'e>(names: &[ToolName], scope: Scope<'e>) -> Option<(Cow<'e, str>, bool)> {
    names.iter().find_map(|rule| {
        let key = rule.key.as_ref().and_then(|path| path.find_key(scope));
        let value = || rule.value.as_ref()?.find(scope)?.as_str();
        let itself = || rule.name.clone().map(Cow::Owned);
        let name = key.or_else(value).or_else(itself)?;
        let known = rule.known.as_ref();
        let known = known.is_none_or(|known| known.iter().any(|known| *known == name));
        Some((name, known))
    })
}

/// The id of a call: its parts, which all must be there.
fn call_id(scope: Scope<'_>, paths: &[Path]) -> Option<CallId> {
    let parts = paths.iter().map(|path| path.find(scope)?.scalar_text());
    parts.collect::<Option<SmallVec<[_; 2]>>>().map(|parts| CallId::new(&parts))
}
