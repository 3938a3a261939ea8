//! Events that are made in Python, and what the schema of the events says about each class.

use std::sync::OnceLock;

use ndjson_check::{Checker, Diagnostic, ProducerExit, Rule};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use super::{PyEvent, is_class, of_class};

const SCHEMA: &str = include_str!("../../../../crates/core/src/profile/builtin/events/schema.json");

/// Checks each event that is made.
static CHECKER: OnceLock<Checker> = OnceLock::new();

/// The object of an event, from the text of its members, and its type. Raises ValueError unless the
/// schema allows it.
pub(super) fn checked(py: Python<'_>, text: String) -> PyResult<(Py<PyAny>, String)> {
    let made = made(py, text.clone())?;
    let defect = if is_class(&class_name(&made.1)) {
        defect(&text).map_err(crate::error)?
    } else {
        Some(format!("its type is {:?}", made.1))
    };
    match defect {
        Some(defect) => Err(PyValueError::new_err(format!("this is no event: {defect}"))),
        None => Ok(made),
    }
}

/// What a pickle has: perhaps that of another version.
#[pyfunction]
pub(crate) fn event_again(py: Python<'_>, text: String) -> PyResult<Py<PyAny>> {
    Ok(made(py, text)?.0)
}

fn made(py: Python<'_>, text: String) -> PyResult<(Py<PyAny>, String)> {
    let value: Value =
        serde_json::from_str(&text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let event = of_class(py, &class_name(&kind), PyEvent::made(text, value))?;
    Ok((event, kind))
}

/// What is wrong with the line of an event.
fn defect(line: &str) -> Result<Option<String>, ndjson_check::Error> {
    let checker = match CHECKER.get() {
        Some(checker) => checker,
        None => {
            let checker = Checker::builder().profile("events").build()?;
            CHECKER.get_or_init(|| checker)
        }
    };
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut checker = checker.clone();
    let mut stream = checker.stream("event");
    stream.feed(line.as_bytes(), &mut found)?;
    stream.feed(b"\n", &mut found)?;
    stream.finish(&ProducerExit::default(), &mut found)?;
    // A violation that a `defect` reports is one of another stream, and has no place in the event.
    let is_own = |it: &Diagnostic| it.rule == Rule::SchemaViolation && it.location.is_some();
    Ok(found.into_iter().find(is_own).map(|it| match it.location {
        Some(place) if !place.instance.is_empty() => format!("{}: {}", place.instance, it.message),
        _ => it.message,
    }))
}

/// `TextDelta` for `text_delta`.
fn class_name(kind: &str) -> String {
    let words = kind.split('_').map(|word| {
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        first.to_ascii_uppercase() + rest
    });
    words.collect()
}

/// Gives each class the description of its kind, and of its members.
pub(super) fn document(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let described = |of: &Value| of["description"].as_str().map(str::to_owned);
    let Some(kinds) = schema["oneOf"].as_array() else { return Ok(()) };
    for kind in kinds.iter().filter_map(|it| it["$ref"].as_str()) {
        let kind = kind.trim_start_matches("#/$defs/");
        let definition = &schema["$defs"][kind];
        let mut text = described(definition).unwrap_or_default();
        let members = definition["properties"].as_object().into_iter().flatten();
        let members = members.filter_map(|(name, member)| Some((name, described(member)?)));
        for (index, (name, says)) in members.enumerate() {
            text += if index == 0 { "\n\n" } else { "\n" };
            text += &format!("{name}: {says}");
        }
        module.getattr(class_name(kind))?.setattr("__doc__", text)?;
    }
    Ok(())
}
