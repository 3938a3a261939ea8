//! Whether a run of characters looks as if chance had made it.

/// For each letter, the letters that follow it in 97 % of the pairs in English and in source code.
const FOLLOWERS: [&[u8]; 26] = [
    b"bcdfgiklmnprstuvwxy",
    b"aceijlorsuy",
    b"acehiklmoprstuy",
    b"abcdefgilmoprstuy",
    b"abcdefgijlmnopqrstuvwxyz",
    b"aefilorstuy",
    b"aeghilnorstu",
    b"aeiorstu",
    b"abcdefglmnoprstvxz",
    b"es",
    b"ceis",
    b"abcdefgilopstuvy",
    b"abcdeilmopstu",
    b"acdefgiklnopstuv",
    b"abcdfgiklmnoprstuvwx",
    b"acdefhikloprstuy",
    b"u",
    b"acdefgiklmnoprstuvy",
    b"acefghiklmnoprstuwy",
    b"acdefhilmnoprstuwxy",
    b"abcdefgilmnprst",
    b"aeimo",
    b"aeinors",
    b"ceilpst",
    b"lmnpst",
    b"e",
];

/// The same, a bit for each letter.
const FOLLOWER_BITS: [u32; 26] = {
    let mut bits = [0; 26];
    let mut first = 0;
    while first < 26 {
        let mut index = 0;
        while index < FOLLOWERS[first].len() {
            bits[first] |= 1 << (FOLLOWERS[first][index] - b'a');
            index += 1;
        }
        first += 1;
    }
    bits
};

const RANDOM_BYTES_MIN: usize = 12;

/// How much of a run is looked at, in bytes.
const SAMPLE_BYTES: usize = 128;

/// Hexadecimal digits that look random.
const HEX_DIGITS_MIN: usize = 16;

/// The least sum of [`oddity`] of a random run.
const ODD: i32 = 3;

/// Whether characters look as if chance had made them: no words, paths, names of code, versions or
/// dates do. Fewer than 12 never do.
pub fn looks_random(run: &[u8]) -> bool {
    let run = &run[..run.len().min(SAMPLE_BYTES)];
    run.len() >= RANDOM_BYTES_MIN
        && (oddity(run) >= ODD
            || is_random_hex(run)
            || run.split(|it| !it.is_ascii_alphanumeric()).any(is_random_hex))
}

/// Whether a run consists of words, with digits behind them: `db-credentials-v2`.
pub(crate) fn looks_like_name(run: &[u8]) -> bool {
    let run = &run[..run.len().min(SAMPLE_BYTES)];
    run.split(|byte| !byte.is_ascii_alphanumeric()).all(|piece| {
        let letters = piece.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |at| at + 1);
        let letters = &piece[..letters];
        letters.iter().all(u8::is_ascii_alphabetic) && oddity(letters) < ODD
    })
}

/// Hexadecimal digits, also in the groups of a UUID.
fn is_random_hex(run: &[u8]) -> bool {
    let (digits, letters) = (
        run.iter().filter(|it| it.is_ascii_digit()).count(),
        run.iter().filter(|it| it.is_ascii_hexdigit() && it.is_ascii_alphabetic()).count(),
    );
    digits + letters >= HEX_DIGITS_MIN
        && digits.min(letters) >= 2
        && run.iter().all(|it| it.is_ascii_hexdigit() || *it == b'-')
        && run.iter().enumerate().filter(|(at, it)| !run[..*at].contains(it)).count() >= 7
}

/// How much the neighbours in a run are those of chance, and not those of words.
fn oddity(run: &[u8]) -> i32 {
    let pairs = run.windows(2).enumerate();
    pairs.map(|(at, pair)| of_pair(at.checked_sub(1).map(|it| run[it]), pair[0], pair[1])).sum()
}

fn of_pair(before: Option<u8>, first: u8, second: u8) -> i32 {
    match (first, second) {
        (b'_' | b'.' | b':', _) => -2,
        (b'/' | b'-', _) => -1,
        _ if first == second && before == Some(first) => -1,
        (b'a'..=b'z', b'A'..=b'Z') => 0,
        (b'a'..=b'z' | b'A'..=b'Z', b'a'..=b'z' | b'A'..=b'Z') => {
            let is_upper = first.is_ascii_uppercase() && second.is_ascii_uppercase();
            // Two capitals behind a small letter are rare in names.
            let case =
                if is_upper && before.is_some_and(|it| it.is_ascii_lowercase()) { 2 } else { 0 };
            let (first, second) = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
            let is_common = FOLLOWER_BITS[usize::from(first - b'a')] >> (second - b'a') & 1 != 0;
            case + if is_common { -1 } else { 3 }
        }
        (b'0'..=b'9', b'0'..=b'9') => -1,
        _ if first.is_ascii_alphanumeric() && second.is_ascii_alphanumeric() => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(alphabet: &[u8], length: usize) -> impl Iterator<Item = Vec<u8>> {
        let mut state = 7_u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits fit")
        };
        (0..10_000).map(move |_| (0..length).map(|_| alphabet[next() % alphabet.len()]).collect())
    }

    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

    #[test]
    fn random_runs_look_random() {
        let cases = [(LETTERS, 12, 350), (LETTERS, 16, 150), (LETTERS, 20, 60), (LETTERS, 36, 5)];
        for (alphabet, length, most) in cases {
            let missed = runs(alphabet, length).filter(|run| !looks_random(run)).count();
            assert!(missed <= most, "{length}: {missed}");
        }
        let missed = runs(b"0123456789abcdef", 32).filter(|run| !looks_random(run)).count();
        assert!(missed <= 5, "{missed}");
        assert!(looks_random(b"3f2504e0-4f89-41d3-9a0c-0305e82c3301"));
    }

    #[test]
    fn words_names_paths_versions_and_dates_do_not() {
        for name in [
            "authentication",
            "AuthenticationProvider",
            "getElementsByClassName",
            "snake_case_name_of_code",
            "crates/core/src/redact/finder.rs",
            "x86_64-unknown-linux-gnu",
            "2026-11-23T04:22:21.123Z",
            "1.18.33-beta.2+build.4",
            "claude-sonnet-4-5-20250929",
            "HTTP_STATUS_INTERNAL_ERROR",
            "12345678901234567890",
            "sk-learn-contrib-models-Alpha",
            "process.env.API_KEY",
            "aaaaaaaaaaaaaaaaaaaaaaaa",
            "password: required",
            "short1X9",
        ] {
            assert!(!looks_random(name.as_bytes()), "{name}");
        }
        assert!(looks_like_name(b"db-credentials-v2") && !looks_like_name(b"s3cr3tpw"));
    }
}
