//! What an agent that writes no event was called without, and where it says why.

use super::contract::Options;
use super::error_text::is_failure;
use crate::profile::Profile;
use crate::rules::escape::{clipped, visible};

/// The note on a stream that is empty or cut short, where standard error was not read.
pub(super) const STDERR_SAYS_WHY: &str = "the agent's standard error may say why";

/// What is missing if it is not known which agent it is.
const EVENTS_FLAG: &str = "run the agent with its flag for events";

/// What a text shows that is an error.
const FAILED: &str = "the agent failed before its first event";

/// Longest text that is quoted in place of events, in bytes.
const TEXT_QUOTED_BYTES_MAX: usize = 120;

/// A format of events, by the names that agents give to theirs.
const FORMAT: &str = "json";

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

/// How to call a known command whose first lines are text, if it was called without that.
pub(super) fn how_to_call_for_events(profile: &Profile, options: &Options) -> Option<String> {
    let command = profile.command.as_deref().filter(|_| options.silent.is_some());
    how_to_call(command, &options.arguments, None)
}

/// Whether the arguments ask for the format that the command asks for. Other flags have short
/// forms.
fn is_called(command: &str, arguments: &[String]) -> bool {
    let words = |text: &str| text.split([' ', '=']).map(str::to_owned).collect::<Vec<_>>();
    let given: Vec<String> = arguments.iter().flat_map(|argument| words(argument)).collect();
    let mut formats = words(command).into_iter().filter(|word| word.contains(FORMAT)).peekable();
    formats.peek().is_some() && formats.all(|format| given.contains(&format))
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
}
