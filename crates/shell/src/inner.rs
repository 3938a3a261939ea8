//! Reads the texts with commands inside a line.

use std::rc::Rc;

use super::list::raise;
use super::parser::{DEPTH_MAX, ShellParser};
use super::wrappers::{command_option, is_shell};
use super::{ExitShown, ShellCommand, program_name};

/// The line that a shell runs, if this line is nothing but a shell and its text: `make` of
/// `bash -lc make`.
pub fn inner_line(line: &str) -> Option<String> {
    let mut parser = ShellParser::new(line);
    let words = parser.words();
    let (program, arguments) = words.split_first()?;
    let program = program_name(program);
    let at = command_option(program, arguments).filter(|_| is_shell(program))?;
    let text = arguments.get(at + 1).filter(|_| arguments.len() == at + 2)?;
    parser.rest.trim().is_empty().then(|| text.clone())
}

impl ShellParser<'_> {
    /// Commands whose output becomes a part of a word.
    pub(super) fn inner_list(&mut self, end: char) {
        let (heredocs, options) = (std::mem::take(&mut self.heredocs), self.options);
        let redirects = std::mem::take(&mut self.redirects);
        let mut commands = self.list(Some(end));
        (self.heredocs, self.options, self.redirects) = (heredocs, options, redirects);
        raise(&mut commands, ExitShown::Nothing);
        self.inner.append(&mut commands);
    }

    /// The commands in a text, of which the exit status says nothing.
    pub(super) fn inner_commands(&mut self, text: &str) {
        let mut commands = self.inner_text(text).list(None);
        raise(&mut commands, ExitShown::Nothing);
        self.inner.append(&mut commands);
    }

    pub(super) fn inner_text<'i>(&self, text: &'i str) -> ShellParser<'i> {
        let depth = if self.spend(text.len()) { self.depth } else { DEPTH_MAX };
        let budget = Rc::clone(&self.budget);
        let mut inner = ShellParser::new(text);
        (inner.depth, inner.budget) = (depth, budget);
        inner
    }

    /// Whether so many bytes may still be read.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let rest = self.budget.get().checked_sub(bytes);
        self.budget.set(rest.unwrap_or_default());
        rest.is_some()
    }

    /// The commands in a text for this shell.
    pub(super) fn evaluated(&mut self, text: &str) -> Vec<ShellCommand> {
        let mut inner = self.inner_text(text);
        inner.options = self.options;
        let mut commands = inner.list(None);
        (self.options, self.ending) = (inner.options, inner.ending);
        self.end_group(&mut commands);
        commands
    }

    /// A shell runs what it reads: this text, and the heredocs from this one on.
    pub(super) fn run_text(&mut self, text: &str, heredocs: &mut usize) {
        self.heredocs.iter_mut().skip(*heredocs).for_each(|it| it.is_run = true);
        *heredocs = self.heredocs.len();
        self.inner_commands(text);
    }
}
