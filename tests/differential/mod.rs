//! The two engines next to each other: whatever the stream, both find the same.
//!
//! Three ways to check are compared: the reference engine, the fast engine that reads, and the fast
//! engine that is fed in chunks. Compared are the complete diagnostics, the whole summary (or the
//! error), what an observer sees of each event, and the bytes of a conversion. One checker takes
//! several streams one after the other, so that what it remembers of one is tried on the next.

mod smallest;

use std::fmt::{self, Write as _};
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ndjson_check::{
    CheckedLine, Checker, CheckerBuilder, Converter, Diagnostic, Error, Event, Form, FormStyle,
    Observer, ProducerExit, StreamStart, StreamSummary, Written,
};

/// The reference first: the others are compared with it.
const WAYS: [Way; 3] = [Way::Reference, Way::Read, Way::Fed];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// The plain parser and validator.
    Reference,
    /// The fast engine, as it reads a source.
    Read,
    /// The fast engine, as chunks are pushed into it.
    Fed,
}

/// One contract, once for each engine.
pub(crate) struct Engines {
    reference: Checker,
    fast: Checker,
}

/// Streams that one checker takes, one after the other, and how.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    pub(crate) streams: Vec<Vec<u8>>,
    /// What they are converted to, and whether control characters stay as they are.
    pub(crate) to: Option<(Form, bool)>,
    /// How many bytes a read gives; 0 is all. The reference engine always gets all.
    pub(crate) read_bytes: usize,
    /// How many bytes are fed at once; 0 is all.
    pub(crate) feed_bytes: usize,
}

/// Two ways that do not agree, and the smallest batch found that shows it.
pub(crate) struct Difference {
    batch: Batch,
    shown: String,
}

/// All that is found in a batch.
#[derive(PartialEq)]
struct Findings {
    streams: Vec<StreamFindings>,
    converted: Vec<u8>,
}

#[derive(PartialEq)]
struct StreamFindings {
    diagnostics: Vec<Diagnostic>,
    /// What an observer sees of the events.
    events: String,
    /// The summary, or why the stream could not be checked; of a panic nothing is left.
    end: String,
}

impl Engines {
    pub(crate) fn new(builder: CheckerBuilder) -> Result<Self, Error> {
        Self::of_two(builder.clone(), builder)
    }

    /// The engines of two contracts: if these differ, so do their findings.
    pub(crate) fn of_two(reference: CheckerBuilder, fast: CheckerBuilder) -> Result<Self, Error> {
        Ok(Self { reference: reference.plain(true).build()?, fast: fast.build()? })
    }

    /// Checks in all ways: the summaries, where they agree.
    pub(crate) fn compare(&self, batch: &Batch) -> Result<Vec<StreamSummary>, Box<Difference>> {
        let checked = || self.check(batch);
        // The harness shows a panic; the batch is reduced as for any other difference.
        if let Ok((findings, summaries)) = catch_unwind(AssertUnwindSafe(checked))
            && findings[1..].iter().all(|it| *it == findings[0])
        {
            return Ok(summaries);
        }
        let batch = smallest::smallest(batch, |batch| self.differ(batch));
        let shown = catch_unwind(AssertUnwindSafe(|| shown(&self.check(&batch).0)));
        let shown = shown.unwrap_or_else(|_| "an engine panics, as shown above".to_owned());
        Err(Box::new(Difference { batch, shown }))
    }

    fn differ(&self, batch: &Batch) -> bool {
        let checked = || self.check(batch).0;
        catch_unwind(AssertUnwindSafe(checked))
            .map_or(true, |findings| findings[1..].iter().any(|it| *it != findings[0]))
    }

    fn check(&self, batch: &Batch) -> ([Findings; 3], Vec<StreamSummary>) {
        let mut summaries = Vec::new();
        let findings = WAYS.map(|way| {
            let (findings, own) = self.found(way, batch);
            if way == Way::Reference {
                summaries = own;
            }
            findings
        });
        (findings, summaries)
    }

    fn found(&self, way: Way, batch: &Batch) -> (Findings, Vec<StreamSummary>) {
        // A clone remembers nothing.
        let mut checker = match way {
            Way::Reference => self.reference.clone(),
            Way::Read | Way::Fed => self.fast.clone(),
        };
        let (mut streams, mut summaries) = (Vec::new(), Vec::new());
        let mut converted = Vec::new();
        let form = batch.to.map(|(to, is_raw)| {
            Box::new(Converter::new(to, FormStyle { is_raw, ..FormStyle::default() }))
        });
        let mut conversion = form.map(|form| Written::new(&mut converted, form));
        for stream in &batch.streams {
            let mut out = Collected::new(conversion.as_mut());
            let summary = match way {
                Way::Reference => checker.check("-", &stream[..], &mut out),
                Way::Read => checker.check("-", Chunks::new(stream, batch.read_bytes), &mut out),
                Way::Fed => fed(&mut checker, stream, batch.feed_bytes, &mut out),
            };
            let end = match &summary {
                Ok(summary) => format!("{summary:?}"),
                Err(error) => error.to_string(),
            };
            let Collected { diagnostics, events, .. } = out;
            streams.push(StreamFindings { diagnostics, events, end });
            summaries.extend(summary.ok());
        }
        drop(conversion);
        (Findings { streams, converted }, summaries)
    }
}

/// Checks a stream that is fed in chunks.
fn fed(
    checker: &mut Checker,
    bytes: &[u8],
    chunk_bytes: usize,
    out: &mut dyn Observer,
) -> Result<StreamSummary, Error> {
    let mut stream = checker.stream("-");
    let chunk_bytes = if chunk_bytes == 0 { bytes.len().max(1) } else { chunk_bytes };
    for chunk in bytes.chunks(chunk_bytes) {
        stream.feed(chunk, out)?;
    }
    stream.finish(&ProducerExit::default(), out)
}

/// What each way finds where they differ.
fn shown(findings: &[Findings; 3]) -> String {
    let mut shown = String::new();
    for (way, findings) in WAYS.iter().zip(findings) {
        let _ = writeln!(shown, "-- {way:?}");
        for stream in &findings.streams {
            for diagnostic in &stream.diagnostics {
                let _ = writeln!(shown, "{diagnostic:?}");
            }
            let _ = writeln!(shown, "{}{}", stream.events, stream.end);
        }
        let _ = writeln!(shown, "{}", findings.converted.escape_ascii());
    }
    shown
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Batch { streams, to, read_bytes, feed_bytes } = &self.batch;
        writeln!(
            out,
            "the engines differ; to {to:?}, reads of {read_bytes}, chunks of {feed_bytes}"
        )?;
        for (number, stream) in (1..).zip(streams) {
            writeln!(out, "-- stream {number}")?;
            for line in stream.split_inclusive(|&byte| byte == b'\n') {
                writeln!(out, "b\"{}\"", line.escape_ascii())?;
            }
        }
        write!(out, "{}", self.shown)
    }
}

/// A stream that comes in chunks of one size.
struct Chunks<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl<'a> Chunks<'a> {
    fn new(bytes: &'a [u8], size: usize) -> Self {
        Self { bytes, size: if size == 0 { usize::MAX } else { size } }
    }
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.size.min(buffer.len()).min(self.bytes.len());
        let (chunk, rest) = self.bytes.split_at(count);
        buffer[..count].copy_from_slice(chunk);
        self.bytes = rest;
        Ok(count)
    }
}

/// Collects all that an observer gets of one stream, and converts it.
struct Collected<'a, 'b> {
    diagnostics: Vec<Diagnostic>,
    events: String,
    conversion: Option<&'a mut Written<&'b mut Vec<u8>, Converter>>,
}

impl<'a, 'b> Collected<'a, 'b> {
    fn new(conversion: Option<&'a mut Written<&'b mut Vec<u8>, Converter>>) -> Self {
        Self { diagnostics: Vec::new(), events: String::new(), conversion }
    }
}

impl Observer for Collected<'_, '_> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        let _ = writeln!(self.events, "{} {:?}", start.profile(), start.source());
        self.conversion.as_mut().map_or(Ok(()), |it| it.begin(start))
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        let (line, tag, bytes) = (event.line(), event.tag(), event.bytes().len());
        let (is_valid, is_in_run) = (event.is_valid(), event.is_in_run());
        let _ = writeln!(self.events, "{line} {tag} {bytes} {is_valid} {is_in_run}");
        if let Some(conversion) = &mut self.conversion {
            conversion.event(event);
        }
    }

    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            self.events += &serde_json::to_string(event).unwrap();
            self.events.push('\n');
        }
        if let Some(conversion) = &mut self.conversion {
            conversion.events(events);
        }
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.diagnostics.push(diagnostic.clone());
    }

    fn flush(&mut self) {
        if let Some(conversion) = &mut self.conversion {
            conversion.flush();
        }
    }

    fn stream_ended(&mut self) {
        if let Some(conversion) = &mut self.conversion {
            conversion.stream_ended();
        }
    }

    fn summary(&mut self, summary: &StreamSummary) {
        if let Some(conversion) = &mut self.conversion {
            conversion.summary(summary);
        }
    }
}
