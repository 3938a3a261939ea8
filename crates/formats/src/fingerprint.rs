//! What makes a finding of one run the same as a finding of another.
//!
//! Lines, offsets and counts change when a stream changes elsewhere; the rule, the stream and the
//! words of the message do not.

use ndjson_check_core::{Diagnostic, Rule};

use super::digits::digits;

const FINGERPRINT_BYTES: usize = 16;

/// The fingerprint of all findings of this rule in this stream whose messages differ in numbers
/// only: 32 hexadecimal digits.
pub(crate) fn fingerprint(stream: &str, rule: Rule, message: &str) -> String {
    digits(&[rule.name(), stream, &with_number_signs(message)], FINGERPRINT_BYTES)
}

/// What a finding says, without the place of your demand: the path of the configuration may be
/// written in several ways.
pub(crate) fn message_without_place(found: &Diagnostic) -> &str {
    let place = found.demand.as_ref().map(|place| format!(" ({place})"));
    place.and_then(|place| found.message.strip_suffix(&*place)).unwrap_or(&found.message)
}

/// The text with `#` for each number.
fn with_number_signs(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for character in text.chars() {
        if !character.is_ascii_digit() {
            words.push(character);
        } else if !words.ends_with('#') {
            words.push('#');
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_change_no_fingerprint() {
        let of = |message| fingerprint("a.ndjson", Rule::BlankLine, message);
        assert_eq!(of("line 7 is blank"), of("line 1234 is blank"));
        assert_ne!(of("line 7 is blank"), of("line is blank"));
        assert_ne!(of("a"), fingerprint("a.ndjson", Rule::InvalidJson, "a"));
        assert_ne!(of("a"), fingerprint("b.ndjson", Rule::BlankLine, "a"));
        // As it is in baselines and in the alerts of services: it must never change.
        assert_eq!(of("line 7 is blank"), "07b3993abd24ad363f0a621a0c18f5e0");
    }
}
