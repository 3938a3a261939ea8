//! Streams that are written in another form, or as a report, while they arrive.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use ndjson_check::{
    Checker, Converter, Form, HumanReport, JsonReport, Observer, Outcome, ProducerExit, RunTotals,
    StreamCheck, StreamSummary, Verdict,
};
use ndjson_check_formats::report::{Html, Markdown, PageFolder, Report};
use self_cell::MutBorrow;
use serde::Deserialize;

use crate::events::EventArray;
use crate::options::Options;
use crate::readers::text;

/// A form of `--to`, or a report.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Output {
    Text,
    Transcript,
    Answer,
    Json,
    StreamJson,
    Events,
    AgUi,
    ChromeTrace,
    OtlpJson,
    Atif,
    HumanReport,
    JsonReport,
    MarkdownReport,
    HtmlReport,
}

impl Output {
    pub(crate) fn shows_stats(self) -> bool {
        matches!(self, Self::HtmlReport)
    }

    /// None for a report.
    fn form(self) -> Option<Form> {
        Some(match self {
            Self::Text => Form::Text,
            Self::Transcript => Form::Transcript,
            Self::Answer => Form::Answer,
            Self::Json => Form::Json,
            Self::StreamJson => Form::ValidEvents,
            Self::Events => Form::Events,
            Self::AgUi => Form::AgUi,
            Self::ChromeTrace => Form::ChromeTrace,
            Self::OtlpJson => Form::OtlpJson,
            Self::Atif => Form::Atif,
            _ => return None,
        })
    }
}

self_cell::self_cell!(
    struct OwnStream {
        owner: MutBorrow<Checker>,
        #[not_covariant]
        dependent: OpenStream,
    }
);

/// None when it is finished.
type OpenStream<'c> = Option<StreamCheck<'c>>;

/// What was written and not yet read.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.borrow_mut())
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Writer {
    Events(Box<EventArray>),
    Form(Box<Converter<Written>>),
    Report(Box<dyn Report<Written>>),
}

impl Writer {
    fn observer(&mut self) -> &mut dyn Observer {
        match self {
            Self::Events(events) => &mut **events,
            Self::Form(converter) => &mut **converter,
            Self::Report(report) => &mut **report,
        }
    }
}

pub(crate) struct Writing {
    stream: OwnStream,
    writer: Writer,
    written: Written,
}

impl Writing {
    pub(crate) fn open(checker: Checker, options: &Options) -> Self {
        let written = Written::default();
        let to = written.clone();
        let output = options.output;
        let writer = match (output.and_then(Output::form), output) {
            (_, None) => Writer::Events(Box::default()),
            (Some(form), _) => {
                let converter = Converter::new(form, options.raw, to);
                Writer::Form(Box::new(
                    converter.results(options.results).thinking(options.thinking),
                ))
            }
            (None, Some(Output::JsonReport)) => Writer::Report(Box::new(JsonReport::new(to))),
            (None, Some(Output::MarkdownReport)) => Writer::Report(Box::new(Markdown::new(to))),
            (None, Some(Output::HtmlReport)) => {
                Writer::Report(Box::new(Html::new(to, no_folder())))
            }
            (None, Some(_)) => Writer::Report(Box::new(HumanReport::new(to))),
        };
        let name = options.name();
        let stream = OwnStream::new(MutBorrow::new(checker), |checker| {
            Some(checker.borrow_mut().stream(name))
        });
        Self { stream, writer, written }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let observer = self.writer.observer();
        self.stream
            .with_dependent_mut(|_, stream| match stream {
                Some(stream) => stream.feed(bytes, observer),
                None => Ok(()),
            })
            .map_err(text)?;
        Ok(match &mut self.writer {
            Writer::Events(events) => events.take(),
            Writer::Form(_) | Writer::Report(_) => self.written.take(),
        })
    }

    /// See [`EventArray::state`]; 0 for other outputs.
    pub(crate) fn state(&mut self) -> u32 {
        match &mut self.writer {
            Writer::Events(events) => events.state(),
            Writer::Form(_) | Writer::Report(_) => 0,
        }
    }

    /// The last part. Of events it is an object with them and with the summary.
    pub(crate) fn finish(mut self, exit: &ProducerExit) -> Result<Vec<u8>, String> {
        let observer = self.writer.observer();
        let summary = self
            .stream
            .with_dependent_mut(|_, stream| stream.take().map(|it| it.finish(exit, observer)))
            .ok_or("the stream is finished")?
            .map_err(text)?;
        match &mut self.writer {
            Writer::Events(events) => {
                let parts =
                    [&b"{\"events\":"[..], &events.take(), b",\"summary\":", &events.summary];
                return Ok([parts.concat(), b"}".to_vec()].concat());
            }
            Writer::Form(_) => {}
            Writer::Report(report) => {
                let mut totals = RunTotals::default();
                totals.add(&summary);
                report.end(&totals, exit_code(&summary));
            }
        }
        drop(self.writer);
        Ok(self.written.take())
    }
}

/// There is one stream, and so no folder.
fn no_folder() -> PageFolder {
    PageFolder { folder: String::new(), index: String::new(), write: Box::new(|_, _| Ok(())) }
}

/// That of the program for this stream.
fn exit_code(summary: &StreamSummary) -> u8 {
    match (summary.verdict, summary.outcome) {
        (Verdict::Conforming, Outcome::Succeeded) => 0,
        (Verdict::Conforming, Outcome::TimedOut) => 4,
        (Verdict::Conforming, _) => 3,
        (_, _) => 1,
    }
}
