//! The options of a shell that decide what its exit status shows.

use super::wrappers::LETTERS_MAX;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShellOptions {
    /// `-e`: the shell stops at the first command that fails.
    pub(super) stops: bool,
    /// `-o pipefail`
    pub(super) pipes_fail: bool,
}

impl ShellOptions {
    /// Takes the words behind `set` or behind the name of a shell.
    pub(super) fn set(&mut self, words: &[String]) {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (letters, is_on) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
                (Some(letters), _) => (letters, true),
                (_, Some(letters)) => (letters, false),
                _ => return,
            };
            if word == "--" {
                return;
            }
            if letters.starts_with('-') || letters.len() > LETTERS_MAX {
                continue;
            }
            if letters.contains('e') {
                self.stops = is_on;
            }
            if letters.contains('o') {
                match words.next().map(String::as_str) {
                    Some("errexit") => self.stops = is_on,
                    Some("pipefail") => self.pipes_fail = is_on,
                    _ => {}
                }
            }
        }
    }

    /// Takes the words behind `shopt`.
    pub(super) fn shopt(&mut self, words: &[String]) {
        let is_off = |word: &String| word.starts_with('-') && word.contains('u');
        if words.iter().any(is_off) {
            self.stops &= !words.iter().any(|word| word == "errexit");
            self.pipes_fail &= !words.iter().any(|word| word == "pipefail");
        }
    }

    /// What is set in both.
    pub(super) fn and(self, other: Self) -> Self {
        Self { stops: self.stops && other.stops, pipes_fail: self.pipes_fail && other.pipes_fail }
    }
}
