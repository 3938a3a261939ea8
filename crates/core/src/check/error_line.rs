//! Which line of a command's standard error says what went wrong.

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
const BEGINS: [&str; 4] = ["error ", "npm error ", "fatal ", "exception "];

/// Lines that begin so say where to look, or how to call the command, in small letters.
const HINTS: [&str; 17] = [
    "(",
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

fn names_error(line: &str) -> bool {
    let small = line.to_ascii_lowercase();
    let is_named = BEGINS.iter().any(|begin| small.starts_with(begin))
        || SIGNS.iter().any(|sign| small.contains(sign));
    // What an object in several lines says is not in its first line.
    is_named && is_about_the_run(&small) && !small.trim_end().ends_with(['{', '['])
}

/// Whether a line says something about the run: it is no hint, no heading and no part of the line
/// before it, as of a stack or of the usage.
pub(crate) fn says_something(line: &str) -> bool {
    let small = line.to_ascii_lowercase();
    is_about_the_run(&small) && !small.trim_end().ends_with([':', '{', '['])
}

fn is_about_the_run(small: &str) -> bool {
    let is_text = small.starts_with(|it: char| !it.is_whitespace() && !"{}[]^".contains(it));
    let is_tagged = small.starts_with('[') && small.contains("] ");
    (is_text || is_tagged) && !HINTS.iter().any(|hint| small.starts_with(hint))
}

/// The first line that names an error, else the last one that says something, else the last. Where
/// it ends in a colon, the next line is what it announces; and an indented line after it may be the
/// message.
pub(super) fn error_line(lines: &[String]) -> Option<String> {
    let first = lines.iter().position(|line| names_error(line));
    let at = first.or_else(|| lines.iter().rposition(|line| says_something(line)));
    let at = at.or(lines.len().checked_sub(1))?;
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
