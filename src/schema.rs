//! JSON Schema 2020-12, and the only place that knows the validator.

#![expect(clippy::wildcard_enum_match_arm, reason = "the validator has thirty kinds of error")]

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::limits::MESSAGE_BYTES_MAX;
use crate::pointer;
use crate::visible::{clipped, shown, visible};

/// A compiled schema. It cannot reach outside its own document: no file, no network.
#[derive(Debug)]
pub struct Schema {
    origin: String,
    validator: Validator,
}

/// One way in which a value fails a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// `instanceLocation`: JSON Pointer to the value.
    pub instance: String,
    /// `keywordLocation`: JSON Pointer to the keyword, through every `$ref` on the way.
    pub keyword: String,
    /// The fact, without the value.
    pub message: String,
}

impl Violation {
    /// That of a value too large to say more.
    pub fn of_large_value() -> Self {
        let message = "the event fails the schema; it is too large to say where";
        Self { instance: String::new(), keyword: String::new(), message: message.to_owned() }
    }
}

impl Schema {
    /// Compiles a schema that stands in `origin` (a file or a profile's name).
    ///
    /// # Errors
    ///
    /// When it is no schema of a known draft, or refers to something outside itself.
    pub fn compile(origin: &str, schema: &Value) -> Result<Self, Error> {
        match jsonschema::options().build(schema) {
            Ok(validator) => Ok(Self { origin: origin.to_owned(), validator }),
            Err(error) => Err(refused(origin, &error)),
        }
    }

    /// Compiles the part of a schema that `reference` names, such as `#/$defs/result`.
    ///
    /// # Errors
    ///
    /// As [`Schema::compile`]; also when there is no such part.
    pub fn compile_part(origin: &str, schema: &Value, reference: &str) -> Result<Self, Error> {
        let mut part = Map::new();
        for keyword in ["$schema", "$defs"] {
            if let Some(value) = schema.get(keyword) {
                part.insert(keyword.to_owned(), value.clone());
            }
        }
        part.insert("$ref".to_owned(), Value::String(reference.to_owned()));
        Self::compile(origin, &Value::Object(part))
    }

    /// Where the schema stands: a profile's name, or a file.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether `value` satisfies the schema.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// How `value` fails the schema; nothing when it is valid. In the order of the pointers' text.
    /// Memory is up to some hundred times that of the value.
    ///
    /// # Errors
    ///
    /// When the schema cannot be evaluated: a pattern that backtracks without end.
    pub fn violations(&self, value: &Value) -> Result<Vec<Violation>, Error> {
        let mut violations = Vec::new();
        for error in self.validator.iter_errors(value) {
            self.collect(&error, &mut violations)?;
        }
        violations.sort_by(|a, b| (&a.instance, &a.keyword).cmp(&(&b.instance, &b.keyword)));
        violations.dedup();
        Ok(violations)
    }

    /// Reports the branch of a `oneOf` or `anyOf` that was meant, where one stands out, instead of
    /// "no branch fits".
    fn collect(&self, error: &ValidationError<'_>, out: &mut Vec<Violation>) -> Result<(), Error> {
        match error.kind() {
            ValidationErrorKind::OneOfNotValid { context }
            | ValidationErrorKind::AnyOf { context } => {
                if let Some(branch) = meant(error, context) {
                    for error in branch {
                        self.collect(error, out)?;
                    }
                    return Ok(());
                }
            }
            ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. } => {
                let message = format!("{}: {}", error.evaluation_path(), error.masked());
                return Err(Error::Schema { origin: self.origin.clone(), message });
            }
            _ => {}
        }
        out.extend(violations(error));
        Ok(())
    }
}

/// The one branch that no `const` or `enum` directly below the value rules out.
fn meant<'c>(
    error: &ValidationError<'_>,
    context: &'c [Vec<ValidationError<'static>>],
) -> Option<&'c [ValidationError<'static>]> {
    let parent = error.instance_path().as_str();
    let rules_out = |inner: &ValidationError<'_>| {
        let below = inner.instance_path().as_str().strip_prefix(parent);
        let directly = below.is_some_and(|below| below.matches('/').count() <= 1);
        let kind = inner.kind();
        directly
            && matches!(
                kind,
                ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. }
            )
    };
    let mut left = context.iter().filter(|branch| !branch.iter().any(rules_out));
    match (left.next(), left.next()) {
        (Some(branch), None) if !branch.is_empty() => Some(branch),
        _ => None,
    }
}

/// An unexpected property is reported where it stands, once each, as the specification does (its
/// value fails the schema `false`); the validator reports the object around them.
fn violations(error: &ValidationError<'_>) -> Vec<Violation> {
    let instance = error.instance_path().as_str();
    let keyword = error.evaluation_path().as_str().to_owned();
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|name| Violation {
                instance: pointer::joined(instance, name),
                keyword: keyword.clone(),
                message: format!("the property {} is not allowed", shown(name)),
            })
            .collect(),
        _ => vec![Violation {
            instance: instance.to_owned(),
            keyword,
            message: shown_message(error),
        }],
    }
}

/// The validator's message with the value left out; property names stay.
fn shown_message(error: &ValidationError<'_>) -> String {
    clipped(&visible(&error.masked().to_string()), MESSAGE_BYTES_MAX / 2).into_owned()
}

fn refused(origin: &str, error: &ValidationError<'_>) -> Error {
    if matches!(error.kind(), ValidationErrorKind::Referencing(_)) {
        let message = "it refers to something that is not in it; a schema must be whole";
        return Error::Schema { origin: origin.to_owned(), message: message.to_owned() };
    }
    let at = match error.instance_path().as_str() {
        "" => String::new(),
        pointer => format!(" at {pointer}"),
    };
    Error::Schema { origin: origin.to_owned(), message: format!("{}{at}", shown_message(error)) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(schema: &Value, value: &Value) -> Vec<(String, String)> {
        let schema = Schema::compile("test", schema).expect("a good schema");
        let violations = schema.violations(value).expect("evaluates");
        violations.into_iter().map(|it| (it.instance, it.keyword)).collect()
    }

    #[test]
    fn locations_pass_through_references_and_the_meant_branch() {
        let schema = json!({
            "oneOf": [
                {"required": ["k"], "properties": {"k": {"const": "a"}}},
                {"required": ["k"], "properties": {"k": {"const": "b"}}, "$ref": "#/$defs/b"},
                {"required": ["k"], "properties": {"k": {"const": "c"}}}
            ],
            "$defs": {"b": {"properties": {"n": {"type": "integer"}}, "required": ["m"]}}
        });
        assert_eq!(
            found(&schema, &json!({"k": "b", "n": "x"})),
            [
                (String::new(), "/oneOf/1/$ref/required".to_owned()),
                ("/n".to_owned(), "/oneOf/1/$ref/properties/n/type".to_owned()),
            ]
        );
        assert_eq!(found(&schema, &json!({"k": "z"})), [(String::new(), "/oneOf".to_owned())]);
        assert_eq!(found(&schema, &json!({"k": "a"})), []);
    }

    #[test]
    fn messages_do_not_show_values() {
        let schema = json!({"properties": {"key": {"type": "integer"}, "k2": {"maxLength": 2}}});
        let schema = Schema::compile("test", &schema).expect("a good schema");
        let value = json!({"key": "hunter2", "k2": "hunter2"});
        for violation in schema.violations(&value).expect("evaluates") {
            assert!(!violation.message.contains("hunter2"), "{}", violation.message);
        }
    }

    #[test]
    fn nothing_outside_the_document_is_read() {
        for reference in ["https://example.com/s.json", "file:///etc/passwd", "other.json"] {
            let schema = json!({"$ref": reference});
            assert!(Schema::compile("test", &schema).is_err(), "{reference}");
        }
        assert!(Schema::compile("test", &json!({"type": 5})).is_err());
    }

    #[test]
    fn a_pattern_without_end_is_an_error_of_the_schema() {
        let schema = json!({"pattern": "^(?!x)(a|aa)+(?=z)$"});
        let schema = Schema::compile("test", &schema).expect("compiles");
        assert!(schema.violations(&json!("a".repeat(200))).is_err());
    }
}
