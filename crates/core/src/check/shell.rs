//! The commands in a line for a shell, and what its exit status says of each of them.

mod characters;
mod list;
mod parser;
mod pipes;
mod wrappers;

use crate::profile::pattern::LazyRegex;

use parser::ShellParser;
use wrappers::{WORDS_MAX, has};

/// What the exit status of a line says of a command in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ExitShown {
    Own,
    /// The line succeeds only if the command does; it may fail because of a later one.
    IfItSucceeds,
    /// Nothing: the command is in the background or in a pipe, or others come after it.
    Nothing,
}

/// How a line runs the commands that are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ShellRun {
    pub(super) exit: ExitShown,
    /// Whether another command of the line may have picked from the output.
    pub(super) is_filtered: bool,
    /// Whether the start of the output may be missing, too.
    pub(super) is_cut: bool,
    /// Whether the command succeeds, too, if what it runs does not exist.
    pub(super) may_be_skipped: bool,
}

/// Programs that show a part of what they read, and perhaps not its end.
const FILTERS: &[&str] = &[
    "ag",
    "awk",
    "cut",
    "egrep",
    "fgrep",
    "findstr",
    "grep",
    "head",
    "jq",
    "perl",
    "rg",
    "sed",
    "select-string",
    "sls",
    "sort",
    "uniq",
    "wc",
];

/// Programs that print nothing, or all that they read.
const NEUTRAL: &[&str] = &["cat", "cd", "echo", "env", "export", "set", "source", "tee"];

#[derive(Debug)]
struct ShellCommand {
    /// Its words without quotes; a space inside a word is [`INNER_SPACE`].
    words: Vec<String>,
    /// The words at which a program may be named: the first one, and those behind `sudo` and such.
    starts: Vec<usize>,
    exit: ExitShown,
}

/// Replaces a space inside a word, so that no pattern mistakes a part of a word for a word.
const INNER_SPACE: char = '\u{2423}';

/// How a line runs a command that `pattern` describes, and `except` does not; nothing, if it does
/// not. The pattern is made by [`pattern`].
pub(super) fn run_of(
    pattern: &LazyRegex,
    except: Option<&LazyRegex>,
    line: &str,
) -> Option<ShellRun> {
    let commands = ShellParser::new(line).commands();
    let is_excepted = |text: &str| except.is_some_and(|pattern| pattern.is_in(text));
    let is_meant = |command: &&ShellCommand| {
        command.texts().any(|text| pattern.is_in(&text) && !is_excepted(&text))
    };
    let exit = commands.iter().filter(is_meant).map(|command| command.exit).max()?;
    let is_filtered = commands.iter().any(|command| has(FILTERS, command.program()));
    let mut others = commands.iter().filter(|command| !is_meant(command));
    let is_cut = commands.iter().filter(is_meant).count() > 1
        || others.any(|command| !has(NEUTRAL, command.program()));
    let may_be_skipped = commands.iter().filter(is_meant).any(ShellCommand::may_be_skipped);
    Some(ShellRun { exit, is_filtered, is_cut, may_be_skipped })
}

/// A pattern for the first words of a command.
pub(super) fn pattern(words: &str) -> String {
    // A comment would go on to the end of the pattern.
    let is_flag = |it: char| it.is_ascii_alphabetic();
    let group = words.trim_start().strip_prefix("(?").unwrap_or_default();
    let behind = group.trim_start_matches(is_flag);
    let has_x = group[..group.len() - behind.len()].contains('x');
    let end = if has_x && behind.starts_with([')', '-']) { "\n" } else { "" };
    format!(r"\A(?:{words}{end})(?:\s|\z)")
}

impl ShellCommand {
    /// Any word of a text that is nested too deep may name a program.
    fn unread(text: &str) -> Self {
        let words = text.split(|it: char| it.is_whitespace() || "(){};&|`\"'".contains(it));
        let words: Vec<String> = words.filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let starts = (0..words.len().min(WORDS_MAX)).collect();
        Self { words, starts, exit: ExitShown::Nothing }
    }

    /// The command from each word on that may name a program: as it is, and without the program's
    /// directory.
    fn texts(&self) -> impl Iterator<Item = String> {
        self.starts.iter().flat_map(|start| {
            let end = self.words.len().min(start + WORDS_MAX);
            let whole = self.words[*start..end].join(" ");
            let (first, rest) = whole.split_at(self.words[*start].len());
            let bare = format!("{}{rest}", program_name(first));
            [Some(bare).filter(|bare| *bare != whole), Some(whole)].into_iter().flatten()
        })
    }

    /// Whether it runs a script of a package only if there is one.
    fn may_be_skipped(&self) -> bool {
        self.words.iter().any(|word| word == "--if-present")
    }

    fn program(&self) -> &str {
        self.starts.first().map_or("", |start| program_name(&self.words[*start]))
    }
}

/// The name of a program, without its directory and without the ending that Windows gives it.
fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let endings = [".exe", ".cmd", ".bat"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}
