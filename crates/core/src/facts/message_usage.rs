//! What one message of the model used.

use super::{Usage, details, whole_number};
use crate::json::JsonRef;
use crate::profile::path::{Path, Scope};
use crate::profile::{MessageUsageRule, Profile, UsageMode};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageUpdate {
    /// The agent's id of the message.
    pub(crate) message: Option<String>,
    /// The id of the call inside which a sub-agent's message comes.
    pub(crate) parent: Option<String>,
    /// Whether no other event is about the message.
    pub(crate) is_whole: bool,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
}

pub(super) fn read(profile: &Profile, root: JsonRef<'_>) -> Vec<UsageUpdate> {
    let rules = profile.message_usage.iter().filter(|rule| rule.when.hold(root));
    rules.filter_map(|rule| update(profile, rule, root.into())).collect()
}

fn update(profile: &Profile, rule: &MessageUsageRule, event: Scope<'_>) -> Option<UsageUpdate> {
    let mut usage = Usage::default();
    for (fact, value) in &rule.tokens {
        if let Some(count) = usage.member(*fact) {
            *count = value.number(event).and_then(whole_number);
        }
    }
    let text = |path: &Option<Path>| details::scalar(path.as_ref()?, event);
    // Agents write zeros where they know nothing.
    (!usage.is_zero()).then(|| UsageUpdate {
        message: text(&rule.message),
        parent: profile.calls.parent(event).map(|parent| details::short(&parent)),
        is_whole: rule.mode == UsageMode::Whole,
        model: text(&rule.model),
        usage,
    })
}
