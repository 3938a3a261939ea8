//! The stream in another form, while it arrives: one file for each target.

mod actions;
mod ag_ui;
mod answer;
mod atif;
mod chrome_trace;
mod clock;
mod details;
mod events;
mod json;
mod log;
mod normal_target;
mod open_calls;
mod otlp;
mod text;
mod transcript;
mod valid_events;

use std::io::{self, Write};

use ndjson_check_core::{
    CheckedEvent, Diagnostic, Error, Event, Observer, StreamStart, StreamSummary, WantedEvents,
};

use ag_ui::AgUiEvents;
use atif::AtifTrajectory;
use chrome_trace::ChromeTrace;
use events::EventLines;
use log::Log;
use normal_target::NormalFormatter;
use otlp::OtlpSpans;

/// Converted output that is collected while more input is already there, in bytes.
const CONVERTED_BYTES_MAX: usize = 64 * 1024;

/// What a stream is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// One line for each action.
    Text,
    /// The assistant's text, with the actions in between.
    Transcript,
    /// The final message of a run that succeeded.
    Answer,
    /// The single object of the agent's non-streaming format, of a run that succeeded.
    Json,
    /// The events that satisfy the schemas, byte for byte.
    ValidEvents,
    /// What happens in the run, in one vocabulary for all agents, as NDJSON.
    Events,
    /// The same as events of the AG-UI protocol, as NDJSON.
    AgUi,
    /// A trace that Perfetto and `chrome://tracing` open: Trace Event Format.
    ChromeTrace,
    /// Spans by OpenTelemetry's conventions for generative AI, as OTLP JSON.
    OtlpJson,
    /// A trajectory of the Agent Trajectory Interchange Format.
    Atif,
}

impl Form {
    /// Whether the form is plain text, and not JSON.
    pub fn is_text(self) -> bool {
        match self {
            Self::Text | Self::Transcript | Self::Answer => true,
            Self::Json
            | Self::ValidEvents
            | Self::Events
            | Self::AgUi
            | Self::ChromeTrace
            | Self::OtlpJson
            | Self::Atif => false,
        }
    }
}

/// Formats one stream: appends to `out` what must be written.
trait Formatter {
    fn event(&mut self, _event: &CheckedEvent<'_>, _out: &mut Vec<u8>) {}

    /// Which events it is called with.
    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }

    fn events(&mut self, _events: &[Event<'_>], _out: &mut Vec<u8>) {}

    /// A defect was found.
    fn diagnostic(&mut self, _diagnostic: &Diagnostic, _out: &mut Vec<u8>) {}

    /// Closes what the stream leaves open.
    fn end(&mut self, _out: &mut Vec<u8>) {}

    /// Writes what depends on the result.
    fn finish(&mut self, _summary: &StreamSummary, _out: &mut Vec<u8>) {}
}

/// Writes streams in another form, one after the other.
pub struct Converter<W> {
    to: Form,
    log: Log,
    /// None between streams.
    formatter: Option<Box<dyn Formatter + Send>>,
    /// None after a failure, or when the reader has gone away.
    writer: Option<W>,
    failure: Option<io::Error>,
    out: Vec<u8>,
}

impl<W: Write> Converter<W> {
    /// Control characters and the like are escaped in text, unless `is_raw`.
    pub fn new(to: Form, is_raw: bool, writer: W) -> Self {
        let (formatter, failure) = (None, None);
        let log = Log { is_raw, ..Log::default() };
        Self { to, log, formatter, writer: Some(writer), failure, out: Vec::new() }
    }

    /// Shows at most this many lines of each call's result below it, in [`Form::Text`] and
    /// [`Form::Transcript`]: of a longer one the first and the last.
    #[must_use]
    pub fn results(mut self, lines: usize) -> Self {
        self.log.result_lines = lines;
        self
    }

    /// Shows the agent's reasoning and notices such as retries, in [`Form::Text`] and
    /// [`Form::Transcript`].
    #[must_use]
    pub fn thinking(mut self, is_shown: bool) -> Self {
        self.log.has_thinking = is_shown;
        self
    }

    /// Writes with colour, or without.
    #[must_use]
    pub fn color(mut self, has_color: bool) -> Self {
        self.log.has_color = has_color;
        self
    }

    /// Folds long results in the log of a CI job, by commands with this mark before them.
    #[must_use]
    pub fn groups(mut self, command_mark: Option<String>) -> Self {
        self.log.command_mark = command_mark;
        self
    }

    /// The target.
    pub fn to(&self) -> Form {
        self.to
    }

    /// Why something could not be written. A reader that went away is not a failure.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    fn deliver(&mut self) {
        if self.out.is_empty() {
            return;
        }
        if let Some(writer) = &mut self.writer
            && let Err(error) = writer.write_all(&self.out).and_then(|()| writer.flush())
        {
            self.writer = None;
            self.failure = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        }
        self.out.clear();
    }
}

impl<W: Write> Observer for Converter<W> {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        if self.to == Form::Json && !start.has_single_object() {
            return Err(start.no_single_object());
        }
        self.formatter = Some(formatter(start, self.to, &self.log));
        Ok(())
    }

    fn event(&mut self, event: &CheckedEvent<'_>) {
        if let Some(formatter) = &mut self.formatter {
            formatter.event(event, &mut self.out);
        }
        if self.out.len() >= CONVERTED_BYTES_MAX {
            self.deliver();
        }
    }

    fn events(&mut self, events: &[Event<'_>]) {
        if let Some(formatter) = &mut self.formatter {
            formatter.events(events, &mut self.out);
        }
        if self.out.len() >= CONVERTED_BYTES_MAX {
            self.deliver();
        }
    }

    fn wants(&self) -> WantedEvents {
        self.formatter.as_ref().map_or(WantedEvents::NONE, |formatter| formatter.wants())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        if let Some(formatter) = &mut self.formatter {
            formatter.diagnostic(diagnostic, &mut self.out);
        }
    }

    fn flush(&mut self) {
        self.deliver();
    }

    fn stream_ended(&mut self) {
        if let Some(formatter) = &mut self.formatter {
            formatter.end(&mut self.out);
        }
        self.deliver();
    }

    fn summary(&mut self, summary: &StreamSummary) {
        if let Some(mut formatter) = self.formatter.take() {
            formatter.finish(summary, &mut self.out);
        }
        self.deliver();
    }
}

fn formatter(start: &StreamStart<'_>, to: Form, log: &Log) -> Box<dyn Formatter + Send> {
    let is_raw = log.is_raw;
    match to {
        Form::Text => Box::new(text::TextFormatter::new(start.wordings(), log)),
        Form::Transcript => Box::new(transcript::TranscriptFormatter::new(start.wordings(), log)),
        Form::Answer => Box::new(answer::AnswerFormatter::new(is_raw)),
        Form::Json => Box::new(json::ObjectFormatter::new(is_raw)),
        Form::ValidEvents => Box::new(valid_events::ValidEventsFormatter),
        Form::Events => Box::new(NormalFormatter::new(start, is_raw, EventLines::default())),
        Form::AgUi => Box::new(NormalFormatter::new(start, is_raw, AgUiEvents::new(start.name()))),
        Form::ChromeTrace => Box::new(NormalFormatter::new(start, is_raw, ChromeTrace::default())),
        Form::OtlpJson => {
            Box::new(NormalFormatter::new(start, is_raw, OtlpSpans::new(start.name())))
        }
        Form::Atif => Box::new(NormalFormatter::new(start, is_raw, AtifTrajectory::default())),
    }
}
