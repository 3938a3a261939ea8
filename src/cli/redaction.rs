//! `--redact`: the stream is judged as it came, and all that is written is made from a redacted
//! copy of it.

use std::cell::RefCell;
use std::env;
use std::io::{self, Read};

use super::args::Cli;
use super::error::CliError;
use super::tee::TeeTarget;
use crate::check::{
    CheckedEvent, Checker, Observer, ProducerExit, Stream, StreamStart, StreamSummary,
};
use crate::error::Error;
use crate::output::redact::{Redactor, SECRET_BYTES_MIN, SecretValue};
use crate::rules::diagnostic::Diagnostic;

/// What to redact.
#[derive(Debug, Clone)]
pub(super) struct Redaction {
    values: Vec<SecretValue>,
}

impl Redaction {
    /// What the command line asks for.
    pub(super) fn of(cli: &Cli) -> Result<Option<Self>, CliError> {
        let values = cli.redact_env.iter().map(|name| value(name));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Ok((cli.redact.is_some() || !values.is_empty()).then_some(Self { values }))
    }

    pub(super) fn redactor(&self) -> Redactor {
        Redactor::secrets(&self.values)
    }
}

fn value(name: &str) -> Result<SecretValue, CliError> {
    let refused = |reason: &str| CliError::Usage(format!("--redact-env {name}: {reason}"));
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(refused("this is no name of an environment variable"));
    }
    let value = env::var_os(name).ok_or_else(|| refused("the variable is not set"))?;
    let value = value.to_str().ok_or_else(|| refused("the value is not valid UTF-8"))?;
    let short = || refused(&format!("the value has less than {SECRET_BYTES_MIN} bytes"));
    SecretValue::new(name, value).ok_or_else(short)
}

/// The redacted copy of a stream, which is checked again for all that is written.
pub(super) struct RedactedCopy<'c, 'o> {
    redactor: Redactor,
    stream: Stream<'c>,
    copies: &'o mut [TeeTarget],
    out: &'o mut dyn Observer,
    /// Bytes that were read and not yet redacted.
    pending: Vec<u8>,
    /// Why the copy could not be checked.
    failure: Option<Error>,
}

impl<'c, 'o> RedactedCopy<'c, 'o> {
    pub(super) fn new(
        redaction: &Redaction,
        stream: Stream<'c>,
        copies: &'o mut [TeeTarget],
        out: &'o mut dyn Observer,
    ) -> RefCell<Self> {
        let redactor = redaction.redactor();
        RefCell::new(Self { redactor, stream, copies, out, pending: Vec::new(), failure: None })
    }

    /// Redacts what was read before, after it was checked.
    fn advance(&mut self) {
        let mut ready = Vec::new();
        self.redactor.feed(&self.pending, &mut ready);
        self.pending.clear();
        self.write(&ready);
    }

    fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.copies.iter_mut().for_each(|copy| copy.write(bytes, false));
        if self.failure.is_none() {
            self.failure = self.stream.feed(bytes, self.out).err();
        }
    }

    /// Completes the copy. The result is that of the stream as it came.
    pub(super) fn finish(
        copy: RefCell<Self>,
        result: Result<(StreamSummary, ProducerExit), Error>,
    ) -> Result<StreamSummary, Error> {
        let mut copy = copy.into_inner();
        copy.advance();
        let mut rest = Vec::new();
        copy.redactor.finish(&mut rest);
        copy.write(&rest);
        copy.copies.iter_mut().for_each(|copy| copy.write(&[], true));
        let Self { redactor, stream, out, failure, .. } = copy;
        let (summary, mut exit) = result?;
        if let Some(error) = failure {
            return Err(error);
        }
        exit.stderr = exit
            .stderr
            .map(|lines| redactor.text(&lines.join("\n")).lines().map(str::to_owned).collect());
        stream.finish(&exit, &mut Judged { out, judged: &summary })?;
        Ok(summary)
    }
}

/// Reads a stream; what is read becomes part of the redacted copy with the next read.
pub(super) struct Redacting<'r, 'c, 'o, R> {
    source: R,
    copy: &'r RefCell<RedactedCopy<'c, 'o>>,
}

impl<'r, 'c, 'o, R: Read> Redacting<'r, 'c, 'o, R> {
    pub(super) fn new(source: R, copy: &'r RefCell<RedactedCopy<'c, 'o>>) -> Self {
        Self { source, copy }
    }
}

impl<R: Read> Read for Redacting<'_, '_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.copy.borrow_mut().advance();
        let count = self.source.read(buffer)?;
        self.copy.borrow_mut().pending.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

/// Checks a stream to its end; what is observed comes from its redacted copy.
pub(super) fn check(
    redaction: &Redaction,
    checker: &mut Checker,
    name: &str,
    source: impl Read,
    exit: &ProducerExit,
    copies: &mut [TeeTarget],
    out: &mut dyn Observer,
) -> Result<StreamSummary, Error> {
    let mut second = checker.clone();
    let copy = RedactedCopy::new(redaction, second.stream(name), copies, out);
    let mut stream = checker.stream(name);
    let read = stream.read(Redacting::new(source, &copy), &mut ());
    let result = read.and_then(|()| stream.finish(exit, &mut ()));
    RedactedCopy::finish(copy, result.map(|summary| (summary, exit.clone())))
}

/// Passes on what the check of the redacted copy finds; the judgement is that of the stream.
struct Judged<'o> {
    out: &'o mut dyn Observer,
    judged: &'o StreamSummary,
}

impl Observer for Judged<'_> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.out.begin(start)
    }

    fn undetected_event(&mut self) {
        self.out.undetected_event();
    }

    fn event(&mut self, event: &CheckedEvent<'_>) {
        self.out.event(event);
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.out.diagnostic(diagnostic);
    }

    fn flush(&mut self) {
        self.out.flush();
    }

    fn stream_ended(&mut self) {
        self.out.stream_ended();
    }

    fn summary(&mut self, summary: &StreamSummary) {
        let judged = self.judged;
        self.out.summary(&StreamSummary {
            verdict: judged.verdict,
            outcome: judged.outcome,
            errors: judged.errors,
            warnings: judged.warnings,
            rule_counts: judged.rule_counts.clone(),
            bytes: judged.bytes,
            text_bytes: judged.text_bytes,
            ..summary.clone()
        });
    }
}
