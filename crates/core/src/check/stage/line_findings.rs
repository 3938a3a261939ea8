//! Findings about lines that are not events.

use crate::check::counted;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::stream::Line;

pub(super) fn byte_order_mark() -> Diagnostic {
    let message = "the stream begins with a UTF-8 byte order mark";
    Diagnostic::new(Rule::ByteOrderMark, message).at(1, 0)
}

pub(super) fn stderr_in_stream(message: &str, line: &Line<'_>) -> Diagnostic {
    let diagnostic = Diagnostic::new(Rule::StderrInStream, message).of_text(line.start());
    diagnostic
        .note(
            "standard error is merged into standard output (2>&1), or the agent writes such \
                messages to standard output",
        )
        .at(line.number, line.offset)
}

pub(super) fn limit_note(bytes: u64) -> String {
    let limit = if bytes > 0 && bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        counted(bytes, "byte")
    };
    format!("the limit is {limit}")
}
