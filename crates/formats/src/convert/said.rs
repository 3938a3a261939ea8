//! What the agent has said, so that its answer is not written twice.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use ndjson_check_core::{Answer, EventKind};

/// Texts of one turn that are remembered.
const TEXTS_MAX: usize = 10_000;

/// The texts of a turn.
#[derive(Debug, Default)]
pub(super) struct Said {
    latest: Answer,
    /// Their hashes.
    texts: HashSet<u64>,
    state: RandomState,
}

impl Said {
    /// Takes the next event.
    pub(super) fn observe(&mut self, event: &EventKind<'_>) {
        self.latest.observe(event);
        match event {
            EventKind::Turn { .. } => self.texts.clear(),
            EventKind::Text(_) if self.texts.len() < TEXTS_MAX => {
                self.texts.insert(self.state.hash_one(self.latest.text().trim()));
            }
            _ => {}
        }
    }

    /// Whether an answer repeats a text, or ends with the latest one.
    pub(super) fn has(&self, answer: &str) -> bool {
        self.latest.repeats(answer) || self.texts.contains(&self.state.hash_one(answer.trim()))
    }
}
