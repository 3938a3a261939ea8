//! Ids that are the same in every run: hexadecimal digits of a hash.

use sha2::{Digest as _, Sha256};

/// The first bytes of a hash of these texts, as hexadecimal digits.
pub(crate) fn digits(texts: &[&str], bytes: usize) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        // With its length, so that no text runs into the next one.
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    }
    let hash = hasher.finalize();
    let digits = hash.iter().take(bytes).flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}
