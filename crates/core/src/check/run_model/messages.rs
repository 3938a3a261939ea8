//! What the messages of the model used: each is reported once, when it is complete.

use std::collections::VecDeque;

use crate::check::event::MessageUsage;
use crate::facts::{Usage, UsageUpdate};
use crate::limits::{MESSAGES_OPEN_MAX, MESSAGES_REPORTED_MAX};

/// The messages that several events are about.
#[derive(Debug, Default)]
pub(super) struct MessageTable {
    /// One of each agent: the main one, and those at work for it.
    open: Vec<OpenMessage>,
    /// The ids of those that were reported.
    reported: VecDeque<String>,
}

#[derive(Debug)]
struct OpenMessage {
    /// The agent's id of the call inside which it comes, and the number of that call.
    parent: (Option<String>, Option<u64>),
    id: String,
    model: Option<String>,
    usage: Usage,
}

impl MessageTable {
    /// Takes what an event says; returns the message that is complete now.
    pub(super) fn take(&mut self, update: UsageUpdate, call: Option<u64>) -> Option<MessageUsage> {
        let UsageUpdate { message, parent, is_whole, model, usage } = update;
        if is_whole {
            let is_inner = parent.is_some();
            return Some(MessageUsage { message, parent: call, model, usage, is_inner });
        }
        let open = self.open.iter_mut().position(|open| open.parent.0 == parent);
        let same = |at: &usize| message.as_ref().is_none_or(|id| *id == self.open[*at].id);
        if let Some(at) = open.filter(same) {
            let open = &mut self.open[at];
            open.usage = open.usage.or_newer(usage);
            open.model = model.or(open.model.take());
            return None;
        }
        let id = message.filter(|id| !self.reported.contains(id))?;
        let last = open.or((self.open.len() == MESSAGES_OPEN_MAX).then_some(0));
        let ended = last.map(|at| self.open.remove(at)).map(|ended| self.report(ended));
        self.open.push(OpenMessage { parent: (parent, call), id, model, usage });
        ended
    }

    pub(super) fn end(&mut self) -> Vec<MessageUsage> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|ended| self.report(ended)).collect()
    }

    fn report(&mut self, ended: OpenMessage) -> MessageUsage {
        let OpenMessage { parent: (inside, parent), id, model, usage } = ended;
        if self.reported.len() == MESSAGES_REPORTED_MAX {
            self.reported.pop_front();
        }
        self.reported.push_back(id.clone());
        MessageUsage { message: Some(id), parent, model, usage, is_inner: inside.is_some() }
    }
}
