//! The classes of events. An object has the Rust event; Python values are made when they are read.

use std::sync::OnceLock;

use ndjson_check::{Event, EventKind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use serde::Serialize;
use serde_json::Value;

pub(crate) fn json(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(of).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// One thing that happened. This class itself stands for kinds that this version does not know.
#[pyclass(frozen, subclass, name = "Event", module = "ndjson_check")]
pub(crate) struct PyEvent {
    event: Event<'static>,
    /// As JSON, once a member was asked for that needs it.
    value: OnceLock<Value>,
}

impl PyEvent {
    fn new(event: Event<'static>) -> Self {
        Self { event, value: OnceLock::new() }
    }

    fn value(&self) -> &Value {
        self.value.get_or_init(|| serde_json::to_value(&self.event).unwrap_or_default())
    }

    fn member<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match (&self.event.kind, name) {
            (
                EventKind::TextDelta { text, .. }
                | EventKind::ThinkingDelta { text, .. }
                | EventKind::Answer { text },
                "text",
            ) => Ok(PyString::new(py, text).into_any()),
            (EventKind::TextDelta { segment, .. }, "segment") => {
                Ok(segment.into_pyobject(py)?.into_any())
            }
            (EventKind::ThinkingDelta { block, .. }, "block") => {
                Ok(block.into_pyobject(py)?.into_any())
            }
            _ => match (self.value().get(name), name) {
                (None, "files" | "changes" | "media" | "stderr_tail") => {
                    Ok(PyTuple::empty(py).into_any())
                }
                (None, "replaced") => Ok(false.into_pyobject(py)?.to_owned().into_any()),
                (value, _) => object(py, value.unwrap_or(&Value::Null)),
            },
        }
    }
}

/// The Python value of a JSON value.
fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(it) => it.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(it) => match (it.as_u64(), it.as_i64()) {
            (Some(it), _) => it.into_pyobject(py)?.into_any(),
            (None, Some(it)) => it.into_pyobject(py)?.into_any(),
            (None, None) => it.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(it) => PyString::new(py, it).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (name, value) in members {
                dict.set_item(name, object(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

#[pymethods]
impl PyEvent {
    /// The name of the kind in JSON, such as `text_delta`.
    #[getter]
    fn r#type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.member(py, "type")
    }

    /// The line of the stream, from 1; None for what only the end of the stream shows.
    #[getter]
    fn line(&self) -> Option<u64> {
        self.event.at.line
    }

    /// The agent's own time in milliseconds.
    #[getter]
    fn time_ms(&self) -> Option<u64> {
        self.event.at.time_ms
    }

    /// The members as in a line of `--to events`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, self.value())
    }

    /// The line of `--to events --raw`.
    fn to_json(&self) -> PyResult<String> {
        json(&self.event)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.event == other.event
    }

    fn __hash__(&self) -> PyResult<u64> {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        json(&self.event)?.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let name = slf.get_type().name()?;
        let mut text = format!("{name}(");
        if let Value::Object(members) = slf.get().value() {
            let shown = members.iter().filter(|(member, _)| *member != "type");
            for (index, (member, value)) in shown.enumerate() {
                let value = object(slf.py(), value)?.repr()?;
                text += if index > 0 { ", " } else { "" };
                text += &format!("{member}={value}");
            }
        }
        Ok(text + ")")
    }
}

/// A class for each kind of event, and the function that chooses it.
macro_rules! kinds {
    ($($pattern:pat => $name:ident($($member:ident),*);)*) => {
        $(
            #[pyclass(frozen, extends = PyEvent, module = "ndjson_check")]
            pub(crate) struct $name;

            #[pymethods]
            impl $name {
                #[classattr]
                fn __match_args__(py: Python<'_>) -> PyResult<Py<PyTuple>> {
                    Ok(PyTuple::new(py, [$(stringify!($member)),*])?.unbind())
                }

                $(
                    #[getter]
                    fn $member<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                        slf.as_super().get().member(slf.py(), stringify!($member))
                    }
                )*
            }
        )*

        /// The object of an event.
        pub(crate) fn wrap(py: Python<'_>, event: Event<'static>) -> PyResult<Py<PyAny>> {
            Ok(match &event.kind {
                $($pattern => {
                    let base = PyClassInitializer::from(PyEvent::new(event));
                    Py::new(py, base.add_subclass($name))?.into_any()
                })*
                _ => Py::new(py, PyEvent::new(event))?.into_any(),
            })
        }

        pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
            module.add_class::<PyEvent>()?;
            $(module.add_class::<$name>()?;)*
            Ok(())
        }
    };
}

kinds! {
    EventKind::Session(_) => Session(
        session_id, profile, format, directory, version, model, mode, tools, servers
    );
    EventKind::SessionChanged(_) => SessionChanged(
        session_id, directory, version, model, mode, tools, servers
    );
    EventKind::Turn { .. } => Turn(turn);
    EventKind::TextDelta { .. } => TextDelta(text, segment);
    EventKind::Text(_) => Text(text, segment, bytes);
    EventKind::TextAbandoned { .. } => TextAbandoned(segment, replaced);
    EventKind::Answer { .. } => Answer(text);
    EventKind::CallStarted(_) => CallStarted(
        call, id, tool, parent, kind, detail, files, arguments
    );
    EventKind::CallUpdated(_) => CallUpdated(
        call, id, tool, parent, kind, detail, files, arguments
    );
    EventKind::CallCompleted(_) => CallCompleted(
        call, id, tool, parent, kind, detail, files, arguments,
        outcome, exit_code, result, stdout, stderr, changes, media, duration_ms,
        started_line, started_ms
    );
    EventKind::CallCorrected { .. } => CallCorrected(
        call, id, tool, parent, kind, detail, files, arguments, outcome, instead_of
    );
    EventKind::CallUnfinished(_) => CallUnfinished(
        call, id, tool, parent, kind, detail, files, arguments, started_line, started_ms
    );
    EventKind::ThinkingDelta { .. } => ThinkingDelta(text, block);
    EventKind::ThinkingEnd { .. } => ThinkingEnd(block);
    EventKind::Plan { .. } => Plan(items);
    EventKind::Notice(_) => Notice(
        kind, detail, attempt, attempts, delay_ms, http_status, tokens, request, call_id, tool,
        answer, limit, resets_at_ms
    );
    EventKind::Error { .. } => Error(message, severity);
    EventKind::MessageUsage(_) => MessageUsage(
        message, parent, model, input_tokens, cache_read_tokens, cache_write_tokens,
        output_tokens, reasoning_tokens
    );
    EventKind::Usage(_) => Usage(
        model, cost_usd, turns, duration_ms, input_tokens, cache_read_tokens,
        cache_write_tokens, output_tokens, reasoning_tokens
    );
    EventKind::Defect(_) => Defect(rule, severity, message, note, related_line, call_id);
    EventKind::End(_) => End(
        outcome, verdict, reason, retryable, retry_after, error_text, structured, agent_version,
        model, cost_usd, turns, duration_ms, input_tokens, cache_read_tokens, cache_write_tokens,
        output_tokens, reasoning_tokens, files, commands, exit_status, signal, stderr_tail, errors,
        warnings
    );
    EventKind::Cut(_) => Cut(
        outcome, verdict, reason, retryable, retry_after, error_text, structured, agent_version,
        model, cost_usd, turns, duration_ms, input_tokens, cache_read_tokens, cache_write_tokens,
        output_tokens, reasoning_tokens, files, commands, exit_status, signal, stderr_tail, errors,
        warnings
    );
}

pub(crate) fn list<'py>(
    py: Python<'py>,
    events: Vec<Event<'static>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for event in events {
        list.append(wrap(py, event)?)?;
    }
    Ok(list)
}
