//! Which commands read messages until their standard input ends.

use std::borrow::Cow;
use std::ffi::OsStr;

use super::producer::Producer;

impl Producer {
    /// Whether a command does so by its flag: `--input-format stream-json`, `--stream-json-input`.
    pub fn reads_messages<'w>(words: impl Iterator<Item = &'w OsStr>) -> bool {
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let is_flag = |text: &str| text.starts_with("--") && text.contains("input");
        let names = |text: &str| text.contains("stream-json");
        let follows = |pair: &[Cow<'_, str>]| is_flag(&pair[0]) && names(&pair[1]);
        words.iter().any(|it| is_flag(it) && names(it)) || words.windows(2).any(follows)
    }
}

#[cfg(test)]
mod tests {
    use super::Producer;

    #[test]
    fn a_command_with_an_input_format_reads_messages() {
        let reads = |line: &str| Producer::reads_messages(line.split(' ').map(AsRef::as_ref));
        assert!(reads("claude -p --input-format stream-json --verbose"));
        assert!(reads("claude -p --input-format=stream-json"));
        assert!(reads("amp --execute --stream-json-input"));
        assert!(!reads("claude -p --output-format stream-json --input-format text hello"));
        assert!(!reads("claude -p --output-format stream-json --verbose input"));
    }
}
