//! Where a JSON string ends, found 64 bytes at a time.

use wide::u8x16;

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::unescape::hexadecimal;

const BLOCK: usize = 64;

/// Strings up to this length are searched without a call.
const SHORT: usize = 144;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StringEnd {
    /// The closing quote.
    pub(crate) at: usize,
    /// Whether the string has no escapes.
    pub(crate) plain: bool,
}

/// A bit for each byte of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockMarks {
    pub(super) quotes: u64,
    pub(super) backslashes: u64,
    pub(super) controls: u64,
}

/// The bytes of simple escapes, except quote and backslash.
const SIMPLE_ESCAPES: [u8; 6] = *b"/bfnrt";

/// Finds the end of the string that begins at `bytes[start]`; `None` for a string without an end,
/// with control characters, broken escapes, or half of a surrogate pair.
#[inline]
pub(crate) fn string_end(bytes: &[u8], start: usize) -> Option<StringEnd> {
    // Most keys end within the first 16 bytes, most values within the next 64: a test of a whole
    // block is easy to predict, and needs no call.
    let Some((block, _)) = bytes.get(start..)?.split_first_chunk::<16>() else {
        return long_string_end(bytes, start);
    };
    let found = u64::from(stops(*block));
    if found != 0 {
        return end_at(bytes, start, found);
    }
    let mut at = start + 16;
    while at < start + SHORT {
        let Some((block, _)) = bytes[at..].split_first_chunk::<BLOCK>() else { break };
        let (parts, _) = block.as_chunks::<16>();
        let all = parts.iter().rev().fold(0, |all, part| all << 16 | u64::from(stops(*part)));
        if all != 0 {
            return end_at(bytes, at, all);
        }
        at += BLOCK;
    }
    long_string_end(bytes, at)
}

/// The end of a string whose first quote, backslash or control character is the first of `stops`
/// from `at` on.
#[inline]
fn end_at(bytes: &[u8], at: usize, stops: u64) -> Option<StringEnd> {
    let stop = at + stops.trailing_zeros() as usize;
    if bytes[stop] == b'"' {
        return Some(StringEnd { at: stop, plain: true });
    }
    long_string_end(bytes, at)
}

/// Quotes, backslashes and control characters, a bit for each.
#[inline]
fn stops(block: [u8; 16]) -> u32 {
    let block = u8x16::new(block);
    let controls = block.min(u8x16::splat(0x1f)).simd_eq(block);
    let quotes = block.simd_eq(u8x16::splat(b'"'));
    (controls | quotes | block.simd_eq(u8x16::splat(b'\\'))).to_bitmask()
}

fn long_string_end(bytes: &[u8], start: usize) -> Option<StringEnd> {
    #[cfg(target_arch = "x86_64")]
    if avx2::is_available() {
        return avx2::string_end(bytes, start);
    }
    portable_string_end(bytes, start)
}

fn portable_string_end(bytes: &[u8], start: usize) -> Option<StringEnd> {
    string_end_by_blocks(bytes, start, portable_marks, portable_escapes)
}

#[inline]
fn equal(block: u8x16, byte: u8) -> u32 {
    block.simd_eq(u8x16::splat(byte)).to_bitmask()
}

#[inline]
fn portable_marks(block: &[u8; BLOCK]) -> BlockMarks {
    let mut marks = BlockMarks { quotes: 0, backslashes: 0, controls: 0 };
    for (index, part) in block.as_chunks::<16>().0.iter().enumerate() {
        let part = u8x16::new(*part);
        marks.quotes |= u64::from(equal(part, b'"')) << (16 * index);
        marks.backslashes |= u64::from(equal(part, b'\\')) << (16 * index);
        let controls = part.min(u8x16::splat(0x1f)).simd_eq(part).to_bitmask();
        marks.controls |= u64::from(controls) << (16 * index);
    }
    marks
}

/// A bit for each byte of a block that is one of the [`SIMPLE_ESCAPES`].
#[inline]
fn portable_escapes(block: &[u8; BLOCK]) -> u64 {
    let parts = block.as_chunks::<16>().0.iter().rev().map(|part| u8x16::new(*part));
    let of = |part| SIMPLE_ESCAPES.iter().fold(0, |sum, byte| sum | equal(part, *byte));
    parts.fold(0, |all, part| all << 16 | u64::from(of(part)))
}

/// Searches whole blocks. Arithmetic on bits finds the escaped quotes, so a dense run of escapes
/// costs no branches.
#[expect(clippy::inline_always, reason = "it is compiled for the processor of its caller")]
#[inline(always)]
pub(super) fn string_end_by_blocks(
    bytes: &[u8],
    start: usize,
    marks: impl Fn(&[u8; BLOCK]) -> BlockMarks,
    simple_escapes: impl Fn(&[u8; BLOCK]) -> u64,
) -> Option<StringEnd> {
    let mut at = start;
    let mut plain = true;
    // Whether the first byte of the block is escaped by the last one before it.
    let mut carry = 0;
    // Escapes before this place are checked.
    let mut checked = start;
    let mut rest = [0; BLOCK];
    loop {
        let block = block_at(bytes, at, &mut rest)?;
        let BlockMarks { quotes, backslashes, controls } = marks(block);
        if backslashes | carry == 0 {
            let stops = quotes | controls;
            if stops == 0 {
                at += BLOCK;
                continue;
            }
            let stop = stops & stops.wrapping_neg();
            let at = at + stop.trailing_zeros() as usize;
            return (quotes & stop != 0).then_some(StringEnd { at, plain });
        }
        let escaped = behind_backslashes(backslashes, &mut carry);
        let end = quotes & !escaped;
        let inside = (end & end.wrapping_neg()).wrapping_sub(1);
        if controls & inside != 0 {
            return None;
        }
        let escaped = escaped & inside;
        if escaped != 0 {
            plain = false;
            let others = escaped & !(quotes | backslashes | simple_escapes(block));
            if others != 0 {
                checked = check_unicode_escapes(bytes, at, others, checked)?;
            }
        }
        if end != 0 {
            return Some(StringEnd { at: at + end.trailing_zeros() as usize, plain });
        }
        at += BLOCK;
    }
}

/// The bytes that the backslash before them escapes: every second one of a run of backslashes, and
/// the byte after a run of odd length. `carry` is 1 if the first byte is escaped, and is then set
/// for the first byte of the next block.
#[inline]
fn behind_backslashes(backslashes: u64, carry: &mut u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let starts = backslashes & !*carry;
    // The subtraction flips every second bit from the start of each run on; the bits that then
    // differ from `ODD` are the backslashes that escape and the byte after a run of odd length.
    let turned = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
    let escaped = turned ^ (backslashes | *carry);
    *carry = (turned & backslashes) >> 63;
    escaped
}

/// The block at `at`; if fewer bytes are left, a copy of them in `rest`, which is all zeros. Zeros
/// are control characters, so such a block ends the search.
#[inline]
fn block_at<'b>(bytes: &'b [u8], at: usize, rest: &'b mut [u8; BLOCK]) -> Option<&'b [u8; BLOCK]> {
    let left = bytes.get(at..)?;
    if let Some((block, _)) = left.split_first_chunk() {
        return Some(block);
    }
    rest[..left.len()].copy_from_slice(left);
    Some(rest)
}

/// Checks that the escaped bytes of a block, a bit for each, begin an escape with digits. Returns
/// the end of the last one, if it is after `checked`.
#[cold]
fn check_unicode_escapes(
    bytes: &[u8],
    block: usize,
    mut unicode: u64,
    mut checked: usize,
) -> Option<usize> {
    while unicode != 0 {
        let at = block + unicode.trailing_zeros() as usize;
        unicode &= unicode - 1;
        if bytes.get(at) != Some(&b'u') {
            return None;
        }
        // Unless it is the second half of a checked pair.
        if at >= checked {
            checked = unicode_escape(bytes, at)?;
        }
    }
    Some(checked)
}

/// The end of the escape whose `u` is at `at`, or of the surrogate pair that begins there.
#[cold]
fn unicode_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match hexadecimal(bytes.get(at + 1..)?)? {
        0xd800..=0xdbff => {
            let low = at + 5;
            let follows = bytes.get(low..low + 2)? == b"\\u";
            let is_low = (0xdc00..=0xdfff).contains(&hexadecimal(&bytes[low + 2..])?);
            (follows && is_low).then_some(low + 6)
        }
        0xdc00..=0xdfff => None,
        _ => Some(at + 5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of the string that begins the bytes, found one byte at a time.
    fn plainly(bytes: &[u8]) -> Option<StringEnd> {
        let (mut at, mut plain) = (0, true);
        loop {
            match bytes.get(at)? {
                b'"' => return Some(StringEnd { at, plain }),
                b'\\' if *bytes.get(at + 1)? == b'u' => at = unicode_escape(bytes, at + 1)?,
                b'\\' if b"\"\\/bfnrt".contains(&bytes[at + 1]) => at += 2,
                b'\\' | 0..0x20 => return None,
                _ => {
                    at += 1;
                    continue;
                }
            }
            plain = false;
        }
    }

    fn assert_same_end(bytes: &[u8]) -> Option<StringEnd> {
        let expected = plainly(bytes);
        assert_eq!(portable_string_end(bytes, 0), expected, "{bytes:?}");
        assert_eq!(string_end(bytes, 0), expected, "{bytes:?}");
        expected
    }

    /// Method: strings of every length up to three blocks, with each thing at every place, alone
    /// and after runs of backslashes.
    #[test]
    fn every_way_finds_the_same_end() {
        let things = ["\\", "\"", r"\n", r"\u00e9", r"\ud83d\ude80", r"\ud83d", "\x1f", r"\x", "é"];
        let mut found = 0;
        let step = if cfg!(miri) { 31 } else { 1 };
        for length in (0..140).step_by(step) {
            for thing in things {
                for run in 0..4 {
                    let mut bytes = vec![b'a'; length];
                    bytes.extend(std::iter::repeat_n(b'\\', run));
                    bytes.extend(thing.bytes());
                    bytes.extend(&b"tail\"}\n"[..]);
                    let expected = assert_same_end(&bytes);
                    bytes.resize(bytes.len() + 64, b'"');
                    assert_eq!(assert_same_end(&bytes), expected);
                    found += usize::from(expected.is_some());
                }
            }
        }
        assert!(found > 2_000 / step, "only {found}");
    }

    /// Method: every byte after a backslash, at every place of a block.
    #[test]
    fn every_way_knows_the_same_escapes() {
        let step = if cfg!(miri) { 23 } else { 1 };
        for byte in (0..=255_u8).step_by(step) {
            for length in (0..70).step_by(step) {
                let mut bytes = vec![b'a'; length];
                bytes.extend([b'\\', byte, b'"', b'"']);
                bytes.resize(bytes.len() + 64, b'a');
                assert_same_end(&bytes);
            }
        }
    }
}
