//! What is kept of a call that has ended.

/// A call that has ended: the line of its completion times two, plus one unless its start is still
/// missing. In one word, because tens of thousands are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedCall(u64);

impl EndedCall {
    pub(super) fn new(line: u64, started: bool) -> Self {
        Self(line << 1 | u64::from(started))
    }

    pub(super) fn line(self) -> u64 {
        self.0 >> 1
    }

    pub(super) fn is_started(self) -> bool {
        self.0 & 1 == 1
    }
}
