//! The stream in another form, while it arrives: one file for each target.

mod actions;
mod answer;
mod atif;
mod below;
mod chrome_trace;
mod clock;
mod colours;
mod details;
mod event_form;
mod events;
mod json;
mod log;
mod log_lines;
mod open_calls;
mod otlp;
mod text;
mod transcript;
mod valid_events;

use ndjson_check_core::{
    CheckedLine, Diagnostic, Error, Event, StreamStart, StreamSummary, WantedEvents,
};

use crate::Output;

pub(crate) use answer::answer_of;
use atif::AtifTrajectory;
use chrome_trace::ChromeTrace;
use event_form::EventForm;
use events::EventLines;
pub use log::FormStyle;
use otlp::OtlpSpans;

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
    /// A trace that Perfetto and `chrome://tracing` open: Trace Event Format.
    ChromeTrace,
    /// Spans by OpenTelemetry's conventions for generative AI, as OTLP JSON.
    OtlpJson,
    /// A trajectory of the Agent Trajectory Interchange Format.
    Atif,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Transcript,
        Self::Answer,
        Self::Json,
        Self::ValidEvents,
        Self::Events,
        Self::ChromeTrace,
        Self::OtlpJson,
        Self::Atif,
    ];

    /// Its name in the option `--to`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Transcript => "transcript",
            Self::Answer => "answer",
            Self::Json => "json",
            Self::ValidEvents => "stream-json",
            Self::Events => "events",
            Self::ChromeTrace => "chrome-trace",
            Self::OtlpJson => "otlp-json",
            Self::Atif => "atif",
        }
    }

    /// The form of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// Writes streams in another form, one after the other.
pub struct Converter {
    to: Form,
    style: FormStyle,
    /// The open stream; between streams nothing is written.
    stream: Box<dyn Output + Send>,
}

impl Converter {
    /// `to` is the form, and `style` how it shows a run.
    pub fn new(to: Form, style: FormStyle) -> Self {
        Self { to, style, stream: Box::new(()) }
    }
}

impl Output for Converter {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        if self.to == Form::Json && !start.has_single_object() {
            return Err(start.no_single_object());
        }
        self.stream = of_stream(start, self.to, &self.style);
        Ok(())
    }

    fn event(&mut self, event: &CheckedLine<'_>, out: &mut String) {
        self.stream.event(event, out);
    }

    fn events(&mut self, events: &[Event<'_>], out: &mut String) {
        self.stream.events(events, out);
    }

    fn wants(&self) -> WantedEvents {
        self.stream.wants()
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, out: &mut String) {
        self.stream.diagnostic(diagnostic, out);
    }

    fn stream_ended(&mut self, out: &mut String) {
        self.stream.stream_ended(out);
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
        self.stream.summary(summary, out);
        self.stream = Box::new(());
    }
}

fn of_stream(start: &StreamStart<'_>, to: Form, style: &FormStyle) -> Box<dyn Output + Send> {
    let is_raw = style.is_raw;
    match to {
        Form::Text => Box::new(text::TextFormatter::new(start.wordings(), style)),
        Form::Transcript => Box::new(transcript::TranscriptFormatter::new(start.wordings(), style)),
        Form::Answer => Box::new(answer::AnswerFormatter::new(is_raw)),
        Form::Json => Box::new(json::ObjectFormatter::new(is_raw)),
        Form::ValidEvents => Box::new(valid_events::ValidEventsFormatter),
        Form::Events => {
            Box::new(EventForm::new(start, is_raw, EventLines::default(), EventLines::event))
        }
        Form::ChromeTrace => {
            Box::new(EventForm::new(start, is_raw, ChromeTrace::default(), ChromeTrace::event))
        }
        Form::OtlpJson => {
            Box::new(EventForm::new(start, is_raw, OtlpSpans::new(start.name()), OtlpSpans::event))
        }
        Form::Atif => Box::new(EventForm::new(
            start,
            is_raw,
            AtifTrajectory::default(),
            AtifTrajectory::event,
        )),
    }
}
