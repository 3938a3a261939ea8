//! What sub-agents did, by the call that started each.

use std::collections::BTreeMap;

use super::DETAIL_CHARS_MAX;
use crate::check::stats::SubAgentStats;
use crate::check::{EventCall, EventKind, MessageUsage};
use crate::limits::NAMES_MAX;
use crate::profile::CallKind;

#[derive(Debug, Default)]
pub(super) struct SubAgents {
    /// By the number of the call.
    of: BTreeMap<u64, SubAgentStats>,
}

impl SubAgents {
    pub(super) fn observe(&mut self, event: &EventKind<'_>, line: u64) {
        match event {
            EventKind::CallStarted(call) => self.call(call, line),
            EventKind::MessageUsage(message) => self.message(message),
            _ => {}
        }
    }

    fn call(&mut self, call: &EventCall<'_>, line: u64) {
        if let Some(parent) = call.parent.and_then(|parent| self.of.get_mut(&parent)) {
            parent.calls += 1;
        }
        if call.kind == Some(CallKind::Task) && self.of.len() < NAMES_MAX {
            let detail = call.detail.as_deref();
            let stats = SubAgentStats {
                id: call.id.to_string(),
                tool: call.tool.as_deref().map(str::to_owned),
                detail: detail.map(|it| it.chars().take(DETAIL_CHARS_MAX).collect()),
                started_line: line,
                ..SubAgentStats::default()
            };
            self.of.insert(call.number, stats);
        }
    }

    pub(super) fn message(&mut self, message: &MessageUsage) {
        let parent = message.parent.and_then(|parent| self.of.get_mut(&parent));
        let Some(stats) = parent else { return };
        if message.model.is_some() {
            stats.model.clone_from(&message.model);
        }
        if let Some(tokens) = message.usage.tokens_in() {
            let known = stats.input_tokens.unwrap_or_default();
            stats.input_tokens = Some(known.saturating_add(tokens));
        }
    }

    /// Those that the stream shows at work, in the order of their calls.
    pub(super) fn finish(&mut self) -> Vec<SubAgentStats> {
        let all = std::mem::take(&mut self.of).into_values();
        all.filter(|it| it.calls > 0 || it.input_tokens.is_some()).collect()
    }
}
