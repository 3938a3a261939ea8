//! `--redact`: the stream is judged as it came, and all that is written is made from a redacted
//! copy of it.

use std::collections::HashSet;
use std::env;
use std::io::{self, Cursor, Read};

use ndjson_check_core::{
    CheckedLine, Checker, Diagnostic, Error, Event, Observer, ProducerExit, Redactor, Rule,
    SecretValue, StreamCheck, StreamStart, StreamSummary, WantedEvents,
};

use super::args::{RedactArgs, RedactMode};
use super::error::CliError;
use super::tee::TeeTarget;

/// What is read at once where no check reads, in bytes.
const READ_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone)]
pub(super) struct Redaction {
    values: Vec<SecretValue>,
    /// Whether all content is replaced, not only secrets.
    is_of_content: bool,
}

/// A name or a message of ours without its secrets, if they must be replaced. It has no content.
pub(super) fn shown(text: &str, redaction: Option<&Redaction>) -> String {
    redaction.map_or_else(|| text.to_owned(), |it| Redactor::secrets(&it.values).text(text))
}

impl Redaction {
    pub(super) fn of(arguments: &RedactArgs) -> Result<Option<Self>, CliError> {
        let values = arguments.env.iter().map(|name| value(name));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let is_of_content = arguments.modes.contains(&RedactMode::Content);
        let is_wanted = arguments.are_given();
        Ok(is_wanted.then_some(Self { values, is_of_content }))
    }

    /// Lines of NDJSON that no agent wrote, without their secrets.
    pub(super) fn of_lines<R: Read>(&self, source: R) -> RedactedLines<R> {
        let redactor = Some(Redactor::secrets(&self.values));
        RedactedLines { source, redactor, redacted: Cursor::default() }
    }

    fn of_stream(&self, checker: &Checker) -> Redactor {
        if self.is_of_content {
            Redactor::content(checker, &self.values)
        } else {
            Redactor::secrets(&self.values)
        }
    }

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
        return Err(refused("this is not the name of an environment variable"));
    }
    let value = env::var_os(name).ok_or_else(|| refused("the variable is not set"))?;
    let value = value.to_str().ok_or_else(|| refused("the value is not valid UTF-8"))?;
    let min = SecretValue::BYTES_MIN;
    let short = || refused(&format!("the value has fewer than {min} bytes"));
    SecretValue::new(name, value).ok_or_else(short)
}

/// The redacted copy of a stream, which is checked again for all that is written. It observes the
/// check of the stream as it came.
pub(super) struct RedactedCopy<'c> {
    redactor: Redactor,
    stream: StreamCheck<'c>,
    /// Why the copy could not be checked.
    failure: Option<Error>,
    /// What the stream as it came shows about the expectations, which may ask for content; none
    /// unless all content is replaced.
    expectations: Option<Vec<Diagnostic>>,
    /// The rules that the stream as it came breaks. What replaces its content may break others.
    broken_rules: HashSet<Rule>,
    /// For messages, which may quote a secret of the configuration or of a schema.
    of_messages: Redactor,
}

impl<'c> RedactedCopy<'c> {
    pub(super) fn new(redaction: &Redaction, name: &str, checker: &'c mut Checker) -> Self {
        let redactor = redaction.of_stream(checker);
        let (stream, failure) = (checker.stream(name), None);
        let expectations = redaction.is_of_content.then(Vec::new);
        let broken_rules = HashSet::new();
        let of_messages = Redactor::secrets(&redaction.values);
        Self { redactor, stream, failure, expectations, broken_rules, of_messages }
    }

    /// Redacts bytes that have been checked, writes them, and checks them again.
    pub(super) fn feed(&mut self, bytes: &[u8], copies: &mut [TeeTarget], out: &mut dyn Observer) {
        let mut ready = Vec::new();
        self.redactor.feed(bytes, &mut ready);
        self.write(&ready, copies, out);
    }

    /// An error may quote an event.
    fn redacted(&mut self, error: Error) -> Error {
        match error {
            Error::UnknownAgent { stream, first, inside } => {
                let first = first.filter(|_| self.expectations.is_none());
                let first = first.map(|event| {
                    let mut line = Vec::new();
                    self.of_messages.feed(event.as_bytes(), &mut line);
                    self.of_messages.finish(&mut line);
                    String::from_utf8_lossy(&line).into_owned()
                });
                Error::UnknownAgent { stream, first, inside }
            }
            error => error,
        }
    }

    fn write(&mut self, bytes: &[u8], copies: &mut [TeeTarget], out: &mut dyn Observer) {
        if bytes.is_empty() {
            return;
        }
        for copy in copies.iter_mut() {
            copy.write(bytes);
        }
        if self.failure.is_none() {
            let mut judged = WithOriginalVerdict {
                out,
                of_messages: &self.of_messages,
                hides_text: self.expectations.is_some(),
                broken_rules: &self.broken_rules,
                original: None,
                expectations: None,
            };
            self.failure = self.stream.feed(bytes, &mut judged).err();
        }
    }

    /// `original` is the result of the stream as it came.
    pub(super) fn finish(
        mut self,
        original: Result<StreamSummary, Error>,
        exit: &ProducerExit,
        copies: &mut [TeeTarget],
        out: &mut dyn Observer,
    ) -> Result<(), Error> {
        let mut rest = Vec::new();
        self.redactor.finish(&mut rest);
        self.write(&rest, copies, out);
        copies.iter_mut().for_each(TeeTarget::end);
        let original = original.map_err(|error| self.redacted(error))?;
        let mut exit = exit.clone();
        exit.stderr_lines.iter_mut().for_each(|line| *line = self.redactor.stderr_line(line));
        let Self { stream, failure, expectations, broken_rules, of_messages, .. } = self;
        if let Some(error) = failure {
            return Err(error);
        }
        let mut judged = WithOriginalVerdict {
            out,
            of_messages: &of_messages,
            hides_text: expectations.is_some(),
            broken_rules: &broken_rules,
            original: Some(&original),
            expectations,
        };
        stream.finish(&exit, &mut judged).map(drop)
    }
}

impl Observer for RedactedCopy<'_> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.redactor.begin(start)
    }

    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.redactor.diagnostic(diagnostic);
        self.broken_rules.insert(diagnostic.rule);
        if let Some(expectations) = &mut self.expectations
            && is_about_expectation(diagnostic)
        {
            expectations.push(diagnostic.clone());
        }
    }
}

fn is_about_expectation(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.rule, Rule::ExpectationFailed | Rule::ExpectationUnobservable)
}

/// Passes on what the check of the redacted copy finds; the judgement is that of the stream.
struct WithOriginalVerdict<'o> {
    out: &'o mut dyn Observer,
    of_messages: &'o Redactor,
    /// Whether no finding shows text of the stream.
    hides_text: bool,
    broken_rules: &'o HashSet<Rule>,
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
        let detail = diagnostic.detail.filter(|_| !self.hides_text);
        diagnostic.detail = detail.map(|detail| self.of_messages.text(&detail));
        self.out.diagnostic(&diagnostic);
    }
}

impl Observer for WithOriginalVerdict<'_> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.out.begin(start)
    }

    fn undetected_events(&mut self, hides_open_calls: bool) {
        self.out.undetected_events(hides_open_calls);
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        self.out.event(event);
    }

    fn events(&mut self, events: &[Event<'_>]) {
        self.out.events(events);
    }

    fn wants(&self) -> WantedEvents {
        self.out.wants()
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let is_replaced = self.expectations.is_some() && is_about_expectation(diagnostic);
        if self.broken_rules.contains(&diagnostic.rule) && !is_replaced {
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
        let (facts, of_original) = (&mut shown.facts, &original.facts);
        (facts.reason, facts.retryable) = (of_original.reason, of_original.retryable);
        facts.retry_after = of_original.retry_after;
        (shown.bytes, shown.text_bytes) = (original.bytes, original.text_bytes);
        shown.sha256.clone_from(&original.sha256);
        self.out.summary(&shown);
    }
}

pub(super) struct RedactedLines<R> {
    source: R,
    /// None at the end of the source.
    redactor: Option<Redactor>,
    /// What is redacted, and was not read yet.
    redacted: Cursor<Vec<u8>>,
}

impl<R: Read> Read for RedactedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.redacted.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(redactor) = &mut self.redactor else { return Ok(0) };
            let mut read = vec![0; READ_BYTES];
            let count = self.source.read(&mut read)?;
            let mut redacted = Vec::new();
            redactor.feed(&read[..count], &mut redacted);
            if count == 0
                && let Some(mut redactor) = self.redactor.take()
            {
                redactor.finish(&mut redacted);
            }
            self.redacted = Cursor::new(redacted);
        }
    }
}
