//! Words of a command line as a POSIX shell reads them.

use std::borrow::Cow;

/// An argument as a shell reads it.
pub(crate) fn in_shell(argument: &str) -> Cow<'_, str> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_=./,:@%+".contains(it);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        Cow::Borrowed(argument)
    } else {
        Cow::Owned(quoted(argument))
    }
}

/// The word in single quotes.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
