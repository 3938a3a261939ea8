//! Which text is an error: a line of a command's standard error, or text in place of events.
//!
//! The lists differ. On standard error a sign anywhere in a line shows that the line names the
//! error. Text on standard output may be an answer that mentions an error: it must begin or end as
//! an error does, and what begins as a stack or as the usage counts, too.

/// In a line that names an error, in small letters.
const SIGNS: [&str; 10] = [
    "error:",
    ": error ",
    "error[",
    "error]",
    "exception:",
    "panicked at",
    "fatal:",
    "permission denied",
    "access denied",
    "segmentation fault",
];

/// The begin of such a line.
const BEGINS: [&str; 5] = ["enoent: ", "error ", "npm error ", "fatal ", "exception "];

/// Lines that begin so say where to look, or how to call the command, in small letters.
const HINTS: [&str; 18] = [
    "(",
    "bun v",
    "for more ",
    "help:",
    "hint:",
    "node.js v",
    "note:",
    "npm err! a complete log",
    "npm err! code ",
    "npm error a complete log",
    "npm error code ",
    "run '",
    "run `",
    "see '",
    "see `",
    "try '",
    "usage",
    "warn",
];

/// How a line begins that says what the program does, in small letters.
const PROGRESS_BEGINS: [&str; 10] = [
    "checking",
    "connecting",
    "downloading",
    "fetching",
    "initializing",
    "installing",
    "loading",
    "reading",
    "retrying",
    "waiting",
];

/// How an error begins that is written in place of an answer, in small letters.
const FAILURE_BEGINS: [&str; 10] = [
    "api error",
    "error ",
    "exception in thread ",
    "fatal ",
    "npm err",
    "panic: ",
    "thread '",
    "traceback (most recent call last)",
    "uncaught ",
    "usage: ",
];

/// How the first word of an error ends: `TypeError: `.
const FAILURE_WORDS: [&str; 4] = ["error:", "exception:", "fatal:", "usage:"];

/// How an error of a shell or of the system ends.
const FAILURE_ENDS: [&str; 4] =
    ["command not found", ": not found", "no such file or directory", "permission denied"];

fn names_error(line: &str) -> bool {
    let small = line.to_ascii_lowercase();
    let is_named = BEGINS.iter().any(|begin| small.starts_with(begin))
        || SIGNS.iter().any(|sign| small.contains(sign));
    // What an object in several lines says is not in its first line.
    is_named && is_about_the_run(&small) && !small.trim_end().ends_with(['{', '['])
}

/// Whether a line says something about the run: it is neither a hint nor a heading, and does not
/// continue the line before it, as in a stack or in the usage.
pub(super) fn says_something(line: &str) -> bool {
    let small = line.to_ascii_lowercase();
    let text = small.trim_end();
    is_about_the_run(&small) && !text.ends_with([':', '{', '[']) && !text.ends_with(" at")
}

fn is_about_the_run(small: &str) -> bool {
    let is_text = small.starts_with(|it: char| !it.is_whitespace() && !"{}[]^".contains(it));
    let is_tagged = small.starts_with('[') && small.contains("] ");
    let is_hint = HINTS.iter().any(|hint| small.starts_with(hint));
    (is_text || is_tagged) && !is_hint && !is_progress(small)
}

/// Whether a line only says what begins: `Reading additional input from stdin...`.
fn is_progress(line: &str) -> bool {
    let text = line.trim();
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    PROGRESS_BEGINS.contains(&&*first) && has_end(text, &["...", "…"])
}

/// The first line that names an error, else the last one that says something, else the last that is
/// not about progress. Where it ends in a colon, the next line is what it announces; and an
/// indented line after it may be the message.
pub(super) fn error_line(lines: &[String]) -> Option<String> {
    let first = lines.iter().position(|line| names_error(line));
    let at = first.or_else(|| lines.iter().rposition(|line| says_something(line)));
    let at = at.or_else(|| lines.iter().rposition(|line| !is_progress(line)))?;
    let line = lines[at].trim();
    let next = lines.get(at + 1).filter(|_| line.ends_with(':')).map(|next| next.trim());
    let indented = lines[at + 1..].iter().take_while(|line| line.starts_with(' '));
    let message = next.is_none().then(|| indented.map(|line| line.trim()).find_map(message_of));
    Some(match (next, message.flatten()) {
        (Some(next), _) => format!("{line} {next}"),
        (None, Some(message)) => format!("{line}: {message}"),
        (None, None) => line.to_owned(),
    })
}

/// The text in a line such as `provider_message: text`.
fn message_of(line: &str) -> Option<&str> {
    let (key, text) = line.split_once("message: ")?;
    let is_key = key.is_empty() || key.ends_with('_') && !key.contains(' ');
    let text = text.trim_matches([' ', ',', '"', '\'']);
    (is_key && !text.is_empty()).then_some(text)
}

/// Whether the last line of a text says what went wrong, and not the first one.
pub(super) fn is_trace(text: &str) -> bool {
    text.starts_with("Traceback (")
}

/// Whether a text looks like an error, and not like an answer.
pub(super) fn is_failure(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let first = small.split_whitespace().next().unwrap_or_default();
    // `zsh: command not found: agent`
    let is_of_shell = small.contains(": command not found: ") || has_end(&small, &FAILURE_ENDS);
    is_of_shell
        || has_end(first, &FAILURE_WORDS)
        || FAILURE_BEGINS.iter().any(|begin| small.starts_with(begin))
}

fn has_end(text: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::is_failure;

    #[test]
    fn an_error_is_no_answer() {
        for (text, expected) in [
            ("bash: agent: command not found", true),
            ("sh: 1: agent: not found", true),
            ("zsh: command not found: agent", true),
            ("Error: listen EADDRINUSE: address already in use :::3000", true),
            ("ModuleNotFoundError: No module named 'x'", true),
            ("Traceback (most recent call last):", true),
            ("Usage: agent [options]", true),
            ("I fixed the error: the sum was wrong.", false),
            ("API Error: 529 Overloaded", true),
            ("Done.", false),
            ("Errors are now shown.", false),
        ] {
            assert_eq!(is_failure(text), expected, "{text}");
        }
    }
}
