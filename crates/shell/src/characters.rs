//! The characters of a line for a shell, one after the other.

use super::parser::ShellParser;

impl<'t> ShellParser<'t> {
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The text until this end, which is left out.
    pub(super) fn until(&mut self, end: char) -> &'t str {
        let (text, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        text
    }

    /// To the end of the line, if a comment begins here.
    pub(super) fn skip_comment(&mut self) {
        if self.peek() == Some('#') {
            self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..];
        }
    }

    /// Blanks, ends of lines, and comments.
    pub(super) fn skip_space(&mut self) {
        while self.rest.starts_with(char::is_whitespace) || self.rest.starts_with('#') {
            self.rest = self.rest.trim_start();
            self.skip_comment();
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r']);
            let before = self.rest;
            // A backquote is that of PowerShell.
            let joins = self.take("\\") || self.has_brace_blocks && self.take("`");
            if !joins || !self.take("\n") && !self.take("\r\n") {
                self.rest = before;
                return;
            }
        }
    }
}
