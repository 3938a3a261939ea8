//! A stream in another form, or as a report.

use ndjson_check::{Checker, CheckerBuilder, Error, Output, ProducerExit, Written};
use ndjson_check_formats::{FormStyle, single};
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
    exit_status: Option<i64>,
    signal: Option<u8>,
    raw: bool,
    results: usize,
    thinking: bool,
) -> PyResult<String> {
    let exit = exit(exit_status, signal);
    let mut checker = checker.checker.clone();
    let style = FormStyle { is_raw: raw, results, thinking, ..FormStyle::default() };
    let text = py.detach(|| match single::output(kind, style) {
        Some(output) => written(&mut checker, name, data, &exit, output).map(Some),
        None => Ok(None),
    });
    let unknown = || PyValueError::new_err(format!("no such form or report: {kind}"));
    text.map_err(error)?.ok_or_else(unknown)
}

/// The page of a run, from the bytes of its stream and the end of its command.
pub(crate) fn page(
    builder: CheckerBuilder,
    name: &str,
    data: &[u8],
    exit: &ProducerExit,
) -> Result<String, Error> {
    let mut checker = builder.stats(true).build()?;
    match single::output(single::PAGE, FormStyle::default()) {
        Some(page) => written(&mut checker, name, data, exit, page),
        None => Ok(String::new()),
    }
}

fn written(
    checker: &mut Checker,
    name: &str,
    data: &[u8],
    exit: &ProducerExit,
    output: Box<dyn Output>,
) -> Result<String, Error> {
    let mut out = Written::new(Vec::new(), output);
    let mut stream = checker.stream(name);
    stream.feed(data, &mut out)?;
    let summary = stream.finish(exit, &mut out)?;
    single::end(&mut out, &summary);
    let bytes = out.writer().map(std::mem::take).unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
