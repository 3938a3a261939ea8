//! `--redact`: the stream is judged as it came, and all that is written is made from a redacted
//! copy of it.

use std::cell::RefCell;
use std::env;
use std::io::{self, Read};

use ndjson_check_core::{
    CheckedEvent, Checker, Diagnostic, Error, Event, Observer, ProducerExit, Redactor, Rule,
    SECRET_BYTES_MIN, SecretValue, StreamCheck, StreamStart, StreamSummary, WantedEvents,
};

use super::args::{RedactArgs, RedactMode};
use super::error::CliError;
use super::tee::TeeTarget;

/// What to redact.
#[derive(Debug, Clone)]
pub(super) struct Redaction {
    values: Vec<SecretValue>,
    /// Whether all content is replaced, not only secrets.
    is_of_content: bool,
}

impl Redaction {
    /// What the command line asks for.
    pub(super) fn of(arguments: &RedactArgs) -> Result<Option<Self>, CliError> {
        let values = arguments.env.iter().map(|name| value(name));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let is_of_content = arguments.modes.contains(&RedactMode::Content);
        let is_wanted = arguments.are_given();
        Ok(is_wanted.then_some(Self { values, is_of_content }))
    }

    /// A name or a message of ours, which may quote a secret and is no content.
    pub(super) fn of_name(&self, name: &str) -> String {
        Redactor::secrets(&self.values).text(name)
    }

    /// All lines of NDJSON that no agent wrote, without their secrets.
    pub(super) fn of_lines(&self, mut lines: impl Read) -> io::Result<Vec<u8>> {
        let (mut text, mut redacted) = (Vec::new(), Vec::new());
        lines.read_to_end(&mut text)?;
        let mut redactor = Redactor::secrets(&self.values);
        redactor.feed(&text, &mut redacted);
        redactor.finish(&mut redacted);
        Ok(redacted)
    }

    /// For a stream that this checker checks.
    fn of_stream(&self, checker: &Checker) -> Redactor {
        if self.is_of_content {
            Redactor::content(checker, &self.values)
        } else {
            Redactor::secrets(&self.values)
        }
    }

    /// For a text that is no stream.
    #[cfg_attr(not(unix), expect(dead_code, reason = "run mode needs a Unix system"))]
    pub(super) fn of_text(&self) -> Redactor {
        if self.is_of_content {
            Redactor::content_of_text(&self.values)
        } else {
            Redactor::secrets(&self.values)
        }
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
    stream: StreamCheck<'c>,
    copies: &'o mut [TeeTarget],
    out: &'o mut dyn Observer,
    /// Bytes that were read and not yet redacted.
    pending: Vec<u8>,
    /// Why the copy could not be checked.
    failure: Option<Error>,
    /// What the stream as it came shows about the expectations, which may ask for content.
    expectations: Option<Vec<Diagnostic>>,
    /// For messages, which may quote a secret of the configuration or of a schema.
    of_messages: Redactor,
}

impl<'c, 'o> RedactedCopy<'c, 'o> {
    pub(super) fn new(
        redaction: &Redaction,
        name: &str,
        checker: &'c mut Checker,
        copies: &'o mut [TeeTarget],
        out: &'o mut dyn Observer,
    ) -> RefCell<Self> {
        let (redactor, pending) = (redaction.of_stream(checker), Vec::new());
        let (stream, failure) = (checker.stream(&redaction.of_name(name)), None);
        let expectations = redaction.is_of_content.then(Vec::new);
        let of_messages = Redactor::secrets(&redaction.values);
        RefCell::new(Self {
            redactor,
            stream,
            copies,
            out,
            pending,
            failure,
            expectations,
            of_messages,
        })
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
            let Self { out, of_messages, .. } = self;
            let mut judged =
                WithOriginalVerdict { out: *out, of_messages, original: None, expectations: None };
            self.failure = self.stream.feed(bytes, &mut judged).err();
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
        let Self { stream, out, failure, expectations, of_messages, .. } = copy;
        let (summary, exit) = result?;
        if let Some(error) = failure {
            return Err(error);
        }
        let (original, of_messages) = (Some(&summary), &of_messages);
        stream
            .finish(&exit, &mut WithOriginalVerdict { out, of_messages, original, expectations })?;
        Ok(summary)
    }
}

/// Observes the check of the stream as it came.
pub(super) struct OriginalObserver<'r, 'c, 'o>(pub(super) &'r RefCell<RedactedCopy<'c, 'o>>);

impl Observer for OriginalObserver<'_, '_, '_> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.0.borrow_mut().redactor.begin(start)
    }

    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let mut copy = self.0.borrow_mut();
        copy.redactor.diagnostic(diagnostic);
        if let Some(expectations) = &mut copy.expectations
            && is_about_expectation(diagnostic)
        {
            expectations.push(diagnostic.clone());
        }
    }
}

fn is_about_expectation(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.rule, Rule::ExpectationFailed | Rule::ExpectationUnobservable)
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
    let copy = RedactedCopy::new(redaction, name, &mut second, copies, out);
    let mut stream = checker.stream(&redaction.of_name(name));
    let read = stream.read(Redacting::new(source, &copy), &mut OriginalObserver(&copy));
    let result = read.and_then(|()| stream.finish(exit, &mut OriginalObserver(&copy)));
    RedactedCopy::finish(copy, result.map(|summary| (summary, exit.clone())))
}

/// Passes on what the check of the redacted copy finds; the judgement is that of the stream.
struct WithOriginalVerdict<'o> {
    out: &'o mut dyn Observer,
    of_messages: &'o Redactor,
    /// Once it is known.
    original: Option<&'o StreamSummary>,
    /// Those of the stream as it came, if they replace those of the copy.
    expectations: Option<Vec<Diagnostic>>,
}

impl WithOriginalVerdict<'_> {
    fn pass_on(&mut self, diagnostic: &Diagnostic) {
        let mut diagnostic = diagnostic.clone();
        diagnostic.message = self.of_messages.text(&diagnostic.message);
        diagnostic.note = diagnostic.note.map(|note| self.of_messages.text(&note));
        self.out.diagnostic(&diagnostic);
    }
}

impl Observer for WithOriginalVerdict<'_> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.out.begin(start)
    }

    fn undetected_event(&mut self) {
        self.out.undetected_event();
    }

    fn event(&mut self, event: &CheckedEvent<'_>) {
        self.out.event(event);
    }

    fn events(&mut self, events: &[Event<'_>]) {
        self.out.events(events);
    }

    fn wants(&self) -> WantedEvents {
        self.out.wants()
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        if self.expectations.is_none() || !is_about_expectation(diagnostic) {
            self.pass_on(diagnostic);
        }
    }

    fn flush(&mut self) {
        self.out.flush();
    }

    fn stream_ended(&mut self) {
        self.out.stream_ended();
    }

    fn summary(&mut self, summary: &StreamSummary) {
        for diagnostic in self.expectations.take().iter().flatten() {
            self.pass_on(diagnostic);
        }
        let original = self.original.unwrap_or(summary);
        let mut shown = summary.clone();
        (shown.verdict, shown.outcome) = (original.verdict, original.outcome);
        (shown.errors, shown.warnings) = (original.errors, original.warnings);
        shown.rule_counts.clone_from(&original.rule_counts);
        (shown.bytes, shown.text_bytes) = (original.bytes, original.text_bytes);
        shown.sha256.clone_from(&original.sha256);
        self.out.summary(&shown);
    }
}
