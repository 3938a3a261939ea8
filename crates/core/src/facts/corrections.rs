//! Calls of which an event says how they ended, whatever their completions say.

use super::calls::{call_id, tool};
use super::reader::Rare;
use super::tag_rules::TagRules;
use super::{Call, ToolKey};
use crate::json::JsonRef;
use crate::profile::path::{Finder, Scope};
use crate::profile::{CallCorrection, HalfRules, Profile, WithoutStart};

pub(super) fn corrections<'e>(
    profile: &Profile,
    rules: &TagRules,
    root: JsonRef<'e>,
    rare: &mut Rare<'e>,
) {
    for rule in rules.corrections(profile, root) {
        let calls = rule.of.objects(root).filter_map(|scope| corrected(scope, rule));
        let corrected: Vec<_> = calls.map(|call| (call, rule.outcome)).collect();
        if !corrected.is_empty() {
            rare.get_or_insert_default().corrected.extend(corrected);
        }
    }
}

/// A call that an event names by its id, and perhaps by its tool.
fn corrected<'e>(scope: Scope<'e>, rule: &CallCorrection) -> Option<Call<'e>> {
    let (tool, _) = tool(&rule.tool, &mut Finder::new(scope));
    let without_start = if rule.is_call { WithoutStart::Call } else { WithoutStart::Ignore };
    Some(Call {
        id: call_id(scope, &rule.id)?,
        rules: HalfRules { may_repeat: true, without_start, ..HalfRules::default() },
        tool: tool.map(|(name, _)| name),
        tool_key: ToolKey::NoPlace,
        is_tool_known: true,
        is_result_known: true,
        same: None,
        is_contradictory: false,
        hides_exit_status: false,
        still_runs: false,
        scope,
        must_match: Vec::new(),
    })
}
