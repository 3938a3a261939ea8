//! The native part of the Python package: events, readers, runs, pages and Arrow streams. It
//! converts what the library `ndjson_check` says, and decides nothing.

mod event;
mod frame;
mod output;
mod run;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ndjson_check::{Checker, ExitStatus, ProducerExit, Severity};
use ndjson_check_config::Config;
use ndjson_check_formats::single::summary_json;
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
    #[pyo3(signature = (*, profile = None, strict = false, rules = None, config = None,
                        max_line_bytes = None, stats = false))]
    fn new(
        profile: Option<&str>,
        strict: bool,
        rules: Option<Vec<(String, String)>>,
        config: Option<PathBuf>,
        max_line_bytes: Option<u64>,
        stats: bool,
    ) -> PyResult<Self> {
        let config = config.map(|file| Config::read(&file).map_err(NdjsonCheckError::new_err));
        let mut config = config.transpose()?.unwrap_or_default();
        if let Some(profile) = profile {
            config.set_profile(profile);
        }
        if strict {
            config.make_strict();
        }
        for (name, level) in rules.unwrap_or_default() {
            let unknown =
                || PyValueError::new_err(format!("unknown rule or level: {name}={level}"));
            let rule = ndjson_check_config::rule(&name).map_err(|_| unknown())?;
            let severity = match level.as_str() {
                "error" => Some(Severity::Error),
                "warning" => Some(Severity::Warning),
                "off" => None,
                _ => return Err(unknown()),
            };
            config.set_severity(rule, severity);
        }
        let mut builder = config.apply_to(Checker::builder()).stats(stats).members(false);
        if let Some(bytes) = max_line_bytes {
            builder = builder.max_line_bytes(bytes);
        }
        builder.build().map(Self).map_err(error)
    }
}

/// Reads one stream, whose bytes come in pieces cut anywhere.
#[pyclass(frozen, module = "ndjson_check._native")]
struct NativeReader(Mutex<Option<ndjson_check::Reader>>);

/// How the process of the agent ended.
fn exit(exit_status: Option<u8>, signal: Option<u8>) -> ProducerExit {
    let status = exit_status.map(ExitStatus::Code).or(signal.map(ExitStatus::Signal));
    status.map_or_else(ProducerExit::default, ProducerExit::from)
}

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
        let exit = exit(exit_status, signal);
        let last = py.detach(|| {
            let reader = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            reader.map(|reader| reader.finish(&exit))
        });
        let last = last.ok_or_else(finished)?.map_err(error)?;
        let summary = summary_json(&last.summary, &last.findings.into());
        Ok((event::list(py, last.events)?, summary))
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
    module.add_function(wrap_pyfunction!(output::page, module)?)?;
    module.add_function(wrap_pyfunction!(output::write, module)?)?;
    Ok(())
}
