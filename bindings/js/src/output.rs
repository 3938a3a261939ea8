//! Streams that are written in another form, or as a report, while they arrive.

use ndjson_check::{
    Checker, Converter, Form, HumanReport, JsonReport, Observer, Outcome, Output, ProducerExit,
    RunTotals, StreamCheck, StreamSummary, Verdict, Written,
};
use ndjson_check_formats::report::{Html, Markdown, PageFolder};
use self_cell::MutBorrow;
use serde::Deserialize;

use crate::events::EventArray;
use crate::options::Options;
use crate::readers::text;

/// A form of `--to`, or a report.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OutputName {
    Text,
    Transcript,
    Answer,
    Json,
    StreamJson,
    Events,
    ChromeTrace,
    OtlpJson,
    Atif,
    HumanReport,
    JsonReport,
    MarkdownReport,
    HtmlReport,
}

impl OutputName {
    pub(crate) fn shows_stats(self) -> bool {
        matches!(self, Self::HtmlReport)
    }

    fn open(self, options: &Options) -> Box<dyn Output> {
        let form = match self {
            Self::Text => Form::Text,
            Self::Transcript => Form::Transcript,
            Self::Answer => Form::Answer,
            Self::Json => Form::Json,
            Self::StreamJson => Form::ValidEvents,
            Self::Events => Form::Events,
            Self::ChromeTrace => Form::ChromeTrace,
            Self::OtlpJson => Form::OtlpJson,
            Self::Atif => Form::Atif,
            Self::HumanReport => return Box::new(HumanReport::default()),
            Self::JsonReport => return Box::new(JsonReport::default()),
            Self::MarkdownReport => return Box::new(Markdown::comment()),
            Self::HtmlReport => return Box::new(Html::new(no_folder())),
        };
        let converter = Converter::new(form, options.raw);
        Box::new(converter.results(options.results).thinking(options.thinking))
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

enum Writer {
    Events(Box<EventArray>),
    Text(Written<Vec<u8>>),
}

impl Writer {
    fn observer(&mut self) -> &mut dyn Observer {
        match self {
            Self::Events(events) => &mut **events,
            Self::Text(written) => written,
        }
    }
}

pub(crate) struct Writing {
    stream: OwnStream,
    writer: Writer,
}

impl Writing {
    pub(crate) fn open(checker: Checker, options: &Options) -> Self {
        let output: Option<Box<dyn Output>> = options.output.map(|it| it.open(options));
        let writer = match output {
            None => Writer::Events(Box::default()),
            Some(output) => Writer::Text(Written::new(Vec::new(), output)),
        };
        let name = options.name();
        let stream = OwnStream::new(MutBorrow::new(checker), |checker| {
            Some(checker.borrow_mut().stream(name))
        });
        Self { stream, writer }
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
            Writer::Text(written) => taken(written),
        })
    }

    /// See [`EventArray::state`]; 0 for other outputs.
    pub(crate) fn state(&mut self) -> u32 {
        match &mut self.writer {
            Writer::Events(events) => events.state(),
            Writer::Text(_) => 0,
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
        Ok(match &mut self.writer {
            Writer::Events(events) => {
                let parts =
                    [&b"{\"events\":"[..], &events.take(), b",\"summary\":", &events.summary];
                [parts.concat(), b"}".to_vec()].concat()
            }
            Writer::Text(written) => {
                let mut totals = RunTotals::default();
                totals.add(&summary);
                written.end(&totals, exit_code(&summary));
                taken(written)
            }
        })
    }
}

/// What was written since the last call. Nothing can fail: it is in memory.
fn taken(written: &mut Written<Vec<u8>>) -> Vec<u8> {
    written.writer().map(std::mem::take).unwrap_or_default()
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
