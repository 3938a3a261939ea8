//! Calls that have ended, as the agent may say later that one of them was refused.

use std::collections::VecDeque;

use super::{CallChange, CallUpdate};
use crate::limits::CALL_ROWS_MAX;

/// What is kept of the latest calls that have ended.
#[derive(Debug)]
pub(crate) struct EndedCalls<T> {
    calls: VecDeque<(Box<str>, T)>,
}

impl<T> Default for EndedCalls<T> {
    fn default() -> Self {
        Self { calls: VecDeque::new() }
    }
}

impl<T> EndedCalls<T> {
    /// Adds a call that this update ends, unless this agent never reports a refusal so late.
    pub(crate) fn add(&mut self, update: &CallUpdate<'_>, call: T) {
        if matches!(update.change, CallChange::Completed(_)) && update.has_refusals() {
            if self.calls.len() == CALL_ROWS_MAX {
                self.calls.pop_front();
            }
            self.calls.push_back((update.id().into(), call));
        }
    }

    /// The call that an update is about; the latest of those with its id.
    pub(crate) fn get(&mut self, update: &CallUpdate<'_>) -> Option<&mut T> {
        let mut calls = self.calls.iter_mut().rev();
        calls.find(|(id, _)| **id == *update.id()).map(|(_, call)| call)
    }
}
