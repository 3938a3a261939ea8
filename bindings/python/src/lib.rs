//! The native part of the Python package: events, readers, runs, pages and Arrow streams. It
//! converts what the library `ndjson_check` says, and decides nothing.

mod event;
mod frame;
mod page;
mod run;

use std::sync::{Mutex, PoisonError};

use ndjson_check::{Checker, ExitStatus, ProducerExit, Rule, Severity};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

pyo3::create_exception!(
    ndjson_check,
    NdjsonCheckError,
    PyException,
    "A stream cannot be checked: no known agent wrote it, or a profile cannot be used."
);

fn error(error: ndjson_check::Error) -> PyErr {
    NdjsonCheckError::new_err(error.to_string())
}

/// The options of a check. It can be used for any number of streams, in any thread.
#[pyclass(frozen, name = "Checker", module = "ndjson_check._native")]
struct PyChecker(Checker);

#[pymethods]
impl PyChecker {
    #[new]
    #[pyo3(signature = (*, profile = None, strict = false, rules = None))]
    fn new(
        profile: Option<&str>,
        strict: bool,
        rules: Option<Vec<(String, String)>>,
    ) -> PyResult<Self> {
        let mut builder = Checker::builder().strict(strict);
        if let Some(profile) = profile {
            builder = builder.profile(profile);
        }
        for (name, level) in rules.unwrap_or_default() {
            let unknown =
                || PyValueError::new_err(format!("unknown rule or level: {name}={level}"));
            let rule = Rule::ALL.iter().find(|rule| rule.name() == name).ok_or_else(unknown)?;
            let severity = match level.as_str() {
                "error" => Some(Severity::Error),
                "warning" => Some(Severity::Warning),
                "off" => None,
                _ => return Err(unknown()),
            };
            builder = builder.severity(*rule, severity);
        }
        builder.build().map(Self).map_err(error)
    }
}

/// Reads one stream, whose bytes come in pieces cut anywhere.
#[pyclass(frozen, module = "ndjson_check._native")]
struct NativeReader(Mutex<Option<ndjson_check::Reader>>);

fn finished() -> PyErr {
    PyValueError::new_err("the stream is finished, or was lost by an earlier error")
}

#[pymethods]
impl NativeReader {
    #[new]
    fn new(checker: &PyChecker, name: &str) -> Self {
        Self(Mutex::new(Some(checker.0.reader(name))))
    }

    fn feed<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let events = py.detach(|| {
            let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let result = reader.as_mut().map(|reader| reader.feed(data));
            if matches!(result, Some(Err(_))) {
                *reader = None;
            }
            result
        });
        event::list(py, events.ok_or_else(finished)?.map_err(error)?)
    }

    /// The last events, and the summary as JSON.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        exit_status: Option<u8>,
        signal: Option<u8>,
    ) -> PyResult<(Bound<'py, PyList>, String)> {
        let status = exit_status.map(ExitStatus::Code).or(signal.map(ExitStatus::Signal));
        let exit = status.map_or_else(ProducerExit::default, ProducerExit::from);
        let last = py.detach(|| {
            let reader = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            reader.map(|reader| reader.finish(&exit))
        });
        let last = last.ok_or_else(finished)?.map_err(error)?;
        Ok((event::list(py, last.events)?, event::json(&last.summary)?))
    }
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("NdjsonCheckError", module.py().get_type::<NdjsonCheckError>())?;
    module.add_class::<PyChecker>()?;
    module.add_class::<NativeReader>()?;
    event::add_to(module)?;
    run::add_to(module)?;
    module.add_class::<frame::Table>()?;
    module.add_function(wrap_pyfunction!(page::page, module)?)?;
    Ok(())
}
