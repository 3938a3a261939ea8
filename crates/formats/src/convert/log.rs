//! What `text` and `transcript` write: whole lines, results below them, and how they look.

use ndjson_check_core::{
    WantedEvents,
    escape::{Escaper, visible},
};

/// Longest line of a call's result in a log, in characters.
const RESULT_LINE_CHARS_MAX: usize = 300;

/// Lines of a call's result from which on a CI log folds them.
const GROUPED_LINES_MIN: usize = 10;

/// What a log shows besides actions, and how it looks.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    pub(super) is_raw: bool,
    /// Most lines of a call's result.
    pub(super) result_lines: usize,
    /// Whether reasoning and notices are shown.
    pub(super) has_thinking: bool,
    pub(super) has_color: bool,
    /// What is written before a command of ours to the runner of a CI job, which folds what is in
    /// a group; without it nothing is folded.
    pub(super) command_mark: Option<String>,
}

/// A line of the log.
#[derive(Debug)]
pub(super) struct LogLine {
    pub(super) text: String,
    pub(super) style: LineStyle,
    /// The lines of a call's result.
    pub(super) below: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineStyle {
    Plain,
    /// It did not work.
    Bad,
    /// It is not about what the agent did.
    Quiet,
}

impl LogLine {
    pub(super) fn new(text: String, style: LineStyle) -> Self {
        Self { text, style, below: Vec::new() }
    }
}

impl Log {
    pub(super) fn wants(&self) -> WantedEvents {
        let values = WantedEvents::VALUES;
        if self.has_thinking { values.or(WantedEvents::DETAILS) } else { values }
    }

    /// Writes a line between two texts, and what is below it.
    pub(super) fn write(&self, line: &LogLine, around: (&str, &str), out: &mut String) {
        let LogLine { text, style, below } = line;
        let text = format!("{}{text}{}", around.0, around.1);
        let mark = self.command_mark.as_deref().filter(|_| below.len() >= GROUPED_LINES_MIN);
        if let Some(mark) = mark {
            // Raw text could end the line. In a command the runner decodes `%`.
            let title = visible(&text).replace('%', "%25");
            out.extend([mark, "::group::", &title, "\n"]);
        } else {
            out.push_str(&self.painted(&text, *style));
            out.push('\n');
        }
        for line in below {
            if !line.is_empty() {
                out.push_str(&self.painted(&format!("    {line}"), LineStyle::Quiet));
            }
            out.push('\n');
        }
        if let Some(mark) = mark {
            out.extend([mark, "::endgroup::\n"]);
        }
    }

    fn painted(&self, text: &str, style: LineStyle) -> String {
        if self.has_color {
            use owo_colors::OwoColorize as _;
            match style {
                LineStyle::Plain => {}
                LineStyle::Bad => return text.red().to_string(),
                LineStyle::Quiet => return text.dimmed().to_string(),
            }
        }
        let _ = (style, self.has_color);
        text.to_owned()
    }

    /// The lines of a result that are shown: all, or the first and the last.
    pub(super) fn shown_lines(&self, result: &str) -> Vec<String> {
        if self.result_lines == 0 {
            return Vec::new();
        }
        let lines: Vec<&str> = result.trim_end().split('\n').collect();
        let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
        let lines = &lines[first..];
        let left_out = lines.len().saturating_sub(self.result_lines);
        if left_out == 0 {
            return lines.iter().map(|line| self.result_line(line)).collect();
        }
        let last = self.result_lines / 2;
        let (head, rest) = lines.split_at(self.result_lines - last);
        let more = match left_out {
            1 => "… 1 line more …".to_owned(),
            count => format!("… {count} lines more …"),
        };
        let head = head.iter().map(|line| self.result_line(line));
        let tail = rest[left_out..].iter().map(|line| self.result_line(line));
        head.chain([more]).chain(tail).collect()
    }

    /// A line of a result, and not too much of it.
    fn result_line(&self, line: &str) -> String {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let cut = line.char_indices().nth(RESULT_LINE_CHARS_MAX).map(|(end, _)| &line[..end]);
        let mut shown = String::new();
        let mut escaper = Escaper::new(self.is_raw);
        escaper.text(cut.unwrap_or(line), &mut shown);
        escaper.end(&mut shown);
        if cut.is_some() {
            shown.push('…');
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: usize, result: &str) -> Vec<String> {
        Log { result_lines: lines, ..Log::default() }.shown_lines(result)
    }

    #[test]
    fn the_first_and_the_last_lines_of_a_result_are_shown() {
        assert_eq!(shown(0, "a\nb"), [""; 0]);
        assert_eq!(shown(3, "\n \na\n\nb\n\n"), ["a", "", "b"]);
        assert_eq!(shown(3, ""), [""; 0]);
        assert_eq!(shown(3, "a\nb\nc\nd"), ["a", "b", "… 1 line more …", "d"]);
        assert_eq!(shown(1, "a\nb\nc"), ["a", "… 2 lines more …"]);
        assert_eq!(shown(2, "a\r\nb\u{1b}[2J\rc"), ["a", "b\\x1b[2J\\rc"]);
        let long = shown(1, &"ä".repeat(RESULT_LINE_CHARS_MAX + 1));
        assert_eq!(long, [format!("{}…", "ä".repeat(RESULT_LINE_CHARS_MAX))]);
    }
}
