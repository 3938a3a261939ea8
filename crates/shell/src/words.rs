//! Reads the words of a command.

use super::parser::ShellParser;
use super::wrappers::without_keywords;

impl ShellParser<'_> {
    /// The words of a command, without what it reads from and writes to files.
    pub(super) fn words(&mut self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
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
                Some('(') if has_values(&words) => self.values(),
                Some('(') if self.rest.starts_with("()") && is_function_name(&words) => {
                    self.take("()");
                    words.clear();
                    self.function_body();
                }
                Some('{') if names_function(&words) => {
                    words.clear();
                    self.function_body();
                }
                // Its first pattern: `case $x in (a) make;; esac`.
                Some('(') if begins_case(&words) => return words,
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

    /// A function may never be called.
    fn function_body(&mut self) {
        self.rest = self.rest.trim_start();
        if self.take("{") {
            self.inner_list('}');
        }
    }

    /// `(a b)` of `x=(a b)`, or a pattern in `[[ … ]]`.
    fn values(&mut self) {
        self.next();
        while let Some(next) = self.peek().filter(|next| *next != ')') {
            if next.is_whitespace() || ";&|<>(".contains(next) {
                self.next();
            } else {
                self.word();
            }
        }
        self.next();
    }

    fn redirection(&mut self) {
        if !self.rest.starts_with("<<<") && self.take("<<") {
            return self.heredoc();
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
}

fn begins_case(words: &[String]) -> bool {
    matches!(words, [.., first, _, last] if first == "case" && last == "in")
}

/// Whether `(` begins no list of commands: `x=(a b)`, `[[ $x =~ (a|b) ]]`.
fn has_values(words: &[String]) -> bool {
    // PowerShell: `$x = (make)`.
    let is_name = |name: &str| !name.is_empty() && !name.starts_with('$');
    words.last().and_then(|word| word.strip_suffix('=')).is_some_and(is_name)
        || without_keywords(words).first().is_some_and(|word| word == "[[")
}

/// `function NAME`
fn names_function(words: &[String]) -> bool {
    matches!(without_keywords(words), [first, _] if first == "function")
}

/// What `()` may follow.
fn is_function_name(words: &[String]) -> bool {
    without_keywords(words).len() == 1 || names_function(words)
}
