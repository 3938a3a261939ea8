//! Events to plans, as one profile says.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::plan::{Nodes, Plan, Step, Steps};
use super::{Call, CallId, Fact, Facts, Last, Standing, Usage};
use crate::event::{Event, Node};
use crate::path::Path;
use crate::profile::{CallOutcome, Calls, Profile, TerminalPolicy};

/// Reads facts out of events, as one profile says.
#[derive(Debug)]
pub struct Reader<'p> {
    profile: &'p Profile,
}

impl<'p> Reader<'p> {
    /// Reads by this profile.
    pub fn new(profile: &'p Profile) -> Self {
        Self { profile }
    }

    /// What the event means.
    pub fn facts<'e>(&self, event: &'e Event<'_>) -> Facts<'e> {
        self.plan(event.root()).facts(event.line, event.offset)
    }

    /// Which facts an event tells, and where their values stand.
    pub fn plan<'e>(&self, root: Node<'e>) -> Plan<'e> {
        let mut steps = Steps::new();
        self.session(root, &mut steps);
        let complete = self.calls(root, &mut steps) & self.text(root, &mut steps);
        if self.profile.boundaries.iter().any(|rule| rule.when.hold(root)) {
            steps.push(Step::Boundary);
        }
        let end = self.end(root);
        let tag = self.tag(root);
        let standing = if end.is_some() { Standing::Documented } else { self.standing(&tag) };
        if let Some(end) = end {
            steps.push(Step::Ready(match self.profile.terminal.policy {
                TerminalPolicy::Required => Fact::Terminal(Box::new(end)),
                TerminalPolicy::None => Fact::Outcome(Box::new(end)),
            }));
        }
        Plan { tag, standing, incomplete: !complete, steps }
    }

    fn tag<'e>(&self, root: Node<'e>) -> Cow<'e, str> {
        let mut parts = self.profile.tag.iter().map_while(|path| path.find(root)?.as_str());
        let mut tag = parts.next().map(part).unwrap_or_default();
        for next in parts {
            let _ = write!(tag.to_mut(), "/{}", part(next));
        }
        tag
    }

    fn standing(&self, tag: &str) -> Standing {
        let known = |tags: &[String]| tags.iter().any(|known| known == tag);
        if known(&self.profile.events.documented) {
            Standing::Documented
        } else if known(&self.profile.events.observed) {
            Standing::Observed
        } else {
            Standing::Unknown
        }
    }

    fn session<'e>(&self, root: Node<'e>, steps: &mut Steps<'e>) {
        let session = &self.profile.session;
        if session.start.iter().any(|rule| rule.when.hold(root)) {
            steps.push(Step::SessionStart);
            let directory = session.directory.as_ref().and_then(|path| path.find(root)?.as_str());
            steps.extend(directory.map(|it| Step::Ready(Fact::Directory(it))));
        }
        let id = session.id.as_ref().and_then(|path| path.find(root));
        // Looked at: within a session it is the same in every line.
        steps.extend(id.and_then(Node::as_str).map(Step::Session));
        let time = self.profile.time.as_ref().and_then(|path| path.find(root));
        steps.extend(time.filter(|it| it.is_number()).map(Step::Time));
    }

    /// False if the event is half of a call and has no id.
    fn calls<'e>(&self, root: Node<'e>, steps: &mut Steps<'e>) -> bool {
        let calls = &self.profile.calls;
        let mut complete = true;
        for rule in calls.start.iter().filter(|rule| rule.when.hold(root)) {
            for object in rule.of.objects(root) {
                let call = self.call(object, &rule.id);
                complete &= call.is_some();
                steps.extend(call.map(|it| Step::Ready(Fact::CallStarted(Box::new(it)))));
            }
        }
        for rule in calls.completion.iter().filter(|rule| rule.when.hold(root)) {
            for object in rule.of.objects(root) {
                let outcome = rule.outcomes.iter().find(|rule| rule.when.hold(object));
                let call = self.call(object, &rule.id);
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

    fn call<'e>(&self, root: Node<'e>, id: &[Path]) -> Option<Call<'e>> {
        let calls = &self.profile.calls;
        let (tool, known) = tool(calls, root).unzip();
        Some(Call {
            id: call_id(root, id)?,
            tool,
            tool_known: known.unwrap_or(calls.tool.is_empty()),
            result_known: true,
            same: calls.same.iter().map(|path| path.find(root)).collect(),
        })
    }

    /// False if the event is to carry text and part of it is not there.
    fn text<'e>(&self, root: Node<'e>, steps: &mut Steps<'e>) -> bool {
        let Some(rule) = self.profile.text.iter().find(|rule| rule.when.hold(root)) else {
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

    fn end(&self, root: Node<'_>) -> Option<Last> {
        let terminal = &self.profile.terminal;
        let rule = terminal.rules.iter().find(|rule| rule.when.hold(root))?;
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
}

/// A part of a tag, with its slashes told from those between parts.
fn part(part: Cow<'_, str>) -> Cow<'_, str> {
    if part.contains(['/', '~']) {
        Cow::Owned(part.replace('~', "~0").replace('/', "~1"))
    } else {
        part
    }
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
