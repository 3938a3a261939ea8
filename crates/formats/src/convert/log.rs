//! What `text` and `transcript` write: whole lines, results below them, and how they look.

use ndjson_check_core::{WantedEvents, escape::visible};

use super::below::BelowLine;
use super::colours::RESET;

/// Lines of a call's result from which on a CI log folds them.
const GROUPED_LINES_MIN: usize = 10;

/// How a form shows a run.
#[derive(Debug, Clone, Default)]
pub struct FormStyle {
    /// Whether control characters and the like stay as they are. Otherwise text escapes them.
    pub is_raw: bool,
    /// Most lines of each call's result below it, in [`Form::Text`](crate::Form::Text) and
    /// [`Form::Transcript`](crate::Form::Transcript): of a longer one the first and the last.
    pub results: usize,
    /// Whether these two forms show the agent's reasoning, and notices such as retries.
    pub thinking: bool,
    /// Whether these two forms have colour.
    pub color: bool,
    /// What is written before a command of ours to the runner of a CI job, which folds a long
    /// result in its log. Without it nothing is folded.
    pub command_mark: Option<String>,
}

#[derive(Debug)]
pub(super) struct LogLine {
    pub(super) text: String,
    pub(super) style: LineStyle,
    /// Whether it goes on with the line above.
    pub(super) is_continued: bool,
    /// The lines of a call's result, or what it changed.
    pub(super) below: Vec<BelowLine>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineStyle {
    Plain,
    /// It did not work.
    Bad,
    /// It is not about what the agent did.
    Quiet,
    Added,
    Removed,
}

impl LogLine {
    pub(super) fn new(text: String, style: LineStyle) -> Self {
        Self { text, style, is_continued: false, below: Vec::new() }
    }
}

impl FormStyle {
    pub(super) fn wants(&self) -> WantedEvents {
        let values = WantedEvents::VALUES;
        if self.thinking { values.or(WantedEvents::DETAILS) } else { values }
    }

    /// Text of the stream on one line, even if nothing else is escaped.
    pub(super) fn line(&self, text: &str) -> String {
        if self.is_raw { text.replace('\n', "\\n") } else { visible(text).into_owned() }
    }

    /// Writes a line between two texts, and what is below it.
    pub(super) fn write(&self, line: &LogLine, around: (&str, &str), out: &mut String) {
        let LogLine { text, style, is_continued, below } = line;
        let around = if *is_continued { ("    ", "") } else { around };
        let text = format!("{}{text}{}", around.0, around.1);
        let mark = self.command_mark.as_deref().filter(|_| below.len() >= GROUPED_LINES_MIN);
        if let Some(mark) = mark {
            // Raw text could end the line. In a command the runner decodes `%`.
            let title = visible(&text).replace('%', "%25");
            out.extend([mark, "::group::", &title, "\n"]);
        } else {
            self.paint(&text, *style, out);
            out.push('\n');
        }
        for BelowLine { text, style } in below {
            if !text.is_empty() {
                self.paint(&format!("    {text}"), *style, out);
            }
            out.push('\n');
        }
        if let Some(mark) = mark {
            out.extend([mark, "::endgroup::\n"]);
        }
    }

    fn paint(&self, text: &str, style: LineStyle, out: &mut String) {
        let code = match style {
            _ if !self.color => "",
            LineStyle::Plain => "",
            LineStyle::Bad | LineStyle::Removed => "\x1b[31m",
            LineStyle::Quiet => "\x1b[2m",
            LineStyle::Added => "\x1b[32m",
        };
        out.extend([code, text, if code.is_empty() { "" } else { RESET }]);
    }
}
