//! The native part of the Python package: events, readers, runs, pages and Arrow streams. It
//! converts what the library `ndjson_check` says, and decides nothing.

mod event;
mod failure;
mod frame;
mod output;
mod run;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ndjson_check::internals::without_error_numbers;
use ndjson_check::{
    Answer, Checker, CheckerBuilder, Error, Event, ExitStatus, ProducerExit, Severity,
};
use ndjson_check_config::Config;
use ndjson_check_formats::single::summary_json;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

pyo3::create_exception!(
    ndjson_check,
    NdjsonCheckError,
    PyException,
    "A stream cannot be checked: no known agent wrote it, or a profile cannot be used."
);

fn error(error: ndjson_check::Error) -> PyErr {
    NdjsonCheckError::new_err(in_words(&error))
}

/// The error, and what the user can do about it.
fn in_words(error: &ndjson_check::Error) -> String {
    let hint = match error {
        ndjson_check::Error::UnknownAgent { .. } => {
            ": choose a `profile`; `ndjson-check profiles` lists the agents, \"claude-like\" is for a \
             relative of Claude Code, and \"jsonl\" for any JSON Lines"
        }
        ndjson_check::Error::UnreadFormat { .. } => "; the profile \"jsonl\" is for any JSON Lines",
        ndjson_check::Error::AmbiguousStream { .. } => "; choose one with `profile`",
        _ => "",
    };
    without_error_numbers(&format!("{error}{hint}"))
}

/// The options of a check. It can be used for any number of streams, in any thread.
#[pyclass(frozen, name = "Checker", module = "ndjson_check._native")]
struct PyChecker {
    checker: Checker,
    /// What it was built with, for the page of a run: a checker that also collects stats.
    builder: CheckerBuilder,
}

#[pymethods]
impl PyChecker {
    #[new]
    #[pyo3(signature = (*, profile = None, strict = false, rules = None, config = None,
                        max_line_bytes = None, stats = false, command = None, directory = None))]
    #[expect(clippy::too_many_arguments, reason = "they are options of one call")]
    fn new(
        profile: Option<&str>,
        strict: bool,
        rules: Option<Vec<(String, String)>>,
        config: Option<PathBuf>,
        max_line_bytes: Option<u64>,
        stats: bool,
        command: Option<&str>,
        directory: Option<PathBuf>,
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
            let refused = |why: &str| PyValueError::new_err(format!("rules: {name}: {why}"));
            let rule = ndjson_check_config::rule(&name).map_err(|why| refused(&why))?;
            let severity = match level.as_str() {
                "error" => Some(Severity::Error),
                "warning" => Some(Severity::Warning),
                "off" => None,
                _ => return Err(refused("no such level")),
            };
            config.set_severity(rule, severity);
        }
        let mut builder = config.apply_to(Checker::builder()).stats(stats).members(false);
        if let Some(bytes) = max_line_bytes {
            builder = builder.max_line_bytes(bytes);
        }
        if let Some(command) = command {
            builder = builder.command(command);
        }
        // A stream is UTF-8: it cannot name another directory.
        if let Some(directory) = directory.as_ref().and_then(|it| it.to_str()) {
            builder = builder.directory(directory);
        }
        let checker = builder.clone().build().map_err(error)?;
        Ok(Self { checker, builder })
    }
}

/// Reads one stream, whose bytes come in pieces cut anywhere.
#[pyclass(frozen, module = "ndjson_check._native")]
struct NativeReader(Mutex<Reading>);

struct Reading {
    /// None when it is finished, or lost by an error.
    reader: Option<ndjson_check::Reader>,
    answer: Answer,
    is_complete: bool,
}

impl Reading {
    fn feed(&mut self, data: &[u8]) -> Option<Result<Vec<Event<'static>>, Error>> {
        let reader = self.reader.as_mut()?;
        let events = reader.feed(data);
        match &events {
            Ok(events) => {
                self.is_complete = reader.is_complete();
                self.observe(events);
            }
            Err(_) => self.reader = None,
        }
        Some(events)
    }

    /// The last events, and the summary as JSON.
    fn finish(
        &mut self,
        exit: &ProducerExit,
    ) -> Option<Result<(Vec<Event<'static>>, String), Error>> {
        let reader = self.reader.take()?;
        Some(reader.finish(exit).map(|last| {
            self.observe(&last.events);
            let found = last.findings.as_slice().into();
            (last.events, summary_json(&last.summary, &found, &self.answer))
        }))
    }

    fn observe(&mut self, events: &[Event<'_>]) {
        for event in events {
            self.answer.observe(&event.kind);
        }
    }
}

/// What other systems call these ends of a process on Windows: Ctrl-C, and crashes.
const WINDOWS_ENDS: [(i64, u8); 7] = [
    (0xC000_013A, 2),
    (0xC000_0005, 11),
    (0xC000_00FD, 11),
    (0xC000_0409, 6),
    (0xC000_0374, 6),
    (0xC000_001D, 4),
    (0xC000_0094, 8),
];

/// How the process of the agent ended.
fn exit(exit_status: Option<i64>, signal: Option<u8>) -> ProducerExit {
    let status = signal.map(ExitStatus::Signal).or_else(|| exit_status.map(status));
    status.map_or_else(ProducerExit::default, ProducerExit::from)
}

/// A negative number is a signal, as in Python's `subprocess`.
fn status(number: i64) -> ExitStatus {
    // Windows has codes of 32 bits, with or without a sign.
    let code = number & 0xFFFF_FFFF;
    if let Some((_, signal)) = WINDOWS_ENDS.iter().find(|(end, _)| *end == code) {
        return ExitStatus::Signal(*signal);
    }
    match u8::try_from(number.unsigned_abs()) {
        Ok(signal) if number < 0 => ExitStatus::Signal(signal),
        Ok(code) => ExitStatus::Code(code),
        // It must not become a success.
        Err(_) => ExitStatus::Code(u8::MAX),
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the stream is finished, or was lost by an earlier error")
}

#[pymethods]
impl NativeReader {
    #[new]
    fn new(checker: &PyChecker, name: &str) -> Self {
        let reader = Some(checker.checker.reader(name));
        Self(Mutex::new(Reading { reader, answer: Answer::default(), is_complete: false }))
    }

    fn feed<'py>(&self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyList>> {
        let events = py.detach(|| self.reading().feed(data));
        event::list(py, events.ok_or_else(finished)?.map_err(error)?)
    }

    /// The last events, and the summary as JSON.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        exit_status: Option<i64>,
        signal: Option<u8>,
        stderr: Option<&str>,
    ) -> PyResult<(Bound<'py, PyList>, String)> {
        let mut exit = exit(exit_status, signal);
        if let Some(text) = stderr {
            exit.keep_stderr(text);
            exit.stderr_lines = text.lines().map(str::to_owned).collect();
        }
        let last = py.detach(|| self.reading().finish(&exit));
        let (events, summary) = last.ok_or_else(finished)?.map_err(error)?;
        Ok((event::list(py, events)?, summary))
    }

    fn is_complete(&self, py: Python<'_>) -> bool {
        py.detach(|| self.reading().is_complete)
    }
}

impl NativeReader {
    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let error = module.py().get_type::<NdjsonCheckError>();
    error.setattr("exit_status", None::<u8>)?;
    error.setattr("signal", None::<u8>)?;
    error.setattr("stderr_tail", PyTuple::empty(module.py()))?;
    module.add("NdjsonCheckError", error)?;
    module.add_class::<PyChecker>()?;
    module.add_class::<NativeReader>()?;
    event::add_to(module)?;
    run::add_to(module)?;
    module.add_class::<frame::Table>()?;
    module.add_function(wrap_pyfunction!(output::write, module)?)?;
    Ok(())
}
