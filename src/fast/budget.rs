//! Whether learning pays: it does not in a stream where nothing repeats.

/// Tries without a use of what they learned, before tries become rare.
const LEARNED_MAX: u32 = 64;

/// How rare: one in so many.
const LEARNED_EVERY: u32 = 256;

/// A budget for learning: each try costs, each use refills it.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    passed: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: LEARNED_MAX, passed: 0 }
    }
}

impl Budget {
    /// Something that was learned was of use.
    #[inline]
    pub(super) fn refill(&mut self) {
        self.left = LEARNED_MAX;
    }

    /// Whether [`Budget::spend`] says yes next.
    pub(super) fn is_left(&self) -> bool {
        self.left > 0
    }

    /// Whether to learn once more; when the budget is used up, only now and then.
    pub(super) fn spend(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        self.passed = (self.passed + 1) % LEARNED_EVERY;
        self.passed == 0
    }
}
