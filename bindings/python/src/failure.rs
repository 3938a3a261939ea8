//! Why a run has no result, as an error of Python.

use ndjson_check::{Error, ExitStatus};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::{NdjsonCheckError, in_words};

/// Why a run has no result. Then the status of the command and the end of standard error say most.
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// None if the command had not ended.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stderr_tail: Vec<String>,
}

impl Failure {
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        let mut message = in_words(&self.error);
        let (exit_status, signal) = match self.status {
            Some(ExitStatus::Code(code)) => (Some(code), None),
            Some(ExitStatus::Signal(signal)) => (None, Some(signal)),
            _ => (None, None),
        };
        if let Some(code) = exit_status {
            message += &format!("; the command ended with exit status {code}");
        } else if let Some(signal) = signal {
            message += &format!("; the command was ended by signal {signal}");
        }
        if let Some(line) = self.stderr_tail.last() {
            message += &format!("; standard error ends with: {line}");
        }
        let error = NdjsonCheckError::new_err(message);
        let value = error.value(py);
        let set = value
            .setattr("exit_status", exit_status)
            .and_then(|()| value.setattr("signal", signal))
            .and_then(|()| value.setattr("stderr_tail", PyTuple::new(py, self.stderr_tail)?));
        set.err().unwrap_or(error)
    }
}
