//! Numbers that are written in a few digits.

use wide::u8x16;

/// A number of at most so many digits is exact as a double, too.
pub(crate) const DIGITS_MAX: usize = 15;

/// The number of digits from `start` on, counted up to 16.
#[inline]
pub(crate) fn digits(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let Some((block, _)) = rest.split_first_chunk::<16>() else {
        return rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    };
    let values = u8x16::new(*block) - u8x16::splat(b'0');
    let digits = values.min(u8x16::splat(9)).simd_eq(values).to_bitmask();
    digits.trailing_ones() as usize
}

/// The number with the digits `text[start..end]`, at most [`DIGITS_MAX`]; eight at a time.
#[expect(clippy::cast_possible_truncation, reason = "the halves of sixteen bytes")]
#[inline]
pub(crate) fn decimal(text: &[u8], start: usize, end: usize) -> u64 {
    let digits = end - start;
    let Some((_, last)) = text[..end].split_last_chunk::<16>() else {
        // At the very start of a text; no line of a stream has a number there.
        return text[start..end].iter().fold(0, |sum, digit| sum * 10 + u64::from(digit & 0xf));
    };
    // Zeros replace the bytes before the digits.
    let before = 8 * (16 - digits);
    let digits = u128::from_le_bytes(*last) >> before << before;
    eight(digits as u64) * 100_000_000 + eight((digits >> 64) as u64)
}

/// The number with these eight digits, the first in the lowest byte.
#[inline]
fn eight(digits: u64) -> u64 {
    let ones = digits & 0x0f0f_0f0f_0f0f_0f0f;
    let tens = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let hundreds = (tens * 100 + (tens >> 16)) & 0x0000_ffff_0000_ffff;
    (hundreds * 10_000 + (hundreds >> 32)) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_to_sixteen() {
        for length in 0..20 {
            for behind in ["", "/", ":", "a", "\u{b0}", ",\"timestamp_ms\":1773224000042}\n"] {
                let text = "0918273645564738291"[..length].to_owned() + behind;
                assert_eq!(digits(text.as_bytes(), 0).min(16), length.min(16), "{text}");
                assert_eq!(digits(format!("-{text}").as_bytes(), 1).min(16), length.min(16));
            }
        }
        assert_eq!(digits(b"1", 7), 0);
    }

    #[test]
    fn digits_are_read_as_a_number() {
        let mut number: u64 = 7;
        for _ in 0..if cfg!(miri) { 20 } else { 10_000 } {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1) >> 1;
            let digits = number.to_string();
            for end in 1..=digits.len().min(DIGITS_MAX) {
                let expected = digits[..end].parse();
                assert_eq!(Ok(decimal(digits.as_bytes(), 0, end)), expected);
                let text = format!("{{\"timestamp\": 1,{}", &digits[..end]);
                assert_eq!(Ok(decimal(text.as_bytes(), text.len() - end, text.len())), expected);
            }
        }
    }
}
