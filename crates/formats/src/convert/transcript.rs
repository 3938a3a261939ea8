//! `transcript`: the assistant's text as it comes, and the actions between its segments, each in
//! brackets on a separate line.

use ndjson_check_core::{Event, EventKind, WantedEvents, Wordings, escape::Escaper};

use super::log::{FormStyle, LineStyle, LogLine};
use super::log_lines::LogLines;
use crate::Output;
use crate::said::Said;

pub(super) struct TranscriptFormatter {
    lines: LogLines,
    escaper: Escaper,
    last: LastBlock,
    said: Said,
    /// Whether the next text is another version of the one above.
    is_replaced: bool,
    /// Line breaks at the end of what was written, at most two.
    breaks: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LastBlock {
    None,
    /// Part of a text segment.
    OpenText,
    Text,
    Action,
}

impl TranscriptFormatter {
    pub(super) fn new(wordings: Wordings, style: &FormStyle) -> Self {
        Self {
            lines: LogLines::new(wordings, style),
            escaper: Escaper::new(style.is_raw),
            last: LastBlock::None,
            said: Said::default(),
            is_replaced: false,
            breaks: 0,
        }
    }

    /// A chunk of a segment. There is one blank line between segments; blank lines at either end
    /// of a segment do not add to it.
    fn text(&mut self, chunk: &str, out: &mut String) {
        let mut chunk = chunk;
        if self.last != LastBlock::OpenText {
            chunk = chunk.trim_start_matches(['\r', '\n']);
            if chunk.is_empty() {
                return;
            }
            self.set_apart(out);
            self.last = LastBlock::OpenText;
            self.lines.interrupted();
        }
        let start = out.len();
        self.escaper.text(chunk, out);
        self.count_breaks(start, out);
    }

    fn end_text(&mut self, out: &mut String) {
        if self.last == LastBlock::OpenText {
            self.end_line(out);
            self.last = LastBlock::Text;
        }
    }

    fn count_breaks(&mut self, start: usize, out: &str) {
        let written = &out[start..];
        let last = written.len() - written.trim_end_matches('\n').len();
        self.breaks = if last == written.len() { self.breaks + last } else { last }.min(2);
    }

    fn end_line(&mut self, out: &mut String) {
        let start = out.len();
        self.escaper.end(out);
        if out.len() > start {
            self.count_breaks(start, out);
        }
        if self.breaks == 0 {
            out.push('\n');
            self.breaks = 1;
        }
    }

    fn event(&mut self, event: &EventKind<'_>, out: &mut String) {
        match event {
            EventKind::TextDelta { text, .. } => self.text(text, out),
            // What has been shown stays; the report shows the difference.
            EventKind::TextAbandoned { is_replaced: true, .. } => self.is_replaced = true,
            EventKind::TextAbandoned { .. } => {
                let line = "The agent abandoned the text above".to_owned();
                self.action(&LogLine::new(line, LineStyle::Quiet), out);
            }
            EventKind::Text(segment) => {
                let is_shown = std::mem::take(&mut self.is_replaced) || segment.came_in_deltas;
                if !is_shown {
                    self.text(segment.text.as_deref().unwrap_or_default(), out);
                }
                self.end_text(out);
            }
            EventKind::Answer { text } if !self.said.has(text) => {
                self.text(text, out);
                self.end_text(out);
            }
            _ => {
                for line in self.lines.of(event) {
                    self.action(&line, out);
                }
            }
        }
    }

    fn action(&mut self, line: &LogLine, out: &mut String) {
        self.escaper.end(out);
        if self.last != LastBlock::Action {
            self.set_apart(out);
        }
        self.lines.style.write(line, ("[", "]"), out);
        (self.last, self.breaks) = (LastBlock::Action, 1);
    }

    /// Ends the last line and leaves a blank one, unless it is the first block.
    fn set_apart(&mut self, out: &mut String) {
        if self.last != LastBlock::None {
            let missing = 2 - self.breaks.min(2);
            out.push_str(&"\n\n"[..missing]);
            self.breaks = 2;
        }
    }
}

impl Output for TranscriptFormatter {
    fn wants(&self) -> WantedEvents {
        self.lines.style.wants()
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut String) {
        for Event { kind, .. } in events {
            self.event(kind, out);
            self.said.observe(kind);
        }
    }

    fn stream_ended(&mut self, out: &mut String) {
        self.escaper.end(out);
        if self.last != LastBlock::None && self.breaks == 0 {
            out.push('\n');
        }
    }
}
