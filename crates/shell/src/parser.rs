//! Reads a line for a shell: as much of the grammar of POSIX shells as agents use.

use std::cell::Cell;
use std::rc::Rc;

use super::list::{Next, Pipeline, does_fail, judged, raise};
use super::pipes::{printed, reads_commands};
use super::wrappers::{LETTERS_MAX, hides_exit, is_command_option, is_shell, runs_text, starts};
use super::{ExitShown, INNER_SPACE, ShellCommand, program_name};

/// Replaces the output of a command in a word.
const SUBSTITUTED: &str = "$()";

const DEPTH_MAX: usize = 12;

/// The texts inside a line are read up to so many times its length.
const BUDGET: usize = 16;

pub(super) struct ShellParser<'t> {
    pub(super) rest: &'t str,
    depth: usize,
    /// `set -e` and `set -o pipefail`.
    stops: bool,
    pipes_fail: bool,
    /// The ends of the texts that begin in the next line, and whether a shell runs them.
    heredocs: Vec<(String, bool)>,
    /// The text that the command reads: `<<< text`.
    here_string: Option<String>,
    /// Commands inside of words.
    inner: Vec<ShellCommand>,
    /// Whether the last list only makes the line fail in the end: `{ echo no; exit 1; }`.
    ends_in_failure: bool,
    /// How many bytes of texts inside of others may still be read: each text may be read in
    /// several ways, and so may the texts in it.
    budget: Rc<Cell<usize>>,
}

impl<'t> ShellParser<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        Self {
            rest: line,
            depth: 0,
            stops: false,
            pipes_fail: false,
            heredocs: Vec::new(),
            here_string: None,
            inner: Vec::new(),
            ends_in_failure: false,
            budget: Rc::new(Cell::new(line.len().saturating_mul(BUDGET))),
        }
    }

    pub(super) fn commands(mut self) -> Vec<ShellCommand> {
        let mut commands = self.list(None);
        while self.take(")") {
            commands.extend(self.list(None));
        }
        commands
    }

    fn list(&mut self, end: Option<char>) -> Vec<ShellCommand> {
        if self.depth == DEPTH_MAX {
            return vec![ShellCommand::unread(std::mem::take(&mut self.rest))];
        }
        self.depth += 1;
        let mut pipelines = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                None => break,
                Some(next) if Some(next) == end => {
                    self.next();
                    break;
                }
                Some(')') if end.is_none() && self.depth == 1 => break,
                Some(')') => {
                    self.next();
                }
                Some(_) => pipelines.push(self.pipeline()),
            }
        }
        self.depth -= 1;
        self.ends_in_failure = pipelines.iter().rfind(|it| !it.is_empty).is_some_and(|it| it.fails);
        judged(pipelines)
    }

    fn pipeline(&mut self) -> Pipeline {
        let mut commands: Vec<ShellCommand> = Vec::new();
        let mut is_empty = true;
        let mut fails;
        let before = std::mem::take(&mut self.inner);
        let (mut heredocs, mut raised, mut piped) = (self.heredocs.len(), 0, None);
        loop {
            self.skip_blanks();
            let is_braces = self.rest.starts_with("{ ") || self.rest.starts_with("{\n");
            if is_braces || self.rest.starts_with('(') {
                self.next();
                let end = if is_braces { '}' } else { ')' };
                commands.extend(self.list(Some(end)));
                fails = self.ends_in_failure;
                self.words();
                // What a group reads and prints is not followed.
                (is_empty, piped, self.here_string) = (false, None, None);
            } else {
                let words = self.words();
                is_empty &= words.is_empty();
                fails = does_fail(&words);
                let read = self.here_string.take().or(piped);
                piped = if reads_commands(&words) {
                    let texts = self.heredocs.iter_mut().skip(heredocs);
                    texts.for_each(|(_, is_run)| *is_run = true);
                    heredocs = self.heredocs.len();
                    self.inner_commands(&read.unwrap_or_default());
                    None
                } else {
                    printed(&words, read)
                };
                commands.extend(self.command(words));
            }
            commands.append(&mut self.inner);
            if self.rest.starts_with("||") || !self.take("|") {
                break;
            }
            self.take("&");
            self.rest = self.rest.trim_start();
            if !self.pipes_fail {
                raise(&mut commands[raised..], ExitShown::Nothing);
                raised = commands.len();
            }
        }
        self.inner = before;
        let stops = self.stops;
        let next = self.operator(&mut commands);
        Pipeline { commands, is_empty, fails, stops, next }
    }

    /// What comes next; adds the commands in the texts that a shell reads.
    fn operator(&mut self, commands: &mut Vec<ShellCommand>) -> Next {
        let next = match () {
            () if self.take("&&") => Next::And,
            () if self.take("||") => Next::Or,
            () if self.take("&") => Next::Background,
            () if self.take("\n") => {
                self.heredoc_texts(commands);
                Next::Other
            }
            () => {
                self.take(";");
                Next::Other
            }
        };
        if matches!(next, Next::And | Next::Or) {
            self.rest = self.rest.trim_start();
        }
        next
    }

    /// The words of a command, without what it reads from and writes to files.
    fn words(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => return words,
                Some('&') if !self.rest.starts_with("&>") => return words,
                Some('&') => {
                    self.next();
                }
                Some('#') => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                // A function: its body is a command.
                Some('(') if words.len() == 1 && self.take("()") => words.clear(),
                Some('(') => {
                    self.next();
                    self.inner_list(')');
                }
                Some('<' | '>') => self.redirection(),
                Some(_) => {
                    let word = self.word();
                    let is_number = word.bytes().all(|it| it.is_ascii_digit());
                    if !(is_number && self.rest.starts_with(['<', '>'])) {
                        words.push(word);
                    }
                }
            }
        }
    }

    fn redirection(&mut self) {
        let is_heredoc = !self.rest.starts_with("<<<") && self.take("<<");
        if is_heredoc {
            self.take("-");
            self.skip_blanks();
            let end = self.word().replace('\\', "");
            self.heredocs.push((end, false));
            return;
        }
        let is_text = self.take("<<<");
        while self.take("<") || self.take(">") {}
        if self.take("(") {
            return self.inner_list(')');
        }
        let _ = self.take("&") || self.take("|");
        self.skip_blanks();
        let word = self.word();
        if is_text {
            self.here_string = Some(word);
        }
    }

    /// Passes over the texts that commands of the line before read.
    fn heredoc_texts(&mut self, commands: &mut Vec<ShellCommand>) {
        for (end, is_of_shell) in std::mem::take(&mut self.heredocs) {
            let mut text = String::new();
            while !self.rest.is_empty() {
                let line = self.until('\n');
                if line.trim_matches(['\t', '\r']) == end {
                    break;
                }
                if is_of_shell {
                    text.extend([line, "\n"]);
                }
            }
            self.inner_commands(&text);
            commands.append(&mut self.inner);
        }
    }

    /// Commands whose output becomes a part of a word.
    fn inner_list(&mut self, end: char) {
        let heredocs = std::mem::take(&mut self.heredocs);
        let mut commands = self.list(Some(end));
        self.heredocs = heredocs;
        raise(&mut commands, ExitShown::Nothing);
        self.inner.append(&mut commands);
    }

    /// A word without its quotes.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(next) = self.peek() {
            if " \t\r\n;&|<>()".contains(next) {
                break;
            }
            self.next();
            match next {
                '\'' => word.push_str(self.until('\'')),
                '"' => self.quoted(&mut word),
                '\\' => self.escaped(&mut word),
                '`' => self.backquoted(&mut word),
                '$' => self.dollar(&mut word),
                other => word.push(other),
            }
        }
        word
    }

    fn quoted(&mut self, word: &mut String) {
        while let Some(next) = self.next() {
            match next {
                '"' => return,
                '`' => self.backquoted(word),
                '$' if self.peek() != Some('\'') => self.dollar(word),
                '\\' => match self.next() {
                    Some('\n') | None => {}
                    Some(escaped) => {
                        if !"$`\"\\".contains(escaped) {
                            word.push('\\');
                        }
                        word.push(escaped);
                    }
                },
                other => word.push(other),
            }
        }
    }

    /// What is behind a backslash. Before a letter it may be that of a path in Windows.
    fn escaped(&mut self, word: &mut String) {
        match self.next() {
            Some('\n') | None => {}
            Some(letter) if letter.is_alphanumeric() => word.extend(['\\', letter]),
            Some(other) => word.push(other),
        }
    }

    /// A backquote without a partner is an ordinary character, as for PowerShell.
    fn backquoted(&mut self, word: &mut String) {
        if let Some((text, rest)) = self.rest.split_once('`') {
            self.rest = rest;
            self.inner_commands(text);
            word.push_str(SUBSTITUTED);
        }
    }

    /// The commands in a text, of which the exit status says nothing.
    fn inner_commands(&mut self, text: &str) {
        let mut commands = self.inner_text(text).list(None);
        raise(&mut commands, ExitShown::Nothing);
        self.inner.append(&mut commands);
    }

    fn dollar(&mut self, word: &mut String) {
        match self.peek() {
            Some('(') => {
                self.next();
                self.inner_list(')');
                word.push_str(SUBSTITUTED);
            }
            Some('{') => {
                word.push('$');
                word.push_str(self.until('}'));
            }
            Some('\'') => {
                self.next();
                while let Some(next) = self.next().filter(|next| *next != '\'') {
                    word.extend(if next == '\\' { self.next() } else { Some(next) });
                }
            }
            _ => word.push('$'),
        }
    }

    fn inner_text<'i>(&self, text: &'i str) -> ShellParser<'i> {
        let rest = self.budget.get().checked_sub(text.len());
        self.budget.set(rest.unwrap_or_default());
        let depth = if rest.is_some() { self.depth } else { DEPTH_MAX };
        let budget = Rc::clone(&self.budget);
        ShellParser { depth, budget, ..ShellParser::new(text) }
    }

    /// The command of these words, and those in the text that it gives to a shell.
    fn command(&mut self, mut words: Vec<String>) -> Vec<ShellCommand> {
        let hides_exit = hides_exit(&words);
        let starts = starts(&words);
        let Some(first) = starts.first() else { return Vec::new() };
        if program_name(&words[*first]) == "set" {
            self.set(&words[first + 1..]);
        }
        let (mut commands, mut read) = (Vec::new(), Vec::new());
        for start in &starts {
            let rest = &words[start + 1..];
            let (options, at) = match rest.iter().position(|it| is_command_option(it)) {
                Some(at) if is_shell(program_name(&words[*start])) => {
                    (&rest[..=at], start + at + 2)
                }
                // The text that another program runs: `ssh host 'cd app && make'`.
                _ if starts.iter().max() == Some(start) && runs_text(&words[..*start], &starts) => {
                    (&[][..], *start)
                }
                _ => continue,
            };
            // A single word may be the first of an unquoted list.
            let text = words.get(at).filter(|text| text.contains(char::is_whitespace));
            // Behind two shells it is read once: nested, each shell would double the work.
            if let Some(text) = text.filter(|_| !read.contains(&at)) {
                read.push(at);
                let mut inner = self.inner_text(text);
                inner.set(options);
                commands.extend(inner.list(None));
            }
        }
        for word in &mut words {
            if word.contains(char::is_whitespace) {
                *word = word.replace(char::is_whitespace, INNER_SPACE.encode_utf8(&mut [0; 4]));
            }
        }
        commands.push(ShellCommand { words, starts, exit: ExitShown::Own });
        if hides_exit {
            raise(&mut commands, ExitShown::Nothing);
        }
        commands
    }

    /// The options of `set`, or of a shell.
    fn set(&mut self, options: &[String]) {
        for option in options {
            let letters = option.strip_prefix('-').filter(|it| !it.starts_with('-'));
            let is_stop = letters.is_some_and(|it| it.contains('e') && it.len() <= LETTERS_MAX);
            self.stops |= is_stop || option == "errexit";
            self.pipes_fail |= option == "pipefail";
        }
    }
}
