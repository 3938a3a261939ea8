//! Blocks of 64 bytes at once, on processors that have AVX2, with unsafe code.
//!
//! Long strings, such as files in tool results, are most of the bytes of a stream with tools. This
//! code reads them at twice the speed of the portable code, which serves all other processors; a
//! test compares the two.
//!
//! One call and one load are unsafe. A function compiled for AVX2 may run only on a processor with
//! AVX2, which is checked before each call. The load takes 32 bytes from a reference to 32 bytes;
//! without unsafe code, from words, it costs eight instructions.

#![expect(unsafe_code, reason = "the call that needs AVX2, and the load of its registers")]

use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_shuffle_epi8,
};

use super::string_end::{BlockMarks, StringEnd, string_end_by_blocks};

#[inline]
pub(super) fn is_available() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// As the portable code; also `None` without AVX2, so check [`is_available`] first.
#[inline]
pub(super) fn string_end(bytes: &[u8], start: usize) -> Option<StringEnd> {
    if !is_available() {
        return None;
    }
    // SAFETY: the processor has AVX2, as checked just above.
    unsafe { with_avx2(bytes, start) }
}

#[target_feature(enable = "avx2")]
fn with_avx2(bytes: &[u8], start: usize) -> Option<StringEnd> {
    string_end_by_blocks(bytes, start, |block| marks(block), |block| simple_escapes(block))
}

#[target_feature(enable = "avx2")]
#[inline]
fn marks(block: &[u8; 64]) -> BlockMarks {
    let halves = halves(block);
    let last_control = _mm256_set1_epi8(0x1f);
    let controls = halves.map(|it| _mm256_cmpeq_epi8(_mm256_min_epu8(it, last_control), it));
    BlockMarks {
        quotes: bits(equal(halves, b'"')),
        backslashes: bits(equal(halves, b'\\')),
        controls: bits(controls),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn simple_escapes(block: &[u8; 64]) -> u64 {
    // The lower half of a byte selects the one escape that it can be; r, which has the lower half
    // of b, is compared apart. The shuffle turns a byte above 0x7f into 0, which equals none.
    let expected = table([1, 0, b'b', 0, b't', 0, b'f', 0, 0, 0, 0, 0, 0, 0, b'n', b'/']);
    let halves = halves(block);
    let [low, high] = equal(halves, b'r');
    let [first, second] = halves.map(|it| _mm256_cmpeq_epi8(_mm256_shuffle_epi8(expected, it), it));
    bits([_mm256_or_si256(low, first), _mm256_or_si256(high, second)])
}

/// The same sixteen bytes in both halves of a register.
#[target_feature(enable = "avx2")]
#[inline]
fn table(bytes: [u8; 16]) -> __m256i {
    let (words, _) = bytes.as_chunks::<8>();
    let [low, high] = [words[0], words[1]].map(i64::from_le_bytes);
    _mm256_set_epi64x(high, low, high, low)
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal(halves: [__m256i; 2], byte: u8) -> [__m256i; 2] {
    let byte = _mm256_set1_epi8(byte.cast_signed());
    [_mm256_cmpeq_epi8(halves[0], byte), _mm256_cmpeq_epi8(halves[1], byte)]
}

/// A bit for each byte of the block.
#[target_feature(enable = "avx2")]
#[inline]
fn bits(halves: [__m256i; 2]) -> u64 {
    let low = _mm256_movemask_epi8(halves[0]).cast_unsigned();
    let high = _mm256_movemask_epi8(halves[1]).cast_unsigned();
    u64::from(low) | u64::from(high) << 32
}

#[target_feature(enable = "avx2")]
#[inline]
fn halves(block: &[u8; 64]) -> [__m256i; 2] {
    let (halves, _) = block.as_chunks::<32>();
    [load(&halves[0]), load(&halves[1])]
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: it reads 32 bytes, of any alignment, and the reference covers 32 bytes.
    unsafe { _mm256_loadu_si256(std::ptr::from_ref(bytes).cast()) }
}
