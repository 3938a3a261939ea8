//! A stream in another form, or as a report.

use ndjson_check::{
    Checker, Converter, Form, HumanReport, JsonReport, Outcome, Output, ProducerExit, RunTotals,
    StreamSummary, Verdict, Written,
};
use ndjson_check_formats::report::{Html, Markdown, PageFolder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::{PyChecker, error, exit};

/// The text of a form of `--to`, or of a report.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are options of one call")]
pub(crate) fn write(
    py: Python<'_>,
    checker: &PyChecker,
    name: &str,
    kind: &str,
    data: &[u8],
    exit_status: Option<u8>,
    signal: Option<u8>,
    raw: bool,
    results: usize,
    thinking: bool,
) -> PyResult<String> {
    let exit = exit(exit_status, signal);
    let mut checker = checker.0.clone();
    let text = py.detach(|| match open(kind, raw, results, thinking) {
        Some(output) => written(&mut checker, name, data, &exit, output).map(Some),
        None => Ok(None),
    });
    let unknown = || PyValueError::new_err(format!("no such form or report: {kind}"));
    text.map_err(error)?.ok_or_else(unknown)
}

fn open(kind: &str, raw: bool, results: usize, thinking: bool) -> Option<Box<dyn Output>> {
    let form = match kind {
        "text" => Form::Text,
        "transcript" => Form::Transcript,
        "answer" => Form::Answer,
        "json" => Form::Json,
        "stream-json" => Form::ValidEvents,
        "events" => Form::Events,
        "chrome-trace" => Form::ChromeTrace,
        "otlp-json" => Form::OtlpJson,
        "atif" => Form::Atif,
        "human-report" => return Some(Box::new(HumanReport::default())),
        "json-report" => return Some(Box::new(JsonReport::default())),
        "markdown-report" => return Some(Box::new(Markdown::comment())),
        "html-report" => return Some(Box::new(Html::new(no_folder()))),
        _ => return None,
    };
    Some(Box::new(Converter::new(form, raw).results(results).thinking(thinking)))
}

/// The page of a run, from the lines of `--to events`, which have a profile of their own.
#[pyfunction]
pub(crate) fn page(py: Python<'_>, name: &str, events: &[u8]) -> PyResult<String> {
    py.detach(|| {
        let mut checker = Checker::builder().profile("events").build()?;
        let report = Box::new(Html::new(no_folder()));
        written(&mut checker, name, events, &ProducerExit::default(), report)
    })
    .map_err(error)
}

fn written(
    checker: &mut Checker,
    name: &str,
    data: &[u8],
    exit: &ProducerExit,
    output: Box<dyn Output>,
) -> Result<String, ndjson_check::Error> {
    let mut out = Written::new(Vec::new(), output);
    let mut stream = checker.stream(name);
    stream.feed(data, &mut out)?;
    let summary = stream.finish(exit, &mut out)?;
    let mut totals = RunTotals::default();
    totals.add(&summary);
    out.end(&totals, exit_code(&summary));
    let bytes = out.writer().map(std::mem::take).unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
