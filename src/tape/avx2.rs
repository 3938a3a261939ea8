//! Blocks of 64 bytes at once, on processors that have AVX2: the only unsafe code of the program.
//!
//! Long strings, such as files in tool results, are most of the bytes of a stream with tools, and
//! this goes over them at twice the speed of the portable way, which is there for all other
//! processors and is held against this one by a test.
//!
//! What is unsafe is one call: a function that is compiled for AVX2 may run only where there is
//! AVX2, and that is asked before each call. Nothing here touches memory but through slices.

#![expect(unsafe_code, reason = "the one call that the processor's features must be known for")]

use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set_epi64x,
    _mm256_set1_epi8,
};

use super::scan::{Marks, StringEnd, string_end_by_blocks};

/// Whether the processor has what it takes.
#[inline]
pub(super) fn is_there() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// As the portable way; `None` also where the processor cannot do it, so ask [`is_there`].
#[inline]
pub(super) fn string_end(bytes: &[u8], start: usize) -> Option<StringEnd> {
    if !is_there() {
        return None;
    }
    // SAFETY: the processor has AVX2, it was asked a line above.
    unsafe { with_avx2(bytes, start) }
}

#[target_feature(enable = "avx2")]
fn with_avx2(bytes: &[u8], start: usize) -> Option<StringEnd> {
    string_end_by_blocks(bytes, start, |block| marks(block))
}

#[target_feature(enable = "avx2")]
#[inline]
fn marks(block: &[u8; 64]) -> Marks {
    let [low, high] = [half(block, 0), half(block, 4)];
    let both = |low: __m256i, high: __m256i| {
        let [low, high] = [low, high].map(|it| _mm256_movemask_epi8(it).cast_unsigned());
        u64::from(low) | u64::from(high) << 32
    };
    let equal = |byte: u8| {
        let byte = _mm256_set1_epi8(byte.cast_signed());
        both(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
    };
    let last_control = _mm256_set1_epi8(0x1f);
    let control = |half: __m256i| _mm256_cmpeq_epi8(_mm256_min_epu8(half, last_control), half);
    Marks {
        quotes: equal(b'"'),
        backslashes: equal(b'\\'),
        controls: both(control(low), control(high)),
    }
}

/// Four words of the block, from the given one on.
#[target_feature(enable = "avx2")]
#[inline]
fn half(block: &[u8; 64], first: usize) -> __m256i {
    let (words, _) = block.as_chunks::<8>();
    let word = |index: usize| i64::from_le_bytes(words[first + index]);
    _mm256_set_epi64x(word(3), word(2), word(1), word(0))
}
