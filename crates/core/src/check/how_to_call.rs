//! What an agent was called without, if it writes text and no event.

use crate::rules::escape::{clipped, visible};

/// What is missing if it is not known which agent it is.
const EVENTS_FLAG: &str = "call the agent with its flag for events";

/// What a text shows that is an error.
const FAILED: &str = "the agent failed before its first event";

/// Longest text that is quoted in place of events, in bytes.
const TEXT_QUOTED_BYTES_MAX: usize = 120;

/// A format of events, by the names that agents give to theirs.
const FORMAT: &str = "json";

/// How an error begins, in small letters.
const BEGINS: [&str; 9] = [
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
const WORDS: [&str; 4] = ["error:", "exception:", "fatal:", "usage:"];

/// How an error of a shell or of the system ends.
const ENDS: [&str; 4] =
    ["command not found", ": not found", "no such file or directory", "permission denied"];

/// The note on a stream without events: its text, and how to call the agent. `command` is how the
/// agent writes events, and `arguments` are those that it was called with.
pub(super) fn how_to_call(
    command: Option<&str>,
    arguments: &[String],
    text: Option<&str>,
) -> Option<String> {
    let has_failed = text.is_some_and(is_failure);
    let text = text.map(|text| format!("`{}`", clipped(&visible(text), TEXT_QUOTED_BYTES_MAX)));
    let how = match command {
        _ if has_failed => Some(FAILED.to_owned()),
        Some(command) if is_called(command, arguments) => None,
        Some(command) => Some(format!("for events, call it as `{command}`")),
        None => text.is_some().then(|| EVENTS_FLAG.to_owned()),
    };
    let parts: Vec<String> = text.into_iter().chain(how).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether the arguments ask for the format that the command asks for. Other flags have short
/// forms.
fn is_called(command: &str, arguments: &[String]) -> bool {
    let words = |text: &str| text.split([' ', '=']).map(str::to_owned).collect::<Vec<_>>();
    let given: Vec<String> = arguments.iter().flat_map(|argument| words(argument)).collect();
    let mut formats = words(command).into_iter().filter(|word| word.contains(FORMAT)).peekable();
    formats.peek().is_some() && formats.all(|format| given.contains(&format))
}

/// Whether a text looks like an error, and not like an answer.
fn is_failure(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let first = small.split_whitespace().next().unwrap_or_default();
    // `zsh: command not found: agent`
    let is_of_shell = small.contains(": command not found: ") || has_end(&small, &ENDS);
    is_of_shell || has_end(first, &WORDS) || BEGINS.iter().any(|begin| small.starts_with(begin))
}

fn has_end(text: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: no text of the agent reaches a terminal as it is; a fuzzer found this one.
    #[test]
    fn control_characters_of_the_text_are_visible() {
        let note = how_to_call(None, &[], Some("\u{1b}[31m\u{9b}\u{202e}x"));
        let shown = r"`\x1b[31m\u{9b}\u{202e}x`";
        assert_eq!(note, Some(format!("{shown}; {EVENTS_FLAG}")));
    }

    #[test]
    fn a_command_that_asks_for_events_is_not_corrected() {
        let command = "agent --print --output-format stream-json";
        for (arguments, is_asked) in [
            (&["-p", "hi", "--output-format", "stream-json"][..], true),
            (&["--output-format=stream-json"], true),
            (&["-o", "json"], false),
            (&[], false),
        ] {
            let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
            let note = how_to_call(Some(command), &arguments, Some("Not logged in"));
            let how = format!("`Not logged in`; for events, call it as `{command}`");
            let expected = if is_asked { "`Not logged in`".to_owned() } else { how };
            assert_eq!(note, Some(expected), "{arguments:?}");
        }
    }

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
            ("Done.", false),
            ("Errors are now shown.", false),
        ] {
            assert_eq!(is_failure(text), expected, "{text}");
        }
    }
}
