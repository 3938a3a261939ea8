//! Reads `( … )` and `{ …; }`.

use super::ending::PipelineEnd;
use super::list::raise;
use super::parser::ShellParser;
use super::{ExitShown, ShellCommand};

impl<'t> ShellParser<'t> {
    /// `( … )` or `{ …; }`, if one comes next.
    pub(super) fn group(&mut self) -> Option<(Vec<ShellCommand>, PipelineEnd)> {
        if !begins_group(self.rest) {
            return None;
        }
        let is_braces = self.rest.starts_with('{');
        if self.arithmetic() {
            return Some((Vec::new(), PipelineEnd::None));
        }
        let options = self.options;
        // `for i in a b; { make; }`
        let is_behind_loop = std::mem::take(&mut self.is_behind_loop);
        self.next();
        let mut commands = self.list(Some(if is_braces { '}' } else { ')' }));
        let mut ending = self.ending;
        if is_braces && is_behind_loop {
            raise(&mut commands, ExitShown::Nothing);
        }
        if is_braces {
            self.end_group(&mut commands);
        } else {
            (ending, self.options) = (ending.of_subshell(), options);
        }
        Some((commands, ending))
    }

    /// `time`, if no program comes next.
    pub(super) fn skip_time(&mut self) {
        let is_blank = |it: char| it == ' ' || it == '\t';
        let mut behind = self.rest;
        while let Some(rest) = behind.strip_prefix("time").filter(|it| it.starts_with(is_blank)) {
            let rest = rest.trim_start_matches(is_blank);
            behind = rest.strip_prefix("-p ").unwrap_or(rest).trim_start_matches(is_blank);
        }
        let begins_other = ["(", "{ ", "{\n", "! "].iter().any(|it| behind.starts_with(it));
        self.rest = if begins_other { behind } else { self.rest };
    }

    /// Of a list in the same shell.
    pub(super) fn end_group(&self, commands: &mut [ShellCommand]) {
        if self.options.stops {
            commands.iter_mut().for_each(ShellCommand::stop_only_where_last);
        }
    }

    /// Whether a word comes next that is not the number of a redirection.
    pub(super) fn is_at_word(&mut self) -> bool {
        self.skip_blanks();
        let rest = self.rest.trim_start_matches(|it: char| it.is_ascii_digit());
        !rest.is_empty() && !rest.starts_with(['\n', ';', '|', '&', '<', '>', ')', '}', '#'])
    }

    /// Whether a keyword comes next that no `;` need separate from a group: `if ( a ) then`.
    pub(super) fn is_at_keyword(&mut self) -> bool {
        self.skip_blanks();
        let ends_word = |it: char| it.is_whitespace() || ";&|()<>".contains(it);
        let end = self.rest.find(ends_word).unwrap_or(self.rest.len());
        ["do", "done", "elif", "else", "esac", "fi", "then"].contains(&&self.rest[..end])
    }

    /// The rest of the line without the keywords before a group: `then { make; }`.
    pub(super) fn without_keywords_before_group(&self) -> &'t str {
        let mut rest = self.rest;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\r']);
            let end = rest.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            match word {
                "do" | "elif" | "else" | "if" | "then" | "until" | "while" => rest = behind,
                _ if begins_group(rest) => return rest,
                _ => return self.rest,
            }
        }
    }
}

fn begins_group(text: &str) -> bool {
    text.starts_with("{ ") || text.starts_with("{\n") || text.starts_with('(')
}
