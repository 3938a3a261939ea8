//! The streams in a Markdown report of limited size: nothing bad is hidden behind something good.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ndjson_check_core::counted;

use crate::limits::MARKDOWN_BYTES_MAX;

/// Room for the sentence about what is not shown: some thirty ways in which runs end.
const NOT_SHOWN_BYTES: usize = 1_200;

/// How much a stream needs a look, in the order of the report.
#[derive(Debug, Clone, Copy)]
pub(super) enum StreamClass {
    /// It does not conform, or its run did not succeed.
    Bad,
    Warned,
    Good,
}

/// A stream on one line.
pub(super) struct ShortStream {
    pub(super) text: String,
    /// How the run ended, as other streams share it.
    pub(super) kind: &'static str,
}

/// The streams, worst class first. Each has its section; where there is no room for that, it is
/// one line; where there is no room for all lines, the rest is counted. A class gets what the ones
/// before it leave.
#[derive(Default)]
pub(super) struct Sections([Streams; 3]);

/// The streams of one class, as many as can be shown at most.
#[derive(Default)]
struct Streams {
    lines: Vec<ShortStream>,
    line_bytes: usize,
    /// Of the first streams.
    sections: Vec<String>,
    section_bytes: usize,
    /// Streams that are not shown, by how their runs ended.
    omitted: BTreeMap<&'static str, u64>,
}

impl Sections {
    pub(super) fn add(&mut self, class: StreamClass, section: String, line: ShortStream) {
        let streams = &mut self.0[class as usize];
        if streams.line_bytes + line.text.len() > MARKDOWN_BYTES_MAX {
            return streams.omit(line.kind);
        }
        let is_next = streams.sections.len() == streams.lines.len();
        if is_next && streams.section_bytes + section.len() <= MARKDOWN_BYTES_MAX {
            streams.section_bytes += section.len();
            streams.sections.push(section);
        }
        streams.line_bytes += line.text.len();
        streams.lines.push(line);
    }

    /// What is shown in so many bytes.
    pub(super) fn text(self, mut room: usize) -> String {
        let mut text = String::new();
        let classes = self.0.len();
        for (number, streams) in self.0.into_iter().enumerate() {
            // So that each class can at least count its streams.
            let kept = (classes - number) * NOT_SHOWN_BYTES;
            let (part, is_whole) = streams.text(room.saturating_sub(kept));
            // Behind what is only counted, nothing better is shown.
            room = if is_whole { room.saturating_sub(part.len()) } else { 0 };
            text += &part;
        }
        text
    }
}

impl Streams {
    fn omit(&mut self, kind: &'static str) {
        *self.omitted.entry(kind).or_default() += 1;
    }

    /// As many sections as leave room for the line of each other stream; then these lines. Also
    /// whether each stream is shown.
    fn text(mut self, room: usize) -> (String, bool) {
        let lines = std::mem::take(&mut self.lines);
        let mut lines = lines.into_iter().peekable();
        let mut text = String::new();
        for section in &self.sections {
            let line = lines.peek().map_or(0, |line| line.text.len());
            if text.len() + section.len() + self.line_bytes - line > room {
                break;
            }
            text += section;
            self.line_bytes -= line;
            lines.next();
        }
        let begin_of_list = text.len();
        for line in lines {
            if text.len() + line.text.len() > room {
                self.omit(line.kind);
            } else {
                text += &line.text;
            }
        }
        if text.len() > begin_of_list {
            text.push('\n');
        }
        let count: u64 = self.omitted.values().sum();
        if count > 0 {
            let kinds: Vec<String> =
                self.omitted.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            let streams = counted(count, "stream");
            let _ = write!(text, "{streams} not shown: {}.\n\n", kinds.join("; "));
        }
        (text, count == 0)
    }
}
