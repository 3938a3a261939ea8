//! `drift`: what the profiles do not know of some recordings.

use std::path::PathBuf;

use super::archive::Decompressed;
use super::args::{CompareFormat, DriftArgs};
use super::error::CliError;
use super::inputs::{Input, inputs};
use super::{exit, print, print_stderr};
use crate::check::{Checker, Observer, StreamSummary};
use crate::error::Error;
use crate::output::report::DriftReport;
use crate::profile::detect::AUTO;

/// Prints what is new; returns the exit code.
pub(super) fn run(arguments: &DriftArgs) -> Result<u8, CliError> {
    let mut checker = checker(arguments.profile.as_deref())?;
    let known = collected(&arguments.known, &mut checker);
    let new = collected(&arguments.files, &mut checker);
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

/// A checker that collects the figures of streams. It judges nothing.
pub(super) fn checker(profile: Option<&str>) -> Result<Checker, Error> {
    Checker::builder().profile(profile.unwrap_or(AUTO)).stats(true).build()
}

/// Reads the figures of one recording.
pub(super) fn read(
    input: &Input,
    checker: &mut Checker,
    out: &mut dyn Observer,
) -> Result<StreamSummary, Error> {
    checker.check(&input.name(), Decompressed::new(input.open()?), out)
}

/// What the profiles do not know of these recordings. What cannot be read is reported.
fn collected(files: &[PathBuf], checker: &mut Checker) -> DriftReport {
    let mut report = DriftReport::default();
    let streams = if files.is_empty() { Vec::new() } else { inputs(files.to_vec()) };
    for input in streams {
        match input.and_then(|input| read(&input, checker, &mut ())) {
            Ok(summary) if summary.events == 0 => {
                print_stderr(&format!("ndjson-check: {}: it has no event", summary.name));
                report.miss();
            }
            Ok(summary) => report.add(&summary),
            Err(error) => {
                print_stderr(&format!("ndjson-check: {}", CliError::from(error)));
                report.miss();
            }
        }
    }
    report
}
