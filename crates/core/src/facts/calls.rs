//! The halves of tool calls in an event.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::reader::Rare;
use super::tag_rules::TagRules;
use super::{BoundedId, Call, ToolKey};
use crate::json::JsonRef;
use crate::profile::path::{Finder, Path, Scope};
use crate::profile::{CallOutcome, CallRule, Profile, ToolName};

/// False if the event is half of a call and has no id.
pub(super) fn calls<'e>(
    profile: &Profile,
    rules: &TagRules,
    root: JsonRef<'e>,
    rare: &mut Rare<'e>,
) -> bool {
    let mut is_complete = true;
    for rule in rules.call_start(profile, root) {
        for scope in rule.of.objects(root) {
            match call(profile, &mut Finder::new(scope), rule) {
                Some(call) => rare.get_or_insert_default().started.push(call),
                None => is_complete = false,
            }
        }
    }
    for rule in rules.completion(profile, root) {
        for scope in rule.of.objects(root) {
            match completed(profile, &mut Finder::new(scope), rule) {
                Some(completed) => rare.get_or_insert_default().completed.push(completed),
                None => is_complete = false,
            }
        }
    }
    is_complete
}

fn completed<'p, 'e>(
    profile: &'p Profile,
    finder: &mut Finder<'p, 'e>,
    rule: &'p CallRule,
) -> Option<(Call<'e>, CallOutcome)> {
    let call = call(profile, finder, rule);
    // Read also without an id: what rules read, redaction keeps.
    let outcome = rule.outcomes.iter().find(|rule| rule.when.hold_by(finder));
    let call = Call {
        is_result_known: outcome.is_some(),
        is_contradictory: outcome.is_some_and(|rule| rule.is_contradictory),
        hides_exit_status: outcome.is_some_and(|rule| rule.hides_exit_status),
        still_runs: outcome.is_some_and(|rule| rule.still_runs),
        ..call?
    };
    Some((call, outcome.map_or(CallOutcome::Unknown, |rule| rule.outcome)))
}

fn call<'p, 'e>(
    profile: &'p Profile,
    finder: &mut Finder<'p, 'e>,
    rule: &'p CallRule,
) -> Option<Call<'e>> {
    let scope = finder.scope();
    let names = rule.tool.as_ref().unwrap_or(&profile.calls.tool);
    let (tool, tool_key) = tool(names, finder);
    let (tool, is_known) = tool.unzip();
    Some(Call {
        id: call_id(scope, &rule.id)?,
        rules: rule.half,
        tool,
        tool_key,
        is_tool_known: is_known.unwrap_or(names.is_empty() || rule.half.only_repeats),
        is_result_known: true,
        same: rule.same.as_ref().and_then(|path| call_id(scope, std::slice::from_ref(path))),
        is_contradictory: false,
        hides_exit_status: false,
        still_runs: false,
        scope,
        must_match: profile.calls.must_match.iter().map(|path| finder.find(path)).collect(),
    })
}

/// The tool's name, and whether the profile knows it.
type KnownTool<'e> = Option<(Cow<'e, str>, bool)>;

/// The tool, and whether a key names it.
pub(super) fn tool<'p, 'e>(
    names: &'p [ToolName],
    finder: &mut Finder<'p, 'e>,
) -> (KnownTool<'e>, ToolKey) {
    let (mut tool, mut tool_key) = (None, ToolKey::NoPlace);
    for rule in names {
        let key = rule.key.as_ref().and_then(|path| finder.find_key(path));
        tool_key = tool_key.max(match &rule.key {
            Some(_) if key.is_some() => ToolKey::Found,
            Some(path) if path.has_parent(finder.scope()) => ToolKey::Missing,
            Some(_) | None => ToolKey::NoPlace,
        });
        if tool.is_some() {
            continue;
        }
        let value = || rule.value.as_ref()?.find(finder.scope())?.as_str();
        let fixed = || rule.name.clone().map(Cow::Owned);
        let name = key.or_else(value).or_else(fixed).filter(|name| !name.is_empty());
        tool = name.map(|name| {
            let known = rule.known.as_ref();
            let is_known = known.is_none_or(|known| known.iter().any(|known| *known == name));
            (name, is_known)
        });
    }
    (tool, tool_key)
}

/// The id of a call: its parts, which all must be there.
pub(super) fn call_id(scope: Scope<'_>, paths: &[Path]) -> Option<BoundedId> {
    let parts = paths.iter().map(|path| path.find(scope)?.scalar_text());
    parts.collect::<Option<SmallVec<[_; 2]>>>().map(|parts| BoundedId::new(&parts))
}
