//! Many spans of time as a bounded number of blocks.

use super::clock::Moment;

const PAGE_BLOCKS_MAX: usize = 1_000;

/// Spans that are too many to be drawn one by one. Neighbours share a block; if there are too many
/// blocks, each two become one.
#[derive(Debug)]
pub(super) struct Blocks {
    blocks: Vec<TimeBlock>,
    /// Spans of one block.
    capacity: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct TimeBlock {
    pub(super) start: Moment,
    pub(super) end: Moment,
    count: u64,
    /// The number of the entry of the first span.
    pub(super) entry: u64,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { blocks: Vec::new(), capacity: 1 }
    }
}

impl Blocks {
    pub(super) fn add(&mut self, start: Moment, end: Moment, entry: u64) {
        if let Some(last) = self.blocks.last_mut().filter(|last| last.count < self.capacity) {
            (last.end, last.count) = (end, last.count + 1);
            return;
        }
        if self.blocks.len() == PAGE_BLOCKS_MAX {
            self.capacity *= 2;
            let pairs = self.blocks.chunks(2).map(|pair| {
                let (first, last) = (pair[0], pair[pair.len() - 1]);
                let count = pair.iter().map(|block| block.count).sum();
                TimeBlock { end: last.end, count, ..first }
            });
            self.blocks = pairs.collect();
        }
        self.blocks.push(TimeBlock { start, end, count: 1, entry });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(super) fn count(&self) -> u64 {
        self.blocks.iter().map(|block| block.count).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &TimeBlock> {
        self.blocks.iter()
    }
}
