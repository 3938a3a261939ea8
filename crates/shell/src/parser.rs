//! Reads a line for a shell: as much of the grammar of POSIX shells as agents use.

use std::cell::Cell;
use std::rc::Rc;

use super::blocks::{OpenBlocks, has_block_end, has_braces};
use super::code::reads_code;
use super::ending::PipelineEnd;
use super::functions::Functions;
use super::heredoc::Heredoc;
use super::list::{Next, Pipeline, judged, raise};
use super::options::ShellOptions;
use super::own_exit::hides_exit;
use super::pipes::{printed, reads_commands};
use super::wrappers::{
    WORDS_MAX, command_option, is_list, is_powershell, is_shell, runs_text, starts, without_prefix,
};
use super::{ExitShown, INNER_SPACE, ShellCommand, program_name};

pub(super) const DEPTH_MAX: usize = 12;

/// The texts inside a line are read up to so many times its length.
const BUDGET: usize = 16;

/// The commands of a pipeline, as far as they are read.
#[derive(Default)]
struct Pipe {
    commands: Vec<ShellCommand>,
    ending: PipelineEnd,
    /// What the last command prints, if that is known.
    text: Option<String>,
    /// The heredocs that were passed over: `cat << E |`.
    passed: String,
    /// How many heredocs are those of earlier commands.
    heredocs: usize,
    /// How many of the commands are known to be in front of `|`.
    raised: usize,
}

pub(super) struct ShellParser<'t> {
    pub(super) rest: &'t str,
    pub(super) depth: usize,
    pub(super) options: ShellOptions,
    has_blocks: bool,
    /// Whether it may have blocks of PowerShell.
    pub(super) has_brace_blocks: bool,
    /// How many blocks of PowerShell the words of the command open.
    pub(super) braces: isize,
    pub(super) is_behind_loop: bool,
    /// Their texts begin in the next line.
    pub(super) heredocs: Vec<Heredoc>,
    /// The text that the command reads: `<<< text`.
    pub(super) here_string: Option<String>,
    /// Whether the output of the command goes to a file that is kept.
    pub(super) redirects: bool,
    pub(super) functions: Functions,
    /// Commands inside of words.
    pub(super) inner: Vec<ShellCommand>,
    /// What the last command or list does to the shell: `{ echo no; exit 1; }`.
    pub(super) ending: PipelineEnd,
    /// How many bytes of texts inside of others may still be read: each text may be read in
    /// several ways, and so may the texts in it.
    pub(super) budget: Rc<Cell<usize>>,
}

impl<'t> ShellParser<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        let has_blocks = has_block_end(line);
        Self {
            rest: line,
            depth: 0,
            options: ShellOptions::default(),
            has_blocks,
            has_brace_blocks: !has_blocks && has_braces(line),
            braces: 0,
            is_behind_loop: false,
            heredocs: Vec::new(),
            here_string: None,
            redirects: false,
            functions: Functions::default(),
            inner: Vec::new(),
            ending: PipelineEnd::None,
            budget: Rc::new(Cell::new(line.len().saturating_mul(BUDGET))),
        }
    }

    pub(super) fn list(&mut self, end: Option<char>) -> Vec<ShellCommand> {
        if self.depth == DEPTH_MAX {
            self.ending = PipelineEnd::None;
            return vec![ShellCommand::unread(std::mem::take(&mut self.rest))];
        }
        self.depth += 1;
        let braces = std::mem::take(&mut self.braces);
        let mut pipelines: Vec<Pipeline> = Vec::new();
        let (mut blocks, mut before_block) = (OpenBlocks::default(), Next::Other);
        let mut before_list = self.options;
        loop {
            self.skip_blanks();
            match self.peek() {
                None => break,
                Some(next) if Some(next) == end && !blocks.has_inside(next) => {
                    self.next();
                    break;
                }
                // The end of a pattern, or one without a start.
                Some(')') => {
                    self.next();
                }
                Some(_) => {
                    let (options, was_in_block) = (self.options, blocks.any());
                    let before = pipelines.last().map_or(Next::Other, |it| it.next);
                    if !was_in_block {
                        before_block = before;
                    }
                    let mut pipeline = self.pipeline(&mut blocks);
                    pipeline.before = if blocks.any() { before } else { before_block };
                    if !before.depends() {
                        before_list = options;
                    }
                    if pipeline.next == Next::Background {
                        self.options = before_list;
                    } else if blocks.any() || before.depends() {
                        self.options = self.options.and(options);
                    }
                    pipelines.push(pipeline);
                }
            }
        }
        let mut piped = blocks.take_piped();
        raise(&mut piped, ExitShown::Nothing);
        if let Some(last) = pipelines.last_mut() {
            last.commands.append(&mut piped);
        }
        self.depth -= 1;
        self.braces = braces;
        self.ending = PipelineEnd::of_list(&pipelines);
        judged(pipelines)
    }

    fn pipeline(&mut self, blocks: &mut OpenBlocks) -> Pipeline {
        let (start, options) = (self.rest, self.options);
        let before = std::mem::take(&mut self.inner);
        let mut pipe = Pipe { heredocs: self.heredocs.len(), ..Pipe::default() };
        let mut is_pipe = false;
        self.skip_blanks();
        self.skip_time();
        let (is_inverted, was_in_block) = (self.take("! "), blocks.any());
        loop {
            self.skip_blanks();
            self.skip_time();
            self.command_or_group(&mut pipe, blocks);
            pipe.commands.append(&mut self.inner);
            if self.rest.starts_with("||") || !self.take("|") {
                break;
            }
            self.take("&");
            pipe.passed += &self.skip_line_ends(&mut pipe.commands);
            pipe.heredocs = pipe.heredocs.min(self.heredocs.len());
            // Each of its commands has its own shell.
            (is_pipe, self.options) = (true, options);
            if !self.options.pipes_fail {
                raise(&mut pipe.commands[pipe.raised..], ExitShown::Nothing);
                pipe.raised = pipe.commands.len();
            }
        }
        self.inner = before;
        let Pipe { mut commands, mut ending, .. } = pipe;
        if is_pipe {
            self.options = options;
            ShellCommand::mark_log_readers(&mut commands);
        }
        if is_pipe || blocks.is_piped() {
            ending = ending.of_subshell();
        }
        let is_in_block = blocks.any();
        if !is_in_block {
            commands.append(&mut blocks.take_piped());
        }
        if !was_in_block {
            blocks.is_inverted = is_inverted;
        }
        if is_inverted || !is_in_block && blocks.is_inverted {
            ending = ending.without_failure();
            raise(&mut commands, ExitShown::Nothing);
        }
        let is_empty = is_blank(&start[..start.len() - self.rest.len()]);
        let next = self.operator(&mut commands);
        if next.depends() {
            commands.iter_mut().for_each(ShellCommand::ignore_stops);
        }
        if is_in_block {
            raise(&mut commands, ExitShown::Nothing);
            ending = ending.without_failure();
        }
        let (stops, before) = (self.options.stops, Next::Other);
        Pipeline { commands, is_empty, ending, is_in_block, stops, before, next }
    }

    /// Takes the keywords with which a command begins; passes over those before a group.
    fn keywords(&mut self, pipe: &mut Pipe, blocks: &mut OpenBlocks, is_before_group: bool) {
        if !self.has_blocks {
            return;
        }
        let was_in_block = blocks.any();
        if is_before_group {
            let group = self.without_keywords_before_group();
            blocks.observe(&self.rest[..self.rest.len() - group.len()]);
            self.rest = group;
        } else {
            blocks.observe(self.rest);
        }
        if blocks.any() && !was_in_block {
            pipe.raised = 0;
            blocks.add_piped(&mut pipe.commands);
        }
    }

    /// One command of a pipe, or a group.
    fn command_or_group(&mut self, pipe: &mut Pipe, blocks: &mut OpenBlocks) {
        self.keywords(pipe, blocks, true);
        while let Some((group, ending)) = self.group() {
            pipe.commands.extend(group);
            (pipe.ending, pipe.text) = (ending, None);
            let ends_block = self.has_blocks && self.is_at_keyword();
            // `(a)` of a `case`.
            if ends_block || !self.is_at_word() {
                if !ends_block {
                    let words = self.words();
                    pipe.commands.extend(self.command(words));
                }
                // What a group reads and prints is not followed.
                (self.here_string, pipe.ending) = (None, ending);
                return;
            }
        }
        self.keywords(pipe, blocks, false);
        let words = self.words();
        let braces = std::mem::take(&mut self.braces);
        if self.has_brace_blocks {
            blocks.observe_braces(braces);
        }
        if !words.is_empty() {
            // Perhaps behind `time`.
            let mut first = words.iter().take(2);
            self.is_behind_loop = !self.has_blocks && first.any(|it| it == "for" || it == "select");
        }
        let read = self.here_string.take().or(pipe.text.take());
        if reads_commands(&words) {
            self.run_text(&read.unwrap_or_default(), &mut pipe.heredocs);
            self.inner_commands(&std::mem::take(&mut pipe.passed));
        } else if let Some(interpreter) = reads_code(&words) {
            let heredocs = self.heredocs.iter_mut().skip(pipe.heredocs);
            heredocs.for_each(|it| it.interpreter = Some(interpreter.to_owned()));
        } else {
            pipe.text = printed(&words, read);
        }
        pipe.commands.extend(self.command(words));
        pipe.ending = self.ending;
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
        if next.depends() {
            self.skip_line_ends(commands);
        }
        next
    }

    /// Passes over the ends of lines behind `&&` and such; returns the heredocs between them.
    fn skip_line_ends(&mut self, commands: &mut Vec<ShellCommand>) -> String {
        let mut texts = String::new();
        loop {
            self.skip_blanks();
            self.skip_comment();
            if !self.take("\n") {
                return texts;
            }
            texts += &self.heredoc_texts(commands);
        }
    }

    /// The command of these words, and those in the text that it gives to a shell.
    fn command(&mut self, mut words: Vec<String>) -> Vec<ShellCommand> {
        let redirects = std::mem::take(&mut self.redirects);
        self.ending = PipelineEnd::of(&words);
        if self.functions.may_end_shell(&words) {
            self.ending = PipelineEnd::Exits;
        }
        let hides_exit = hides_exit(&words) || self.functions.are_called(&words);
        let starts = starts(&words);
        if starts.is_empty() {
            return Vec::new();
        }
        match without_prefix(&words) {
            [set, words @ ..] if set == "set" => self.options.set(words),
            [shopt, words @ ..] if shopt == "shopt" => self.options.shopt(words),
            _ => {}
        }
        let (mut commands, mut read) = (Vec::new(), Vec::new());
        let eval = words.iter().take(WORDS_MAX).position(|word| word == "eval");
        let eval = eval.filter(|at| without_prefix(&words[..=*at]).is_empty());
        let arguments = eval.map_or(&[][..], |at| &words[at + 1..]);
        if arguments.len() > 1 {
            let text = arguments.join(" ");
            commands.extend(self.evaluated(&text));
        }
        for start in &starts {
            let rest = &words[start + 1..];
            let (options, at) = match command_option(program_name(&words[*start]), rest) {
                Some(at) if is_shell(program_name(&words[*start])) => {
                    let has_dashes = rest.get(at + 1).is_some_and(|word| word == "--");
                    let is_powershell = is_powershell(program_name(&words[*start]));
                    let options = if is_powershell { &[][..] } else { &rest[..=at] };
                    (options, start + at + 2 + usize::from(has_dashes))
                }
                // The text that another program runs: `ssh host 'cd app && make'`.
                _ if (is_list(&words[*start]) || starts.iter().max() == Some(start))
                    && runs_text(&words[..*start], &starts) =>
                {
                    (&[][..], *start)
                }
                _ => continue,
            };
            // A single word may be the first of an unquoted list.
            let text = words.get(at).filter(|text| is_list(text));
            // Behind two shells it is read once: nested, each shell would double the work.
            if let Some(text) = text.filter(|_| !read.contains(&at)) {
                read.push(at);
                if eval.is_some() {
                    commands.extend(self.evaluated(text));
                    continue;
                }
                let mut inner = self.inner_text(text);
                inner.options.set(options);
                commands.extend(inner.list(None));
                commands.iter_mut().for_each(ShellCommand::end_shell);
            }
        }
        for word in &mut words {
            if word.contains(char::is_whitespace) {
                *word = word.replace(char::is_whitespace, INNER_SPACE.encode_utf8(&mut [0; 4]));
            }
        }
        commands
            .push(ShellCommand { redirects, ..ShellCommand::new(words, starts, ExitShown::Own) });
        if hides_exit {
            raise(&mut commands, ExitShown::Nothing);
        }
        commands
    }
}

/// Whether it has nothing but a comment.
fn is_blank(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || text.starts_with('#')
}
