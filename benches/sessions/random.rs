//! Numbers that look random and depend on nothing but a seed.

/// `SplitMix64` (Steele, Lea, Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits, such as a seed.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from `least` to `most`, both of them possible.
    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + (self.seed() >> 32) as usize % (most - least + 1)
    }

    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.between(1, times) == 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() - 1)]
    }

    /// A version 4 UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.seed(), self.seed());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 52,
            low & 0xffff_ffff_ffff
        )
    }
}
