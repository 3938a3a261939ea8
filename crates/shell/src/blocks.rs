//! `if`, `for` and such, whose parts are pipelines of one list.

use super::ShellCommand;

/// What ends a word, and begins something else.
const WORD_ENDS: [char; 7] = [';', '&', '|', '(', ')', '<', '>'];

/// Whether a block of a POSIX shell ends in the line: the blocks of PowerShell have braces.
pub(super) fn has_block_end(line: &str) -> bool {
    let commands = line.split(|it: char| it == '\n' || WORD_ENDS.contains(&it));
    let mut first = commands.filter_map(|it| it.split_whitespace().find(|word| *word != "}"));
    first.any(|word| ["fi", "done", "esac"].contains(&word))
}

/// Signs of PowerShell in a line: most come before the braces of a block.
const POWERSHELL_SIGNS: &[&str] = &[
    "%",
    "= {",
    "@{",
    "-object",
    "begin",
    "class ",
    "do\n",
    "do\r",
    "do {",
    "else",
    "filter ",
    "for (",
    "foreach",
    "if (",
    "if(",
    "invoke-",
    "measure-",
    "process",
    "scriptblock",
    "start-",
    "switch (",
    "trap {",
    "trap\n",
    "trap\r",
    "try",
    "while (",
];

/// Whether the line may have blocks of PowerShell.
pub(super) fn has_braces(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.contains('{') && POWERSHELL_SIGNS.iter().any(|sign| line.contains(sign))
}

/// How many blocks are open.
#[derive(Debug, Default)]
pub(super) struct OpenBlocks {
    all: usize,
    cases: usize,
    braces: usize,
    /// The commands whose output the outermost block reads: `make | while read line; do …; done`.
    piped: Vec<ShellCommand>,
    /// Whether `!` is in front of the outermost block.
    pub(super) is_inverted: bool,
}

impl OpenBlocks {
    /// Takes the words with which a command begins.
    pub(super) fn observe(&mut self, command: &str) {
        let mut rest = command;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\r']);
            let is_end = |it: char| it.is_whitespace() || WORD_ENDS.contains(&it);
            let (word, behind) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
            match word {
                "if" | "while" | "until" => self.all += 1,
                "for" | "select" => return self.all += 1,
                "case" => {
                    self.all += 1;
                    return self.cases += 1;
                }
                "fi" | "done" => self.all = self.all.saturating_sub(1),
                "esac" => {
                    self.all = self.all.saturating_sub(1);
                    self.cases = self.cases.saturating_sub(1);
                }
                "elif" | "then" | "do" | "else" | "!" | "time" | "{" | "}" => {}
                _ => return,
            }
            rest = behind;
        }
    }

    /// Takes the blocks of PowerShell that a command opens or, below zero, ends: `if ($a) {`, `}`.
    pub(super) fn observe_braces(&mut self, opened: isize) {
        self.braces = self.braces.saturating_add_signed(opened);
    }

    pub(super) fn add_piped(&mut self, commands: &mut Vec<ShellCommand>) {
        self.piped.append(commands);
    }

    pub(super) fn take_piped(&mut self) -> Vec<ShellCommand> {
        std::mem::take(&mut self.piped)
    }

    /// Whether the blocks are in a pipe, and so in another shell.
    pub(super) fn is_piped(&self) -> bool {
        !self.piped.is_empty()
    }

    /// Whether the command may not be run.
    pub(super) fn any(&self) -> bool {
        self.all + self.braces > 0
    }

    /// Whether this sign may end a pattern, or a block of PowerShell, and not the list around it.
    pub(super) fn has_inside(&self, sign: char) -> bool {
        sign == ')' && self.cases > 0 || sign == '}' && self.braces > 0
    }
}
