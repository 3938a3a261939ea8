//! Reports: what was found, for people and for programs.

pub mod human;
pub mod json;
mod target;

use crate::rules::diagnostic::Diagnostic;
use crate::error::Error;
use crate::rules::Severity;
use crate::check::summary::{RunSummary, StreamSummary};

pub use target::{Sink, Target};

/// Somebody who wants to know. Calls come in this order: the diagnostics of a stream as they are
/// found, its summary, the next stream, and at last the summary of all.
///
/// Every method fails only when the report cannot be written.
pub trait Report {
    /// A defect, as it is found.
    #[expect(clippy::missing_errors_doc, reason = "said once, for the trait")]
    fn diagnostic(
        &mut self,
        stream: &str,
        severity: Severity,
        diagnostic: &Diagnostic,
    ) -> Result<(), Error>;

    /// The end of a stream.
    #[expect(clippy::missing_errors_doc, reason = "said once, for the trait")]
    fn stream(&mut self, summary: &StreamSummary) -> Result<(), Error>;

    /// The end of all; `exit_code` is the one the program ends with.
    #[expect(clippy::missing_errors_doc, reason = "said once, for the trait")]
    fn summary(&mut self, summary: &RunSummary) -> Result<(), Error>;

    /// Nothing more is known for now: what was reported must be visible.
    #[expect(clippy::missing_errors_doc, reason = "said once, for the trait")]
    fn flush(&mut self) -> Result<(), Error>;
}

/// Several reports of the same check. One that cannot be written any more is left out from there
/// on, and the check goes on: the stream is read to its end, or its producer would be killed.
#[derive(Default)]
pub struct Reports {
    reports: Vec<Box<dyn Report>>,
    failure: Option<Error>,
}

impl Reports {
    /// Adds a report.
    pub fn add(&mut self, report: impl Report + 'static) {
        self.reports.push(Box::new(report));
    }

    /// Why the first report that failed could not be written.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    fn each(&mut self, mut tell: impl FnMut(&mut dyn Report) -> Result<(), Error>) {
        let failure = &mut self.failure;
        self.reports.retain_mut(|report| match tell(report.as_mut()) {
            Ok(()) => true,
            Err(error) => {
                failure.get_or_insert(error);
                false
            }
        });
    }
}

impl Report for Reports {
    fn diagnostic(
        &mut self,
        stream: &str,
        severity: Severity,
        diagnostic: &Diagnostic,
    ) -> Result<(), Error> {
        self.each(|report| report.diagnostic(stream, severity, diagnostic));
        Ok(())
    }

    fn stream(&mut self, summary: &StreamSummary) -> Result<(), Error> {
        self.each(|report| report.stream(summary));
        Ok(())
    }

    fn summary(&mut self, summary: &RunSummary) -> Result<(), Error> {
        self.each(|report| report.summary(summary));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.each(|report| report.flush());
        Ok(())
    }
}
