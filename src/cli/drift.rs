//! `drift`: what the profiles do not know of some recordings.

use std::path::PathBuf;

use ndjson_check_core::{Error, Observer, StreamSummary, WantedEvents};
use ndjson_check_formats::report::DriftReport;

use super::args::{CompareFormat, DriftArgs};
use super::error::CliError;
use super::inputs::inputs;
use super::redaction::shown;
use super::stream_reader::{StreamReader, no_event};
use super::{exit, print, print_stderr};

/// Returns the exit code.
pub(super) fn run(arguments: &DriftArgs) -> Result<u8, CliError> {
    let mut source = StreamReader::new(arguments.profile.as_deref(), &arguments.redact, false)?;
    let known = collected(&arguments.known, &mut source);
    let new = collected(&arguments.files, &mut source);
    let news = new.without(&known);
    print(&match arguments.report {
        CompareFormat::Human => news.text(),
        CompareFormat::Json => news.json(),
        CompareFormat::Markdown => news.markdown(),
    })?;
    Ok(if !(known.has_all() && new.has_all()) {
        exit::NOT_CHECKED
    } else if !news.is_empty() {
        exit::DIFFERS
    } else {
        exit::SUCCEEDED
    })
}

/// Keeps the summary that is observed: the redacted one.
#[derive(Default)]
struct Summary(Option<StreamSummary>);

impl Observer for Summary {
    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.0 = Some(summary.clone());
    }
}

/// What the profiles do not know of these recordings. What cannot be read is reported.
fn collected(files: &[PathBuf], source: &mut StreamReader) -> DriftReport {
    let mut report = DriftReport::default();
    let streams = if files.is_empty() { Vec::new() } else { inputs(files.to_vec()) };
    let mut problems = Vec::new();
    for input in streams {
        let why = input.as_ref().map_or_else(|_| String::new(), no_event);
        let mut collect = |read: Result<(String, Summary), Error>| match read {
            Ok((_, Summary(Some(summary)))) if summary.events > 0 => report.add(&summary),
            Ok((name, _)) => problems.push(format!("{name}: {why}")),
            Err(error) => problems.push(CliError::from(error).to_string()),
        };
        match input {
            Ok(input) => source.read(&input, false, collect),
            Err(error) => collect(Err(error)),
        }
        for problem in problems.drain(..) {
            print_stderr(&format!("ndjson-check: {}", shown(&problem, source.redaction())));
            report.miss();
        }
    }
    report
}
