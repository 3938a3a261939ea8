//! Blocks of 64 bytes at once, on processors that have AVX2: the only unsafe code of the program.
//!
//! Long strings, such as files in tool results, are most of the bytes of a stream with tools, and
//! this goes over them at twice the speed of the portable way, which is there for all other
//! processors and is held against this one by a test.
//!
//! What is unsafe is one call and one load. A function that is compiled for AVX2 may run only where
//! there is AVX2, and that is asked before each call. The load takes 32 bytes from a reference to
//! 32 bytes; put together from words, which needs no unsafe code, it costs eight instructions.

#![expect(unsafe_code, reason = "the call that needs AVX2, and the load of its registers")]

use std::arch::x86_64::{
    __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_shuffle_epi8,
};

use super::string_end::{Marks, StringEnd, string_end_by_blocks};

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
    string_end_by_blocks(bytes, start, |block| marks(block), |block| simple_escapes(block))
}

#[target_feature(enable = "avx2")]
#[inline]
fn marks(block: &[u8; 64]) -> Marks {
    let halves = halves(block);
    let last_control = _mm256_set1_epi8(0x1f);
    let controls = halves.map(|it| _mm256_cmpeq_epi8(_mm256_min_epu8(it, last_control), it));
    Marks {
        quotes: bits(equal(halves, b'"')),
        backslashes: bits(equal(halves, b'\\')),
        controls: bits(controls),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn simple_escapes(block: &[u8; 64]) -> u64 {
    // What a byte must be to be one of them follows from its lower half, but for b and r. Of a
    // byte above 0x7f the shuffle makes nothing; nor is a zero what it must be.
    let own = table([1, 0, b'b', 0, b't', 0, b'f', 0, 0, 0, 0, 0, 0, 0, b'n', b'/']);
    let halves = halves(block);
    let [low, high] = equal(halves, b'r');
    let [first, second] = halves.map(|it| _mm256_cmpeq_epi8(_mm256_shuffle_epi8(own, it), it));
    bits([_mm256_or_si256(low, first), _mm256_or_si256(high, second)])
}

/// The same sixteen bytes for both halves of a register.
#[target_feature(enable = "avx2")]
#[inline]
fn table(bytes: [u8; 16]) -> __m256i {
    let (words, _) = bytes.as_chunks::<8>();
    let [low, high] = [words[0], words[1]].map(i64::from_le_bytes);
    _mm256_set_epi64x(high, low, high, low)
}

/// Where the bytes equal this one.
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
    // SAFETY: it reads 32 bytes, of any alignment, from where the reference says that they are.
    unsafe { _mm256_loadu_si256(std::ptr::from_ref(bytes).cast()) }
}
