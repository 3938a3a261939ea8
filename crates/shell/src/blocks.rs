//! `if`, `for` and such, whose parts are pipelines of one list.

/// How many blocks are open.
#[derive(Debug, Default)]
pub(super) struct Blocks(usize);

impl Blocks {
    /// Takes the words with which a command begins.
    pub(super) fn observe(&mut self, command: &str) {
        for word in command.split_whitespace() {
            match word.trim_end_matches([';', ')', '&', '|']) {
                "if" | "while" | "until" => self.0 += 1,
                "for" | "case" | "select" => return self.0 += 1,
                "fi" | "done" | "esac" => return self.0 = self.0.saturating_sub(1),
                "elif" | "then" | "do" | "else" | "!" | "{" => {}
                _ => return,
            }
        }
    }

    /// Whether the command may not be run.
    pub(super) fn are_open(&self) -> bool {
        self.0 > 0
    }
}
