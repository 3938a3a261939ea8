//! `<< END`: the lines until `END` are what a command reads.

use super::parser::ShellParser;
use super::{ExitShown, INNER_SPACE, ShellCommand};

#[derive(Debug)]
pub(super) struct Heredoc {
    end: String,
    /// Whether a shell runs the text.
    pub(super) is_run: bool,
    /// The interpreter that runs the text.
    pub(super) interpreter: Option<String>,
    /// Whether the shell replaces `$(…)` in the text: it does unless a part of the end is quoted.
    is_expanded: bool,
}

impl ShellParser<'_> {
    /// What is behind `<<`.
    pub(super) fn heredoc(&mut self) {
        self.take("-");
        self.skip_blanks();
        let before = self.rest;
        let end = self.word().replace('\\', "");
        let written = &before[..before.len() - self.rest.len()];
        let is_expanded = !written.contains(['\'', '"', '\\']);
        self.heredocs.push(Heredoc { end, is_run: false, interpreter: None, is_expanded });
    }

    /// Passes over the texts that commands of the line before read, and returns them.
    pub(super) fn heredoc_texts(&mut self, commands: &mut Vec<ShellCommand>) -> String {
        let mut all = String::new();
        for heredoc in std::mem::take(&mut self.heredocs) {
            let mut text = String::new();
            while !self.rest.is_empty() {
                let line = self.until('\n');
                if line.trim_matches(['\t', '\r']) == heredoc.end {
                    break;
                }
                text.extend([line, "\n"]);
            }
            if let Some(interpreter) = heredoc.interpreter {
                let code = text.replace(char::is_whitespace, INNER_SPACE.encode_utf8(&mut [0; 4]));
                commands.push(ShellCommand::new(
                    vec![interpreter, code],
                    vec![0],
                    ExitShown::Nothing,
                ));
            }
            if heredoc.is_run {
                self.inner_commands(&text);
            } else if heredoc.is_expanded {
                let mut inner = self.inner_text(&text);
                inner.quoted(None, &mut String::new());
                self.inner.append(&mut inner.inner);
            }
            commands.append(&mut self.inner);
            all += &text;
        }
        all
    }
}
