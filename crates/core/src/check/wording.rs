//! How a tool call is described to people: the profile's words for each of its tools.

use std::sync::Arc;

use super::EventCall;
use crate::profile::Profile;

/// The words of one agent's tools.
#[derive(Debug, Clone)]
pub struct Wordings(Arc<Profile>);

/// What a line about a call begins with, before the path or the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wording<'a> {
    /// For a call that succeeded: `Read file`.
    pub done: Option<&'a str>,
    /// For a call that was carried out and failed: `Ran terminal command`.
    pub failed: Option<&'a str>,
    /// For a call that was not carried out: `read file`.
    pub attempt: Option<&'a str>,
    /// Whether the completion of such a call may have
    /// [`numbers`](super::CompletedCall::numbers).
    pub may_have_numbers: bool,
}

impl Wordings {
    pub(super) fn new(profile: &Arc<Profile>) -> Self {
        Self(Arc::clone(profile))
    }

    /// The words for a call; none for a tool that the profile does not know.
    pub fn get(&self, call: &EventCall<'_>) -> Option<Wording<'_>> {
        let rule = self.0.calls.actions.rule(call.rule?);
        Some(Wording {
            done: rule.done.as_deref(),
            failed: rule.failed.as_deref(),
            attempt: rule.attempt.as_deref(),
            may_have_numbers: !rule.suffix.is_empty(),
        })
    }
}
