//! Reads the words of a command.

use super::parser::ShellParser;
use super::wrappers::{has, is_assignment, without_keywords, without_prefix};
use super::writes::is_kept;

/// Programs whose arguments may be variables with lists of values.
const DECLARATIONS: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Words of PowerShell before a block.
const BLOCKS: &[&str] = &[
    "begin", "catch", "do", "else", "elseif", "end", "finally", "for", "foreach", "if", "process",
    "switch", "trap", "try", "while",
];

impl ShellParser<'_> {
    /// The words of a command, without what it reads from and writes to files.
    pub(super) fn words(&mut self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        loop {
            let before = self.rest;
            self.skip_blanks();
            let begins_word = words.is_empty() || before.len() > self.rest.len();
            match self.peek() {
                Some('\n') if names_function(&words) && has_body(self.rest) => {
                    self.function_body(&mut words);
                }
                Some('\n')
                    if self.has_brace_blocks && heads_block(&words) && self.skip_to_body() => {}
                None | Some('\n' | ';' | '|' | ')') => return words,
                Some('&') if !self.rest.starts_with("&>") => return words,
                Some('&') => {
                    self.next();
                }
                Some('#') if begins_word => self.skip_comment(),
                Some('(') if is_test(&words) => self.values(false),
                Some('(') if begins_array(&words) => self.values(true),
                Some('(') if self.rest.starts_with("()") && is_function_name(&words) => {
                    self.take("()");
                    self.function_body(&mut words);
                }
                Some('{') if names_function(&words) => self.function_body(&mut words),
                // Its first pattern: `case $x in (a) make;; esac`.
                Some('(') if begins_case(&words) => return words,
                // `for ((i = 0; i < 3; i++))`
                Some('(') if self.arithmetic() => {}
                Some('(') => {
                    self.next();
                    self.inner_list(')');
                }
                Some('<' | '>') => self.redirection(),
                Some(_) => {
                    let word = self.word();
                    // `2> log`, `{file}> log`
                    let names_file = word.bytes().all(|it| it.is_ascii_digit())
                        || word.starts_with('{') && word.ends_with('}');
                    if names_file && self.rest.starts_with(['<', '>']) {
                        let redirects = self.redirects;
                        self.redirection();
                        // `2> log` is not the output.
                        self.redirects &= redirects || word == "1";
                    } else {
                        self.braces += opened_braces(&before[..before.len() - self.rest.len()]);
                        words.push(word);
                    }
                }
            }
        }
    }

    /// Moves to `{` if it comes next, even in a later line; returns whether it does.
    fn skip_to_body(&mut self) -> bool {
        let before = self.rest;
        self.skip_space();
        let has_body = self.rest.starts_with('{');
        if !has_body {
            self.rest = before;
        }
        has_body
    }

    /// The body of a function, which may never be called. The last of the words is its name.
    fn function_body(&mut self, words: &mut Vec<String>) {
        self.skip_space();
        let start = self.rest;
        if self.take("{") {
            self.inner_list('}');
        } else if self.take("(") {
            self.inner_list(')');
        }
        if let Some(name) = words.last() {
            self.functions.define(name, &start[..start.len() - self.rest.len()]);
        }
        words.clear();
    }

    /// `(a b)` of `x=(a b)`, or a pattern in `[[ … ]]`.
    fn values(&mut self, has_comments: bool) {
        let mut depth = 0;
        loop {
            let before = self.rest;
            self.rest = self.rest.trim_start();
            let begins_word = has_comments || before.len() > self.rest.len();
            match self.peek() {
                None => return,
                Some('#') if begins_word => self.skip_comment(),
                Some('<' | '>') if self.rest[1..].starts_with('(') => self.redirection(),
                Some(sign) if ";&|<>()".contains(sign) => {
                    self.next();
                    depth += i32::from(sign == '(') - i32::from(sign == ')');
                    if depth == 0 {
                        return;
                    }
                }
                Some(_) => drop(self.word()),
            }
        }
    }

    fn redirection(&mut self) {
        if !self.rest.starts_with("<<<") && self.take("<<") {
            return self.heredoc();
        }
        let is_text = self.take("<<<");
        let is_output = self.rest.starts_with('>');
        while self.take("<") || self.take(">") {}
        if self.take("(") {
            return self.inner_list(')');
        }
        let is_number = self.take("&");
        self.take("|");
        self.skip_blanks();
        let word = self.word();
        self.redirects |= is_output && !is_number && is_kept(&word);
        if is_text {
            self.here_string = Some(word);
        }
    }
}

/// `if (…)` of PowerShell, whose block may begin in another line, or `} else`.
fn heads_block(words: &[String]) -> bool {
    words.iter().find(|word| *word != "}").is_some_and(|first| has(BLOCKS, first))
}

/// How many blocks of PowerShell a word opens: `{`, `@{`. One that ends them counts negative.
fn opened_braces(written: &str) -> isize {
    let (mut opened, mut quote, mut before) = (0, None, ' ');
    for sign in written.chars() {
        match sign {
            _ if before == '`' => {}
            '\'' | '"' if quote.is_none() => quote = Some(sign),
            _ if quote.is_some() => quote = quote.filter(|it| *it != sign),
            '{' => opened += 1,
            '}' => opened -= 1,
            _ => {}
        }
        before = sign;
    }
    opened
}

fn begins_case(words: &[String]) -> bool {
    matches!(words, [.., first, _, last] if first == "case" && last == "in")
}

/// `[[`
fn is_test(words: &[String]) -> bool {
    without_keywords(words).first().is_some_and(|first| first == "[[")
}

/// Whether `(` begins no list of commands: `x=(a b)`.
fn begins_array(words: &[String]) -> bool {
    let [before @ .., last] = without_keywords(words) else { return false };
    let declares = |first: &String| DECLARATIONS.contains(&first.as_str());
    last.ends_with('=')
        && is_assignment(&last.replacen("+=", "=", 1))
        && (before.iter().all(|it| is_assignment(it)) || before.first().is_some_and(declares))
}

/// Whether a body follows the name of a function in another line.
fn has_body(rest: &str) -> bool {
    rest.trim_start().starts_with(['{', '('])
}

/// `function NAME`
fn names_function(words: &[String]) -> bool {
    matches!(without_prefix(words), [first, _] if first == "function")
}

/// What `()` may follow.
fn is_function_name(words: &[String]) -> bool {
    without_prefix(words).len() == 1 || names_function(words)
}
