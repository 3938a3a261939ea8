//! Reads a word: its quotes, and the commands whose output becomes a part of it.

use super::parser::{DEPTH_MAX, ShellParser};

/// Replaces the output of a command in a word.
const SUBSTITUTED: &str = "$()";

impl ShellParser<'_> {
    /// A word without its quotes.
    pub(super) fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(next) = self.peek() {
            if " \t\r\n;&|<>()".contains(next) {
                break;
            }
            self.next();
            self.part(next, &mut word);
        }
        word
    }

    /// The part of a word that begins with this character, outside of quotes.
    fn part(&mut self, first: char, word: &mut String) {
        match first {
            '\'' => word.push_str(self.until('\'')),
            '"' => self.quoted(Some('"'), word),
            '\\' => self.escaped(word),
            '`' => self.backquoted(word),
            '$' if self.take("'") => self.escapes(word),
            '$' => self.dollar(word, false),
            other => word.push(other),
        }
    }

    /// The text until a quote, or all of the text that a command reads.
    pub(super) fn quoted(&mut self, end: Option<char>, word: &mut String) {
        while let Some(next) = self.next() {
            if Some(next) == end {
                return;
            }
            self.quoted_part(next, word);
        }
    }

    fn quoted_part(&mut self, first: char, word: &mut String) {
        match first {
            '`' => self.backquoted(word),
            '$' => self.dollar(word, true),
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

    /// What is behind a backslash. Before a letter it may be that of a path in Windows.
    fn escaped(&mut self, word: &mut String) {
        match self.next() {
            Some('\n') | None => {}
            Some(letter) if letter.is_alphanumeric() => word.extend(['\\', letter]),
            Some(other) => word.push(other),
        }
    }

    /// `$'…'`
    fn escapes(&mut self, word: &mut String) {
        while let Some(next) = self.next().filter(|next| *next != '\'') {
            word.extend(if next == '\\' { self.next() } else { Some(next) });
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

    fn dollar(&mut self, word: &mut String, is_quoted: bool) {
        if self.arithmetic() {
            return word.push_str(SUBSTITUTED);
        }
        if self.take("(") {
            self.inner_list(')');
            return word.push_str(SUBSTITUTED);
        }
        word.push('$');
        if !self.take("{") {
            return;
        }
        if self.depth == DEPTH_MAX {
            word.push_str(self.until('}'));
            return;
        }
        // `${NAME:-WORD}`
        self.depth += 1;
        while let Some(next) = self.next().filter(|next| *next != '}') {
            match next {
                '"' => self.quoted(Some('"'), word),
                _ if is_quoted => self.quoted_part(next, word),
                _ => self.part(next, word),
            }
        }
        self.depth -= 1;
    }
}
