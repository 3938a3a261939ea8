//! The engines side by side: whatever the stream, all of them must find the same.
//!
//! Compared are the complete diagnostics, the whole summary (or the error) and the bytes of a
//! conversion; for several streams that one checker takes one after the other, so that what it
//! remembers of one stream is tried on the next.

mod smallest;

use std::cell::RefCell;
use std::fmt::{self, Write as _};
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use ndjson_check::check::Checker;
use ndjson_check::check::contract::{Contract, Engine};
use ndjson_check::check::summary::{RunSummary, StreamSummary};
use ndjson_check::error::Error;
use ndjson_check::output::convert::{Conversion, Convert, Form};
use ndjson_check::output::report::Report;
use ndjson_check::rules::Severity;
use ndjson_check::rules::diagnostic::Diagnostic;

/// The plain engine first: the others are held against it.
const ENGINES: [Engine; 3] = [Engine::Reference, Engine::Uncached, Engine::Fast];

/// One contract, once for each engine.
pub(crate) struct Engines([Contract; 3]);

/// Streams that one checker takes, one after the other, and how.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    pub(crate) streams: Vec<Vec<u8>>,
    /// What they are converted to, and whether control characters stay as they are.
    pub(crate) form: Option<(Form, bool)>,
    /// How many bytes a read gives; 0 is all. The reference engine always gets all.
    pub(crate) piece: usize,
}

/// Two engines that do not agree, and the smallest batch found that shows it.
pub(crate) struct Difference {
    batch: Batch,
    told: String,
}

/// All that is found in a batch.
#[derive(Default, PartialEq)]
struct Findings {
    streams: Vec<StreamFindings>,
    converted: Vec<u8>,
}

#[derive(PartialEq)]
struct StreamFindings {
    diagnostics: Vec<(Severity, Diagnostic)>,
    /// The summary, or why the stream could not be checked; of a panic nothing is left.
    end: String,
}

impl Engines {
    /// The engines for the contract that `make` makes, at their full speed from the first byte.
    pub(crate) fn new(mut make: impl FnMut() -> Contract) -> Self {
        Self(ENGINES.map(|engine| {
            let mut contract = make();
            contract.engine = engine;
            contract.warm_up_bytes = 0;
            contract
        }))
    }

    /// The same, but full speed begins after so many bytes.
    pub(crate) fn warmed_up_after(mut self, bytes: u64) -> Self {
        for contract in &mut self.0 {
            contract.warm_up_bytes = bytes;
        }
        self
    }

    /// Checks with all engines: the summaries, where they agree.
    pub(crate) fn compare(&self, batch: &Batch) -> Result<Vec<StreamSummary>, Box<Difference>> {
        let checked = || self.check(batch);
        // A panic is told by the harness, and made small like any other difference.
        if let Ok((findings, summaries)) = catch_unwind(AssertUnwindSafe(checked))
            && findings[1..].iter().all(|it| *it == findings[0])
        {
            return Ok(summaries);
        }
        let batch = smallest::smallest(batch, |batch| self.differ(batch));
        let told = catch_unwind(AssertUnwindSafe(|| told(&self.check(&batch).0)));
        let told = told.unwrap_or_else(|_| "an engine panics, as told above".to_owned());
        Err(Box::new(Difference { batch, told }))
    }

    fn differ(&self, batch: &Batch) -> bool {
        let checked = || self.check(batch).0;
        catch_unwind(AssertUnwindSafe(checked))
            .map_or(true, |findings| findings[1..].iter().any(|it| *it != findings[0]))
    }

    fn check(&self, batch: &Batch) -> ([Findings; 3], Vec<StreamSummary>) {
        let mut summaries = Vec::new();
        let findings = self.0.each_ref().map(|contract| {
            let (findings, own) = found(contract, batch);
            if contract.engine == Engine::Reference {
                summaries = own;
            }
            findings
        });
        (findings, summaries)
    }
}

fn found(contract: &Contract, batch: &Batch) -> (Findings, Vec<StreamSummary>) {
    let memory = Memory::default();
    let conversion = |(form, raw)| Conversion::new(contract.profile(), form, raw, memory.clone());
    let mut conversion = batch.form.map(conversion);
    let mut checker = Checker::new(contract);
    let whole = contract.engine == Engine::Reference || batch.piece == 0;
    let (mut findings, mut summaries) = (Findings::default(), Vec::new());
    for stream in &batch.streams {
        let size = if whole { stream.len() } else { batch.piece };
        let pieces = Pieces { bytes: stream, size };
        let mut report = Collected::default();
        let convert: &mut dyn Convert = match &mut conversion {
            Some(conversion) => conversion,
            None => &mut (),
        };
        let summary = checker.check(pieces, "-", &mut report, convert);
        let end = match &summary {
            Ok(summary) => format!("{summary:?}"),
            Err(error) => error.to_string(),
        };
        findings.streams.push(StreamFindings { diagnostics: report.0, end });
        summaries.extend(summary.ok());
    }
    findings.converted = memory.0.take();
    (findings, summaries)
}

/// What each engine says where they part.
fn told(findings: &[Findings; 3]) -> String {
    let mut told = String::new();
    for (engine, findings) in ENGINES.iter().zip(findings) {
        let _ = writeln!(told, "-- {engine:?}");
        for stream in &findings.streams {
            for (severity, diagnostic) in &stream.diagnostics {
                let _ = writeln!(told, "{severity:?} {diagnostic:?}");
            }
            let _ = writeln!(told, "{}", stream.end);
        }
        let _ = writeln!(told, "{}", findings.converted.escape_ascii());
    }
    told
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Batch { streams, form, piece } = &self.batch;
        writeln!(out, "the engines differ; form {form:?}, {piece} bytes a read")?;
        for (number, stream) in (1..).zip(streams) {
            writeln!(out, "-- stream {number}")?;
            for line in stream.split_inclusive(|&byte| byte == b'\n') {
                writeln!(out, "b\"{}\"", line.escape_ascii())?;
            }
        }
        write!(out, "{}", self.told)
    }
}

/// A stream that comes in pieces of one size.
struct Pieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.size.min(buffer.len()).min(self.bytes.len());
        let (piece, rest) = self.bytes.split_at(count);
        buffer[..count].copy_from_slice(piece);
        self.bytes = rest;
        Ok(count)
    }
}

/// What was written to it, for whoever holds a copy.
#[derive(Clone, Default)]
struct Memory(Rc<RefCell<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A report that only collects.
#[derive(Default)]
struct Collected(Vec<(Severity, Diagnostic)>);

impl Report for Collected {
    fn diagnostic(&mut self, _: &str, severity: Severity, it: &Diagnostic) -> Result<(), Error> {
        self.0.push((severity, it.clone()));
        Ok(())
    }

    fn stream(&mut self, _: &StreamSummary) -> Result<(), Error> {
        Ok(())
    }

    fn summary(&mut self, _: &RunSummary) -> Result<(), Error> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
