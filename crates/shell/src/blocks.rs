//! `if`, `for` and such, whose parts are pipelines of one list.

/// Without it, `if` is that of another shell, such as PowerShell, whose blocks have braces.
pub(super) fn has_block_end(line: &str) -> bool {
    let mut words = line.split(|it: char| it.is_whitespace() || ";&|()".contains(it));
    words.any(|word| ["fi", "done", "esac"].contains(&word))
}

/// How many blocks are open.
#[derive(Debug, Default)]
pub(super) struct OpenBlocks {
    all: usize,
    cases: usize,
}

impl OpenBlocks {
    /// Takes the words with which a command begins.
    pub(super) fn observe(&mut self, command: &str) {
        for word in command.split_whitespace() {
            match word.trim_end_matches([';', ')', '&', '|']) {
                "if" | "while" | "until" => self.all += 1,
                "for" | "select" => return self.all += 1,
                "case" => {
                    self.all += 1;
                    return self.cases += 1;
                }
                "fi" | "done" => return self.all = self.all.saturating_sub(1),
                "esac" => {
                    self.all = self.all.saturating_sub(1);
                    return self.cases = self.cases.saturating_sub(1);
                }
                "elif" | "then" | "do" | "else" | "!" | "{" => {}
                _ => return,
            }
        }
    }

    /// Whether the command may not be run.
    pub(super) fn any(&self) -> bool {
        self.all > 0
    }

    /// Whether `)` may end a pattern.
    pub(super) fn has_case(&self) -> bool {
        self.cases > 0
    }
}
