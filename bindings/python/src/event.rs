//! The classes of events. An object has the Rust event; Python values are made when they are read.

mod made;

use std::sync::OnceLock;

use ndjson_check::{Event, EventKind};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict, PyList, PyString, PyTuple, PyType};
use serde::Serialize;
use serde_json::Value;

pub(crate) fn json(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(of).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Where an event comes from.
enum Source {
    Read(Event<'static>),
    /// Made in Python: its members as JSON.
    Made(String),
}

/// One thing that happened. This class itself stands for kinds that this version does not know.
#[pyclass(frozen, subclass, weakref, name = "Event", module = "ndjson_check")]
pub(crate) struct PyEvent {
    source: Source,
    /// As JSON, once a member was asked for that needs it.
    value: OnceLock<Value>,
}

impl PyEvent {
    fn read(event: Event<'static>) -> Self {
        Self { source: Source::Read(event), value: OnceLock::new() }
    }

    fn made(text: String, value: Value) -> Self {
        Self { source: Source::Made(text), value: OnceLock::from(value) }
    }

    fn value(&self) -> &Value {
        self.value.get_or_init(|| match &self.source {
            Source::Read(event) => serde_json::to_value(event).unwrap_or_default(),
            Source::Made(text) => serde_json::from_str(text).unwrap_or_default(),
        })
    }

    /// A number that most events have.
    fn number(&self, name: &str) -> Option<u64> {
        match (&self.source, name) {
            (Source::Read(event), "line") => event.at.line,
            (Source::Read(event), _) => event.at.time_ms,
            (Source::Made(_), _) => self.value().get(name)?.as_u64(),
        }
    }

    fn member<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if let Source::Read(event) = &self.source
            && let Some(member) = quick(py, &event.kind, name)?
        {
            return Ok(member);
        }
        match (self.value().get(name), name) {
            (None, "files" | "changes" | "media" | "stderr_tail") => {
                Ok(PyTuple::empty(py).into_any())
            }
            (None, "replaced" | "came_in_deltas") => {
                Ok(false.into_pyobject(py)?.to_owned().into_any())
            }
            (value, _) => object(py, value.unwrap_or(&Value::Null)),
        }
    }
}

/// A member that needs no JSON: those of the most frequent events.
fn quick<'py>(
    py: Python<'py>,
    event: &EventKind<'_>,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(match (event, name) {
        (
            EventKind::TextDelta { text, .. }
            | EventKind::ThinkingDelta { text, .. }
            | EventKind::Answer { text },
            "text",
        ) => PyString::new(py, text).into_any(),
        (EventKind::TextDelta { segment: number, .. }, "segment")
        | (EventKind::ThinkingDelta { block: number, .. }, "block") => {
            number.into_pyobject(py)?.into_any()
        }
        _ => return Ok(None),
    }))
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
        self.number("line")
    }

    /// The agent's own time in milliseconds.
    #[getter]
    fn time_ms(&self) -> Option<u64> {
        self.number("time_ms")
    }

    /// The members as in a line of `--to events`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // Python's own reader keeps the order of the members.
        py.import("json")?.call_method1("loads", (self.to_json()?,))
    }

    /// The line of `--to events --raw`.
    fn to_json(&self) -> PyResult<String> {
        match &self.source {
            Source::Read(event) => json(event),
            Source::Made(text) => Ok(text.clone()),
        }
    }

    /// An event with these members, such as those of `to_dict()`. A harness is tested with it. Raises
    /// ValueError unless they are an event of `--to events`, and of this class.
    #[classmethod]
    fn from_dict<'py>(
        class: &Bound<'py, PyType>,
        members: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let style = [("separators", (",", ":").into_pyobject(py)?.into_any())].into_py_dict(py)?;
        style.set_item("ensure_ascii", false)?;
        style.set_item("allow_nan", false)?;
        let plain = PyDict::new(py);
        plain.call_method1("update", (members,))?;
        let text = py.import("json")?.call_method("dumps", (plain,), Some(&style))?;
        let (event, kind) = made::checked(py, text.extract()?)?;
        let event = event.into_bound(py);
        if !event.is_instance(class)? {
            let message = format!("an event of the type {kind} is no {}", class.name()?);
            return Err(PyValueError::new_err(message));
        }
        Ok(event)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.value() == other.value()
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.value().to_string().hash(&mut hasher);
        hasher.finish()
    }

    // It cannot change.
    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let again = slf.py().import("ndjson_check._native")?.getattr("event_again")?;
        Ok((again, (slf.get().to_json()?,)))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let name = slf.get_type().name()?;
        let members = slf.get().to_dict(slf.py())?.cast_into::<PyDict>()?;
        let mut shown = Vec::new();
        for (member, value) in members {
            let member = member.to_string();
            if member != "type" {
                shown.push(format!("{member}={}", value.repr()?));
            }
        }
        Ok(format!("{name}({})", shown.join(", ")))
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
            let class = match &event.kind {
                $($pattern => stringify!($name),)*
                _ => "Event",
            };
            of_class(py, class, PyEvent::read(event))
        }

        /// The object of an event, of the class with this name.
        fn of_class(py: Python<'_>, class: &str, event: PyEvent) -> PyResult<Py<PyAny>> {
            let base = PyClassInitializer::from(event);
            Ok(match class {
                $(stringify!($name) => Py::new(py, base.add_subclass($name))?.into_any(),)*
                _ => Py::new(py, base)?.into_any(),
            })
        }

        /// Whether there is a class with this name.
        fn is_class(name: &str) -> bool {
            [$(stringify!($name)),*].contains(&name)
        }

        pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
            module.add_class::<PyEvent>()?;
            $(module.add_class::<$name>()?;)*
            module.add_function(wrap_pyfunction!(made::event_again, module)?)?;
            made::document(module)
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
    EventKind::TurnEnded(_) => TurnEnded(
        turn, outcome, reason, retryable, retry_after, error_text, structured
    );
    EventKind::TextDelta { .. } => TextDelta(text, segment);
    EventKind::Text(_) => Text(text, segment, bytes, came_in_deltas);
    EventKind::TextAbandoned { .. } => TextAbandoned(segment, replaced);
    EventKind::Answer { .. } => Answer(text);
    EventKind::CallStarted(_) => CallStarted(
        call, id, tool, parent, kind, detail, files, arguments
    );
    EventKind::CallUpdated(_) => CallUpdated(
        call, id, tool, parent, kind, detail, files, arguments
    );
    EventKind::CallCompleted(_) => CallCompleted(
        call, id, tool, parent, kind, detail, files,
        outcome, exit_code, result, stdout, stderr, changes, media, duration_ms,
        started_line, started_ms
    );
    EventKind::CallCorrected { .. } => CallCorrected(
        call, id, tool, parent, kind, detail, files, outcome, instead_of
    );
    EventKind::CallUnfinished(_) => CallUnfinished(
        call, id, tool, parent, kind, detail, files, started_line, started_ms
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
    EventKind::Defect(_) => Defect(
        rule, severity, message, note, related_line, call_id, demand
    );
    EventKind::End(_) => End(
        outcome, verdict, reason, retryable, retry_after, error_text, structured, session_id,
        agent_version, model, cost_usd, turns, duration_ms, input_tokens, cache_read_tokens, cache_write_tokens,
        output_tokens, reasoning_tokens, files, commands, exit_status, signal, stderr_tail, errors,
        warnings
    );
    EventKind::Cut(_) => Cut(
        outcome, verdict, reason, retryable, retry_after, error_text, structured, session_id,
        agent_version, model, cost_usd, turns, duration_ms, input_tokens, cache_read_tokens, cache_write_tokens,
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
