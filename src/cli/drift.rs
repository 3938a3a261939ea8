//! `drift`: what the profiles do not know of some recordings.

use std::path::PathBuf;

use ndjson_check_core::{Checker, Error, Observer, ProducerExit, StreamSummary, WantedEvents};
use ndjson_check_formats::report::DriftReport;

use super::args::{CompareFormat, DriftArgs, RedactArgs, in_shell};
use super::check_stream::{StreamJob, check_stream};
use super::config;
use super::error::CliError;
use super::inputs::contents::{FoundStream, each_stream};
use super::inputs::{Input, inputs};
use super::redaction::Redaction;
use super::{exit, print, print_stderr};

/// Returns the exit code.
pub(super) fn run(arguments: &DriftArgs) -> Result<u8, CliError> {
    let mut source = StreamReader::new(arguments.profile.as_deref(), &arguments.redact)?;
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

/// Reads the figures of recordings, redacted if they must be. It judges nothing.
pub(super) struct StreamReader {
    checker: Checker,
    redaction: Option<Redaction>,
}

impl StreamReader {
    /// Without a named profile, that of the nearest configuration file is used.
    pub(super) fn new(profile: Option<&str>, redact: &RedactArgs) -> Result<Self, CliError> {
        let redaction = Redaction::of(redact)?;
        let profile = match profile {
            Some(profile) => profile.to_owned(),
            None => config::nearest()?.profile().to_owned(),
        };
        let checker = Checker::builder().profile(&profile).stats(true).build()?;
        Ok(Self { checker, redaction })
    }

    /// Reads the recordings in a file, of which there must be `only_one` if so. `each` gets the
    /// name of each, and what observed it.
    pub(super) fn read<O: Observer + Default>(
        &mut self,
        input: &Input,
        only_one: bool,
        mut each: impl FnMut(Result<(String, O), Error>),
    ) {
        let source = match input.open() {
            Ok(source) => source,
            Err(error) => return each(Err(error)),
        };
        each_stream(&input.name(), source, only_one.then_some("diff"), |stream| {
            each(stream.and_then(|FoundStream { name, source, .. }| {
                let mut observer = O::default();
                let redaction = self.redaction.as_ref();
                let (copies, out, supervisor) = (&mut [], &mut observer, &mut ());
                let job = StreamJob { name, redaction, copies, out, supervisor };
                check_stream(&mut self.checker, job, source, ProducerExit::default)?;
                Ok((name.to_owned(), observer))
            }));
        });
    }

    /// An error as it may be shown.
    pub(super) fn told(&self, error: CliError) -> CliError {
        match self.redaction {
            None => error,
            Some(_) => CliError::Usage(self.shown(&error.to_string())),
        }
    }

    fn shown(&self, message: &str) -> String {
        self.redaction.as_ref().map_or(message.to_owned(), |it| it.of_name(message))
    }
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

/// Why a recording is of no use, and the command that says more.
pub(super) fn no_event(input: &Input) -> String {
    match input {
        Input::Stdin => "it has no event".to_owned(),
        Input::Path(path) => {
            let name = in_shell(&path.to_string_lossy()).into_owned();
            format!("it has no event; `ndjson-check {name}` says why")
        }
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
            print_stderr(&format!("ndjson-check: {}", source.shown(&problem)));
            report.miss();
        }
    }
    report
}
