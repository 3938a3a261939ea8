//! JSON Schema 2020-12, and the only place that knows the validator.

#![expect(clippy::wildcard_enum_match_arm, reason = "the validator has thirty kinds of error")]

mod ahead;
mod judge;
mod on_tape;

use std::fmt;
use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::limits::MESSAGE_BYTES_MAX;
use crate::json::pointer;
use crate::json::tape::Doc;
use crate::rules::escape::{clipped, shown, visible};

pub use ahead::CURSOR;
pub use judge::Judge;
use on_tape::TapeJson;

/// A schema. It cannot reach outside its own document: no file, no network.
///
/// A validator is built when it is first needed; of a schema that is not ours one is built at
/// once, to see whether it can be.
pub struct Schema {
    origin: String,
    document: Document,
    tree: OnceLock<Validator>,
    tape: OnceLock<Option<Validator<TapeJson>>>,
}

enum Document {
    /// Somebody's.
    Given(Value),
    /// Ours.
    BuiltIn(BuiltIn),
}

/// A schema that is part of the program.
#[derive(Clone, Copy)]
pub struct BuiltIn {
    /// Its text.
    pub text: &'static str,
    /// The validator that was made of it when the program was, if one was.
    pub is_valid: Option<fn(&Value) -> bool>,
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
        let compiled = jsonschema::options().build(schema);
        let validator = compiled.map_err(|error| refused(origin, &error))?;
        let schema = Self::of(origin, Document::Given(schema.clone()));
        let _ = schema.tree.set(validator);
        Ok(schema)
    }

    /// A schema that is part of the program, and so a good one; nothing is compiled yet.
    pub fn built_in(origin: &str, schema: BuiltIn) -> Self {
        Self::of(origin, Document::BuiltIn(schema))
    }

    fn of(origin: &str, document: Document) -> Self {
        let origin = origin.to_owned();
        Self { origin, document, tree: OnceLock::new(), tape: OnceLock::new() }
    }

    /// Compiles the part of the schema that `reference` names, such as `#/$defs/result`.
    ///
    /// # Errors
    ///
    /// As [`Schema::compile`]; also when there is no such part.
    pub fn part(&self, reference: &str) -> Result<Self, Error> {
        let schema = self.document();
        let mut part = Map::new();
        for keyword in ["$schema", "$defs"] {
            if let Some(value) = schema.get(keyword) {
                part.insert(keyword.to_owned(), value.clone());
            }
        }
        part.insert("$ref".to_owned(), Value::String(reference.to_owned()));
        Self::compile(&self.origin, &Value::Object(part))
    }

    /// Whether it is part of the program.
    pub fn is_built_in(&self) -> bool {
        matches!(self.document, Document::BuiltIn(_))
    }

    /// Where the schema stands: a profile's name, or a file.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The schema itself.
    pub fn document(&self) -> Value {
        match &self.document {
            Document::Given(schema) => schema.clone(),
            Document::BuiltIn(BuiltIn { text, .. }) => built_in(text),
        }
    }

    fn tree(&self) -> &Validator {
        self.tree.get_or_init(|| {
            let validator = jsonschema::options().build(&self.document());
            validator.expect("a schema of ours compiles, a test holds")
        })
    }

    /// Whether `value` satisfies the schema, by the plain validator.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.tree().is_valid(value)
    }

    /// The same, at once where a validator was made with the program.
    pub fn is_valid_at_once(&self, value: &Value) -> bool {
        match &self.document {
            Document::BuiltIn(BuiltIn { is_valid: Some(is_valid), .. }) => is_valid(value),
            Document::Given(_) | Document::BuiltIn(_) => self.is_valid(value),
        }
    }

    /// The same of a value on a tape.
    pub fn is_valid_on_tape(&self, doc: &Doc<'_>) -> bool {
        let validator = self
            .tape
            .get_or_init(|| jsonschema::options_for::<TapeJson>().build(&self.document()).ok());
        if let Some(validator) = validator {
            return validator.is_valid(doc.root());
        }
        doc.look_at_all();
        self.is_valid(&on_tape::tree(doc.root()))
    }

    /// How `value` fails the schema; nothing when it is valid. In the order of the pointers' text.
    /// Memory is up to some hundred times that of the value.
    ///
    /// # Errors
    ///
    /// When the schema cannot be evaluated: a pattern that backtracks without end.
    pub fn violations(&self, value: &Value) -> Result<Vec<Violation>, Error> {
        let mut violations = Vec::new();
        for error in self.tree().iter_errors(value) {
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

fn built_in(text: &str) -> Value {
    serde_json::from_str(text).expect("a schema of ours is JSON, a test holds")
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Schema({})", self.origin)
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
    use crate::json::tape::Tape;

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

    /// Goal: numbers on a tape are those of the tree, in every draft.
    #[test]
    fn a_tape_is_judged_as_a_tree_is() {
        let numbers = [
            "0",
            "-0",
            "0.0",
            "1",
            "1.0",
            "1e2",
            "1.5",
            "-7",
            "999999999999999",
            "9007199254740993",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775809",
            "1e300",
        ];
        let keywords = [
            json!({"type": "integer"}),
            json!({"multipleOf": 2}),
            json!({"minimum": 1}),
            json!({"exclusiveMaximum": 18_446_744_073_709_551_615_u64}),
            json!({"const": 1}),
            json!({"enum": [100, 0]}),
            json!({"multipleOf": 0.5}),
            json!({"maximum": 1.5}),
        ];
        for draft in ["draft-04", "draft-07", "2020-12"] {
            let draft = match draft {
                "2020-12" => "https://json-schema.org/draft/2020-12/schema".to_owned(),
                draft => format!("http://json-schema.org/{draft}/schema#"),
            };
            for keyword in &keywords {
                let schema = json!({"$schema": draft, "items": {"not": keyword}});
                // Draft 4 has no `const` and no number there: nothing is asked then.
                let Ok(schema) = Schema::compile("test", &schema) else { continue };
                for number in numbers {
                    let text = format!("[{number}]");
                    let value = serde_json::from_str(&text).expect("JSON");
                    let mut tape = Tape::default();
                    assert!(tape.read(text.as_bytes(), text.len()));
                    let on_tape = schema.is_valid_on_tape(&tape.doc(&text));
                    assert_eq!(on_tape, schema.is_valid(&value), "{number}: {keyword} in {draft}");
                }
            }
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
