//! Passes bytes to a hasher whose result depends on how they are cut.

use std::hash::Hasher;

const BLOCK: usize = 256;

/// Passes bytes to a hasher in blocks of the same size, however they arrive.
pub(super) struct Blocks<'h, H> {
    hasher: &'h mut H,
    block: [u8; BLOCK],
    filled: usize,
    length: usize,
}

impl<'h, H: Hasher> Blocks<'h, H> {
    pub(super) fn new(hasher: &'h mut H) -> Self {
        Self { hasher, block: [0; BLOCK], filled: 0, length: 0 }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len();
        while !bytes.is_empty() {
            if self.filled == 0
                && let Some((block, rest)) = bytes.split_first_chunk::<BLOCK>()
            {
                self.hasher.write(block);
                bytes = rest;
                continue;
            }
            let room = &mut self.block[self.filled..];
            let (part, rest) = bytes.split_at(bytes.len().min(room.len()));
            room[..part.len()].copy_from_slice(part);
            self.filled += part.len();
            bytes = rest;
            if self.filled == self.block.len() {
                self.hasher.write(&self.block);
                self.filled = 0;
            }
        }
    }

    /// Passes on the remaining bytes and the total length.
    pub(super) fn finish(self) {
        self.hasher.write(&self.block[..self.filled]);
        self.hasher.write_usize(self.length);
    }
}
