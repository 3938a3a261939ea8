//! `((…))` and `$((…))`: arithmetic, where `<<` begins no heredoc.

use super::parser::{DEPTH_MAX, ShellParser};

impl ShellParser<'_> {
    /// Passes over `((…))`, if it comes next. Bash runs only the substitutions in it, PowerShell
    /// all of it.
    pub(super) fn arithmetic(&mut self) -> bool {
        let Some(text) = self.rest.strip_prefix("((") else { return false };
        let length = length(text);
        // Text that is searched for its end again and again is not read.
        if !self.spend(length.unwrap_or(text.len())) {
            self.depth = DEPTH_MAX;
            return false;
        }
        let Some(length) = length else { return false };
        // Otherwise two subshells begin: `((make) && ls)`.
        let Some(rest) = text[length..].strip_prefix("))") else { return false };
        self.rest = rest;
        self.inner_commands(&text[..length]);
        true
    }
}

/// The bytes in front of the `)` that closes the parenthesis before this text.
fn length(text: &str) -> Option<usize> {
    let mut rest = text.char_indices();
    let (mut depth, mut quote) = (0_usize, None);
    while let Some((at, next)) = rest.next() {
        match next {
            '\\' if quote != Some('\'') => drop(rest.next()),
            '\'' | '"' | '`' if quote.is_none() => quote = Some(next),
            _ if quote.is_some() => quote = quote.filter(|it| *it != next),
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}
