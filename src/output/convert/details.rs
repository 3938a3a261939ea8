//! Reasoning and notices as lines.

use std::sync::Arc;

use super::log::{LineStyle, Log, LogLine};
use crate::check::CheckedEvent;
use crate::facts::{DetailReader, Notice, ThinkingUpdate};
use crate::limits::{ACTION_DETAIL_CHARS_MAX, THINKING_LINE_BYTES_MAX};
use crate::profile::{NoticeKind, Profile};
use crate::rules::escape::{split_before, visible};

/// Makes lines of reasoning as it comes.
pub(super) struct DetailLines {
    reader: DetailReader,
    is_raw: bool,
    /// The start of a line of reasoning, whose end has not come.
    open: String,
}

impl DetailLines {
    /// None if they are not shown.
    pub(super) fn new(profile: &Arc<Profile>, log: &Log) -> Option<Self> {
        let new =
            || Self { reader: DetailReader::new(profile), is_raw: log.is_raw, open: String::new() };
        log.has_thinking.then(new)
    }

    /// The lines of an event.
    pub(super) fn lines(&mut self, event: &CheckedEvent<'_>) -> Vec<LogLine> {
        let mut lines = Vec::new();
        let details = event.details(&mut self.reader);
        if !event.is_in_run() {
            return lines;
        }
        for update in &details.thinking {
            match update {
                ThinkingUpdate::Chunk(text) => self.thinking(text, &mut lines),
                ThinkingUpdate::BlockEnd => lines.extend(self.end()),
            }
        }
        for notice in &details.notices {
            lines.extend(self.end());
            lines.push(self.notice(notice));
        }
        lines
    }

    fn thinking(&mut self, text: &str, lines: &mut Vec<LogLine>) {
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

    /// The line of reasoning that is open.
    pub(super) fn end(&mut self) -> Option<LogLine> {
        let text = std::mem::take(&mut self.open);
        let text = text.trim_end();
        (!text.is_empty())
            .then(|| LogLine::new(format!("Thinking: {}", self.shown(text)), LineStyle::Quiet))
    }

    fn notice(&self, notice: &Notice) -> LogLine {
        let (name, style) = match notice.kind {
            NoticeKind::Prompt => ("Prompt", LineStyle::Quiet),
            NoticeKind::Retry => ("Retry", LineStyle::Quiet),
            NoticeKind::Compaction => ("Compaction", LineStyle::Quiet),
            NoticeKind::Question => ("Question", LineStyle::Quiet),
            NoticeKind::Error => ("Error", LineStyle::Bad),
            NoticeKind::Info => ("Note", LineStyle::Quiet),
        };
        let detail = notice.detail.as_deref().map_or("", str::trim);
        let detail = match detail.char_indices().nth(ACTION_DETAIL_CHARS_MAX) {
            _ if detail.is_empty() => String::new(),
            Some((end, _)) => format!(": {}…", self.shown(&detail[..end])),
            None => format!(": {}", self.shown(detail)),
        };
        LogLine::new(format!("{name}{detail}"), style)
    }

    /// Text of the stream on one line.
    fn shown(&self, text: &str) -> String {
        if self.is_raw { text.replace('\n', "\\n") } else { visible(text).into_owned() }
    }
}
