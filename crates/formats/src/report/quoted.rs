//! What a message quotes in backticks.

/// The parts of a message: each second one was between backticks. A backtick without a partner, or
/// inside a word, is part of what is quoted; then the message is one part.
pub(super) fn parts(message: &str) -> Vec<&str> {
    let parts: Vec<&str> = message.split('`').collect();
    let is_odd = |at: usize| {
        let (before, after) = (parts[at - 1], parts[at + 1]);
        before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric)
    };
    let is_unclear = || (1..parts.len()).step_by(2).any(is_odd);
    if parts.len().is_multiple_of(2) || is_unclear() { vec![message] } else { parts }
}
