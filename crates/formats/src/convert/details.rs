//! Reasoning and notices as lines.

use ndjson_check_core::{
    EventKind, NoticeKind,
    escape::{clipped_chars, split_before},
};

use super::log::{LineStyle, LogLine};
use super::log_lines::LogLines;
use crate::limits::ACTION_DETAIL_CHARS_MAX;

/// Longest line of reasoning in a log, in bytes; a longer one becomes several.
const THINKING_LINE_BYTES_MAX: usize = 8 * 1024;

impl LogLines {
    /// Adds lines of reasoning as it comes, and notices.
    pub(super) fn details(&mut self, event: &EventKind<'_>, lines: &mut Vec<LogLine>) {
        match event {
            EventKind::ThinkingDelta { text, .. } => self.reasoning(text, lines),
            EventKind::ThinkingEnd { .. } => {
                lines.extend(self.end());
                self.interrupted();
            }
            EventKind::Notice(notice) => {
                lines.extend(self.end());
                self.interrupted();
                lines.extend(self.notice(notice.kind, notice.detail.as_deref()));
            }
            _ => {}
        }
    }

    fn reasoning(&mut self, text: &str, lines: &mut Vec<LogLine>) {
        for mut part in text.split_inclusive('\n') {
            while !part.is_empty() {
                let room = THINKING_LINE_BYTES_MAX.saturating_sub(self.open.len());
                let (fits, rest) = split_before(part, room);
                self.open.push_str(fits);
                part = rest;
                // What does not fit begins the next line.
                if fits.ends_with('\n') || !rest.is_empty() {
                    lines.extend(self.end());
                }
            }
        }
    }

    /// The line of reasoning that is open. Only the first has the name in front.
    fn end(&mut self) -> Option<LogLine> {
        let text = std::mem::take(&mut self.open);
        let text = text.trim_end();
        if text.is_empty() {
            return None;
        }
        let text = self.style.line(text);
        if std::mem::replace(&mut self.is_continued, true) {
            let line = LogLine::new(text, LineStyle::Quiet);
            return Some(LogLine { is_continued: true, ..line });
        }
        Some(LogLine::new(format!("Thinking: {text}"), LineStyle::Quiet))
    }

    /// Blank lines are left out.
    fn notice(&self, kind: NoticeKind, detail: Option<&str>) -> Vec<LogLine> {
        let style = if kind == NoticeKind::Error { LineStyle::Bad } else { LineStyle::Quiet };
        let detail = clipped_chars(detail.map_or("", str::trim), ACTION_DETAIL_CHARS_MAX);
        let mut texts = detail.lines().map(str::trim_end).filter(|text| !text.is_empty());
        let first = texts.next().map(|text| format!(": {}", self.style.line(text)));
        let first = format!("{}{}", kind.title(), first.unwrap_or_default());
        let rest = texts.map(|text| {
            let line = LogLine::new(self.style.line(text), style);
            LogLine { is_continued: true, ..line }
        });
        std::iter::once(LogLine::new(first, style)).chain(rest).collect()
    }
}
