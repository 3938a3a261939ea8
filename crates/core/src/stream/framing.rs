//! Notices input that is not NDJSON at all, so that it gets one diagnosis instead of thousands.

use super::Line;
use super::foreign::Foreign;

/// How many events a log has at least, if other lines are in it.
const LOG_EVENTS_MIN: usize = 3;
/// How many other lines may be in a log for each event.
const LOG_OTHERS_MAX: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Nothing yet: no line that is not blank.
    Unseen,
    /// The same; the user says that the stream is one array, and it does not begin as one.
    ArrayWanted,
    /// It looks like something else; `lines` that are not events have been seen.
    Suspect {
        other: Foreign,
        /// How many lines point to it.
        lines: usize,
        /// How many other lines came that may occur in it, such as blank ones.
        others: usize,
    },
    NotNdjson(Foreign),
    /// One event is one line.
    Ndjson,
}

impl Framing {
    /// Takes the next line into account. `is_event` says whether it is one JSON object.
    ///
    /// What cannot be NDJSON (UTF-16, UTF-32, record separators) is decided at once; what could be
    /// noise before a good stream is suspect until enough lines fit, or one does not.
    #[must_use]
    pub(crate) fn observe(self, line: &Line<'_>, is_event: bool) -> Self {
        let blank = line.is_blank();
        match self {
            Self::NotNdjson(_) | Self::Ndjson => self,
            Self::Unseen | Self::ArrayWanted if blank => self,
            Self::ArrayWanted => Self::NotNdjson(Foreign::NoArray),
            // The last event has no comma.
            Self::Suspect { other: Foreign::Commas, lines: 2.., .. } if is_event => {
                Self::NotNdjson(Foreign::Commas)
            }
            Self::Unseen | Self::Suspect { .. } if is_event => Self::Ndjson,
            Self::Unseen => match Foreign::begun_by(line) {
                Some(other) if other.is_certain() => Self::NotNdjson(other),
                Some(other) => {
                    let is_shown = other.is_shown_by(line);
                    let (lines, others) = if is_shown { (1, 0) } else { (0, 1) };
                    Self::Suspect { other, lines, others }
                }
                None => Self::Ndjson,
            },
            Self::Suspect { other, others, .. }
                if others >= other.others_max() && (blank || !other.is_shown_by(line)) =>
            {
                Self::Ndjson
            }
            Self::Suspect { other, lines, others } => {
                let ends_item = line.bytes.trim_ascii_end().ends_with(b",");
                if blank || other.goes_on_with(line) && !other.is_shown_by(line) {
                    Self::Suspect { other, lines, others: others + 1 }
                } else if !other.goes_on_with(line) {
                    Self::Ndjson
                } else if lines + 1 >= other.lines_max() || (other == Foreign::Array && ends_item) {
                    Self::NotNdjson(other)
                } else {
                    Self::Suspect { other, lines: lines + 1, others }
                }
            }
        }
    }

    /// What the end of the stream decides of a suspicion: no line contradicted it.
    #[must_use]
    pub(crate) fn finish(self) -> Self {
        match self {
            // One line may look like many things.
            Self::Suspect { other, lines: ..=1, .. } if other.needs_lines() => Self::Ndjson,
            // A log that no agent writes may have some objects in it.
            Self::Suspect { other: Foreign::Prefixed, lines, others }
                if others > 0 && (lines < LOG_EVENTS_MIN || others > LOG_OTHERS_MAX * lines) =>
            {
                Self::Ndjson
            }
            // A text may have some damage.
            Self::Suspect { other: Foreign::Binary, lines, others } if others > 2 * lines => {
                Self::Ndjson
            }
            Self::Suspect { other, .. } => Self::NotNdjson(other),
            Self::Unseen | Self::ArrayWanted | Self::NotNdjson(_) | Self::Ndjson => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::foreign::FILES;
    use super::*;
    use crate::limits::{FRAMING_BLANKS_MAX, FRAMING_LINES_MAX};
    use crate::stream::{each_block, parse_line};

    fn framing(stream: &[u8]) -> Framing {
        steps(Framing::Unseen, stream).last().map_or(Framing::Unseen, |last| last.finish())
    }

    #[test]
    fn other_framings_are_named() {
        let cases: &[(&[u8], Framing)] = &[
            (b"\x1f\x8b\x08\0abc\n", Framing::NotNdjson(Foreign::Gzip)),
            (b"\xff\xfe{\0}\0\n\0", Framing::NotNdjson(Foreign::Utf16)),
            (b"{\0}\0\n\0", Framing::NotNdjson(Foreign::Utf16)),
            (b"\0{\0}\0\n", Framing::NotNdjson(Foreign::Utf16)),
            (b"\xff\xfe\0\0{\0\0\0}\0\0\0\n\0\0\0", Framing::NotNdjson(Foreign::Utf32)),
            (b"\0\0\xfe\xff\0\0\0{\0\0\0}\0\0\0\n", Framing::NotNdjson(Foreign::Utf32)),
            (b"{\0\0\0}\0\0\0\n\0\0\0", Framing::NotNdjson(Foreign::Utf32)),
            (b"\0\0\0{\0\0\0}\0\0\0\n", Framing::NotNdjson(Foreign::Utf32)),
            (b"\x1e{}\n\x1e{}\n", Framing::NotNdjson(Foreign::RecordSeparators)),
            (b"data: {}\n\ndata: {}\n", Framing::NotNdjson(Foreign::ServerSentEvents)),
            (b"event: x\ndata: {}\n", Framing::NotNdjson(Foreign::ServerSentEvents)),
            (b"[\n1,\n{\"a\":2}\n]\n", Framing::NotNdjson(Foreign::Array)),
            (b"[1,{\"a\":2}]\n", Framing::NotNdjson(Foreign::Array)),
            (b"\n{\n \"a\": 1\n}\n", Framing::NotNdjson(Foreign::PrettyPrinted)),
            (b"{\"a\": 1,\n \"b\": 2}\n", Framing::NotNdjson(Foreign::PrettyPrinted)),
            (b": ping\n\ndata: {}\n", Framing::NotNdjson(Foreign::ServerSentEvents)),
            (b"\xfe\xff\0{\0}\0\n", Framing::NotNdjson(Foreign::Utf16)),
            (b"\xef\xbb\xbf\x1e{}\n", Framing::NotNdjson(Foreign::RecordSeparators)),
            (b"\xef\xbb\xbf{\n\"a\": 1\n}\n", Framing::NotNdjson(Foreign::PrettyPrinted)),
            (b"jobs:\n  build:\n    - run: x\n", Framing::NotNdjson(Foreign::Yaml)),
            (b"---\n# a comment\na: 1\n", Framing::NotNdjson(Foreign::Yaml)),
            (b"type,text\na,b\n\"c,d\",e\n", Framing::NotNdjson(Foreign::Table(b',', 1))),
            (b"id;name;on\n1;a;b\n", Framing::NotNdjson(Foreign::Table(b';', 2))),
            (b"10:00:01 {\"a\":1}\n10:00:02 {\"a\":2}\n", Framing::NotNdjson(Foreign::Prefixed)),
            (b"web-1  | {\"a\":1}\nweb-1  | {\"a\":2}\n", Framing::NotNdjson(Foreign::Prefixed)),
            // A log of a job, of a container, of a service.
            (
                b"\xef\xbb\xbf2026-11-27T02:00:00.1Z ##[group]Run\n\
                  2026-11-27T02:00:00.2Z shell: bash -e {0}\n\
                  2026-11-27T02:00:01.1Z {\"a\":1}\n2026-11-27T02:00:01.2Z warning: x\n\
                  2026-11-27T02:00:02.1Z {\"a\":2}\n2026-11-27T02:00:02.2Z {\"a\":3}\n\
                  2026-11-27T02:00:03.1Z Post job\n",
                Framing::NotNdjson(Foreign::Prefixed),
            ),
            (
                b"Attaching to web-1\nweb-1  | {\"a\":1}\nweb-1  | {\"a\":2}\nweb-1  | {\"a\":3}\n",
                Framing::NotNdjson(Foreign::Prefixed),
            ),
            (b"\x1b[36m{\"a\":1}\n\x1b[36m{\"a\":2}\n", Framing::NotNdjson(Foreign::Coloured)),
            (b"{\"a\":1},\n{\"a\":2},\n{\"a\":3}\n", Framing::NotNdjson(Foreign::Commas)),
            (b"\x01\x02\xff\xfe\nab\n\x03\x80\n\n", Framing::NotNdjson(Foreign::Binary)),
            (b"\x89PNG\r\n\x1a\n\0\0\0\r", Framing::NotNdjson(Foreign::File(&FILES[6]))),
            (b"\x01\x02\xff\xfe\n\x03\x80\n", Framing::NotNdjson(Foreign::Binary)),
        ];
        for (stream, expected) in cases {
            assert_eq!(framing(stream), *expected, "{}", String::from_utf8_lossy(stream));
        }
    }

    /// What is known after each line; `is_event` is what the parser says of it.
    fn steps(first: Framing, stream: &[u8]) -> Vec<Framing> {
        let (mut framing, mut steps) = (first, Vec::new());
        each_block(stream, usize::MAX, 1_000, |block| {
            for line in block {
                framing = framing.observe(&line, parse_line(&line).is_ok());
                steps.push(framing);
            }
        });
        steps
    }

    fn suspect(other: Foreign, lines: usize, others: usize) -> Framing {
        Framing::Suspect { other, lines, others }
    }

    #[test]
    fn each_line_adds_to_a_suspicion_or_ends_it() {
        use Foreign::{Array, NoArray, PrettyPrinted, RecordSeparators, ServerSentEvents};
        use Framing::{ArrayWanted, Ndjson, NotNdjson, Unseen};

        let rows: &[(&str, &[Framing])] = &[
            ("\n \n{}\n", &[Unseen, Unseen, Ndjson]),
            ("hello\n", &[Ndjson]),
            ("{\"a\":\n", &[Ndjson]),
            // What is known does not change.
            ("{}\ndata: {}\n", &[Ndjson, Ndjson]),
            ("\x1e{}\n{}\n", &[NotNdjson(RecordSeparators), NotNdjson(RecordSeparators)]),
            // A suspicion waits for lines, not for blank ones.
            ("data: {}\n\n", &[suspect(ServerSentEvents, 1, 0), suspect(ServerSentEvents, 1, 1)]),
            (
                "data: {}\n\ndata: {}\n",
                &[
                    suspect(ServerSentEvents, 1, 0),
                    suspect(ServerSentEvents, 1, 1),
                    suspect(ServerSentEvents, 2, 1),
                ],
            ),
            ("data: {}\nhello\n", &[suspect(ServerSentEvents, 1, 0), Ndjson]),
            ("data: {}\n{}\n", &[suspect(ServerSentEvents, 1, 0), Ndjson]),
            ("{\n\"a\": 1\n", &[suspect(PrettyPrinted, 1, 0), suspect(PrettyPrinted, 2, 0)]),
            ("{\ntrue\n", &[suspect(PrettyPrinted, 1, 0), suspect(PrettyPrinted, 2, 0)]),
            ("{\nTrue\n", &[suspect(PrettyPrinted, 1, 0), Ndjson]),
            ("{\n{}\n", &[suspect(PrettyPrinted, 1, 0), Ndjson]),
            // An item of an array is enough.
            ("[\n1,\n", &[suspect(Array, 1, 0), NotNdjson(Array)]),
            ("[\n1\n", &[suspect(Array, 1, 0), suspect(Array, 2, 0)]),
            ("{\n\"a\": 1,\n", &[suspect(PrettyPrinted, 1, 0), suspect(PrettyPrinted, 2, 0)]),
        ];
        for (stream, expected) in rows {
            assert_eq!(steps(Unseen, stream.as_bytes()), *expected, "{stream:?}");
        }
        let rows: &[(&str, &[Framing])] = &[
            ("\n{}\n", &[ArrayWanted, NotNdjson(NoArray)]),
            ("hello\n{}\n", &[NotNdjson(NoArray), NotNdjson(NoArray)]),
        ];
        for (stream, expected) in rows {
            assert_eq!(steps(ArrayWanted, stream.as_bytes()), *expected, "{stream:?}");
        }
    }

    #[test]
    fn a_suspicion_ends_after_some_lines() {
        let last =
            |stream: String| steps(Framing::Unseen, stream.as_bytes()).pop().expect("a line");
        let lines = |count: usize| last("data: {}\n".repeat(count));
        let other = Foreign::ServerSentEvents;
        assert_eq!(lines(FRAMING_LINES_MAX - 1), suspect(other, FRAMING_LINES_MAX - 1, 0));
        assert_eq!(lines(FRAMING_LINES_MAX), Framing::NotNdjson(other));
        let blanks = |count: usize| last("data: {}\n".to_owned() + &"\n".repeat(count));
        assert_eq!(blanks(FRAMING_BLANKS_MAX), suspect(other, 1, FRAMING_BLANKS_MAX));
        assert_eq!(blanks(FRAMING_BLANKS_MAX + 1), Framing::Ndjson);
    }

    #[test]
    fn the_end_confirms_a_suspicion() {
        let other = Foreign::PrettyPrinted;
        for (framing, expected) in [
            (suspect(other, 1, 0), Framing::NotNdjson(other)),
            (Framing::NotNdjson(other), Framing::NotNdjson(other)),
            (Framing::Unseen, Framing::Unseen),
            (Framing::ArrayWanted, Framing::ArrayWanted),
            (Framing::Ndjson, Framing::Ndjson),
        ] {
            assert_eq!(framing.finish(), expected, "{framing:?}");
        }
    }

    #[test]
    fn noise_before_a_stream_is_not_another_framing() {
        let streams: [&[u8]; 20] = [
            b"{\"a\":1}\n{\n\"b\": 1\n}\n",
            b"{\n debug: true\n}\n{\"a\":1}\n",
            b"loading: 5\n{\"a\":1}\n",
            b"[1,2]\n{\"a\":1}\n",
            b"{\"a\":\"cut\nError: x\n",
            // Plain text of an agent.
            b"Done:\n- one\n- two\n",
            b"Summary:\n  it works: yes, it does\n",
            b"yes,no\n",
            b"one, two\nthree, four\n",
            b"10:00:01 {\"a\":1}\n{\"a\":2}\n",
            b"10:00:01 started\n10:00:02 done\n",
            b"10:00:01 started\n10:00:02 config {\"a\":1}\n10:00:03 failed {\"b\":1}\n",
            b"10:00:01 {\"a\":1}\n10:00:02 {\"a\":2}\n{\"a\":3}\n",
            b"{\"a\":1},\n{\"a\":2}\n",
            b"\x01\x02\xff\xfe\none\ntwo\nthree\n",
            b"caf\xe9\n",
            b"{\"type\":\"a\xff\",\"b\":\"\x01\"}\n",
            b"1 {\"a\":1}\n2 {}\n3 {}\n4 {}\n5 {}\n6 {}\n{\"a\":1}\n",
            b"a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\n{\"a\":1}\n",
            b"retry: 1\nnpm warn a\nnpm warn b\nnpm warn c\nnpm warn d\n{\"a\":1}\n",
        ];
        for stream in streams {
            assert_eq!(framing(stream), Framing::Ndjson, "{}", String::from_utf8_lossy(stream));
        }
        assert_eq!(framing(b"\n \n"), Framing::Unseen);
        assert_eq!(framing(b"{\"a\":1,"), Framing::Ndjson);
        assert_eq!(framing(b"["), Framing::Ndjson);
    }
}
