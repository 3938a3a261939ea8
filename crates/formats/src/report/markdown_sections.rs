//! The streams in a Markdown report of limited size: nothing bad is hidden behind something good.

use std::fmt::Write as _;

use ndjson_check_core::counted;

use crate::limits::MARKDOWN_BYTES_MAX;

/// Room for the sentence about what is not shown: some thirty ways in which runs end.
const NOT_SHOWN_BYTES: usize = 1_200;

/// How much a stream needs a look, in the order of the report.
#[derive(Debug, Clone, Copy)]
pub(super) enum StreamClass {
    /// It does not pass, and was not tried again.
    Bad,
    Warned,
    Good,
}

/// A stream on one line.
pub(super) struct ShortStream {
    pub(super) text: String,
    /// The same without the rest of the sentence.
    pub(super) brief: String,
    /// The sentence.
    pub(super) sentence: String,
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
    /// By how their runs ended.
    kinds: Vec<StreamsOfKind>,
    line_bytes: usize,
    section_bytes: usize,
}

/// Streams whose runs ended in the same way.
struct StreamsOfKind {
    kind: &'static str,
    /// The sentence of the latest line: streams that say the same need it once.
    sentence: String,
    lines: Vec<String>,
    /// Of the first streams.
    sections: Vec<String>,
    /// Streams that are not shown.
    omitted: u64,
}

impl Sections {
    pub(super) fn add(&mut self, class: StreamClass, section: String, line: ShortStream) {
        self.0[class as usize].add(section, line);
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
    fn add(&mut self, section: String, line: ShortStream) {
        let ShortStream { text, brief, sentence, kind } = line;
        let known = self.kinds.iter().position(|it| it.kind == kind);
        let at = known.unwrap_or(self.kinds.len());
        if known.is_none() {
            let (lines, sections) = (Vec::new(), Vec::new());
            let sentence = String::new();
            self.kinds.push(StreamsOfKind { kind, sentence, lines, sections, omitted: 0 });
        }
        let of_kind = &mut self.kinds[at];
        let text = if of_kind.sentence == sentence { brief } else { text };
        let is_first = of_kind.lines.is_empty() && of_kind.omitted == 0;
        if self.line_bytes + text.len() > MARKDOWN_BYTES_MAX && !is_first {
            of_kind.omitted += 1;
            return;
        }
        of_kind.sentence = sentence;
        let is_next = of_kind.sections.len() == of_kind.lines.len();
        let has_room = self.section_bytes + section.len() <= MARKDOWN_BYTES_MAX;
        if is_next && (has_room || is_first) {
            self.section_bytes += section.len();
            of_kind.sections.push(section);
        }
        self.line_bytes += text.len();
        of_kind.lines.push(text);
    }

    /// One section of each kind, and as many others as leave room for the line of each other
    /// stream; the most frequent kind first. Also whether each stream is shown.
    fn text(mut self, room: usize) -> (String, bool) {
        self.kinds.sort_by_key(|it| (std::cmp::Reverse(it.count()), it.kind));
        let headings: usize = self.kinds.iter().map(|it| it.heading().len() + 1).sum();
        let shown = self.sections(room.saturating_sub(headings));
        let mut text = String::new();
        let mut not_shown = Vec::new();
        let bytes = |(of_kind, count): (&StreamsOfKind, &usize)| -> usize {
            of_kind.sections[..*count].iter().map(String::len).sum()
        };
        let mut kept: usize = self.kinds.iter().zip(&shown).map(bytes).sum::<usize>() + headings;
        for (of_kind, sections) in self.kinds.into_iter().zip(shown) {
            kept -= bytes((&of_kind, &sections)) + of_kind.heading().len() + 1;
            // The sections of the kinds behind it have their room.
            let omitted = of_kind.write(sections, room.saturating_sub(kept), &mut text);
            if omitted > 0 {
                not_shown.push((of_kind.kind, omitted));
            }
        }
        let count: u64 = not_shown.iter().map(|(_, count)| count).sum();
        if count > 0 {
            let kinds = not_shown.iter().map(|(kind, count)| format!("{count} {kind}"));
            let (streams, kinds) = (counted(count, "stream"), kinds.collect::<Vec<_>>());
            let _ = write!(text, "{streams} not shown: {}.\n\n", kinds.join("; "));
        }
        (text, count == 0)
    }

    /// How many sections of each kind there is room for: one of each, then others if all lines
    /// have room, too.
    fn sections(&self, room: usize) -> Vec<usize> {
        let mut shown = vec![0; self.kinds.len()];
        let mut alone = 0;
        let mut bytes = self.line_bytes;
        for (of_kind, count) in self.kinds.iter().zip(&mut shown) {
            let Some(section) = of_kind.sections.first() else { continue };
            if alone + section.len() <= room {
                alone += section.len();
                bytes = bytes + section.len() - of_kind.lines[0].len();
                *count = 1;
            }
        }
        for (of_kind, count) in self.kinds.iter().zip(&mut shown) {
            for (section, line) in of_kind.sections.iter().zip(&of_kind.lines).skip(*count) {
                let with_section = bytes + section.len() - line.len();
                if with_section > room {
                    break;
                }
                bytes = with_section;
                *count += 1;
            }
        }
        shown
    }
}

impl StreamsOfKind {
    fn count(&self) -> u64 {
        self.lines.len() as u64 + self.omitted
    }

    fn heading(&self) -> String {
        match self.count() {
            0 | 1 => String::new(),
            count => format!("**{count} × {}**\n\n", self.kind),
        }
    }

    /// So many sections, then lines; returns how many streams are not shown.
    fn write(&self, sections: usize, room: usize, text: &mut String) -> u64 {
        let fits = |text: &str, line: &str| text.len() + line.len() < room;
        let heading = self.heading();
        let rest = &self.lines[sections..];
        let first = rest.first().filter(|_| sections == 0);
        if first.is_some_and(|line| !fits(text, &format!("{heading}{line}"))) {
            return self.count();
        }
        text.push_str(&heading);
        self.sections[..sections].iter().for_each(|section| text.push_str(section));
        let shown = rest.iter().take_while(|line| {
            let fits = fits(text, line);
            text.push_str(if fits { line } else { "" });
            fits
        });
        let shown = shown.count();
        if shown > 0 {
            text.push('\n');
        }
        (rest.len() - shown) as u64 + self.omitted
    }
}
