//! Calls of which an event says how they ended, whatever their completions say.

use super::reader::{Rare, call_id};
use super::tag_rules::{TagRules, holding};
use super::{Call, ToolKey};
use crate::json::JsonRef;
use crate::profile::path::{Path, Scope};
use crate::profile::{Profile, WithoutStart};

pub(super) fn corrections<'e>(
    profile: &Profile,
    rules: &TagRules,
    root: JsonRef<'e>,
    rare: &mut Rare<'e>,
) {
    for rule in holding(&rules.corrections, &profile.calls.corrections, root) {
        let calls = rule.of.objects(root).filter_map(|scope| corrected(scope, &rule.id));
        let corrected: Vec<_> = calls.map(|call| (call, rule.outcome)).collect();
        if !corrected.is_empty() {
            rare.get_or_insert_default().corrected.extend(corrected);
        }
    }
}

/// A call that an event names by its id only.
fn corrected<'e>(scope: Scope<'e>, id: &[Path]) -> Option<Call<'e>> {
    Some(Call {
        id: call_id(scope, id)?,
        is_in_order: false,
        tool: None,
        tool_key: ToolKey::NoPlace,
        is_tool_known: true,
        is_result_known: true,
        may_repeat: false,
        only_repeats: false,
        same: None,
        without_start: WithoutStart::Ignore,
        is_contradictory: false,
        scope,
        must_match: Vec::new(),
    })
}
