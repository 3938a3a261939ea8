//! Whether learning pays: it does not in a stream where nothing comes again.

use crate::limits::{LEARNED_EVERY, LEARNED_MAX};

/// Credit for learning: each try costs, each success gives it back.
#[derive(Debug)]
pub(crate) struct Credit {
    left: u32,
    passed: u32,
}

impl Default for Credit {
    fn default() -> Self {
        Self { left: LEARNED_MAX, passed: 0 }
    }
}

impl Credit {
    /// Something that was learned was of use.
    #[inline]
    pub(crate) fn restore(&mut self) {
        self.left = LEARNED_MAX;
    }

    /// Whether nothing that was learned has been of use for long.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Whether to learn once more; without credit now and then only.
    pub(crate) fn spend(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        self.passed = (self.passed + 1) % LEARNED_EVERY;
        self.passed == 0
    }
}
