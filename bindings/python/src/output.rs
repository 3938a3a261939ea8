//! The page of a run.

use ndjson_check::{Checker, RunTotals, Written};
use ndjson_check_formats::report::{Html, PageFolder};
use pyo3::prelude::*;

/// The page of a run, from the lines of `--to events`, which have a profile of their own.
#[pyfunction]
pub(crate) fn page(py: Python<'_>, name: &str, events: &[u8]) -> PyResult<String> {
    py.detach(|| {
        let mut checker = Checker::builder().profile("events").build()?;
        // There is one stream, and so no folder.
        let pages = PageFolder {
            folder: String::new(),
            index: String::new(),
            write: Box::new(|_, _| Ok(())),
        };
        let mut report = Written::new(Vec::new(), Box::new(Html::new(pages)));
        checker.check(name, events, &mut report)?;
        report.end(&RunTotals::default(), 0);
        let html = report.writer().cloned().unwrap_or_default();
        Ok(String::from_utf8_lossy(&html).into_owned())
    })
    .map_err(crate::error)
}
