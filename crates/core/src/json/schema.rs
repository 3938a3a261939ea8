//! JSON Schema 2020-12, and the only place that knows the validator.

mod evaluator;
mod members;
mod on_tape;
mod table;
mod table_write;

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{
    PatternOptions, Registry, Retrieve, ValidationError, ValidationOptions, Validator,
};
use serde_json::{Value, json};

use super::tape::Doc;
use super::{PackedTexts, ParsedJson, pointer};
use crate::error::Error;
use crate::limits::{MESSAGE_BYTES_MAX, PATTERN_STEPS_MAX};
use crate::rules::escape::{clipped, shown, visible};
use evaluator::CompiledTable;
pub(crate) use members::DescribedMembers;
pub(crate) use table::{Keyword, List, Scalar, SchemaTable};

/// The URI of a document in its registry. It is never fetched: there is no retriever. With this
/// scheme, which means "no URI", the validator does not compute a URI for each keyword, and a
/// relative `$id` resolves.
const DOCUMENT: &str = "json-schema:///document";

/// A schema, or a definition in one. It cannot refer to anything outside its document: no file, no
/// network. A validator is compiled when it is first needed.
pub(crate) struct Schema {
    origin: String,
    document: Arc<Document>,
    /// The definition, such as `#/$defs/result`; without one it is the whole document.
    part: Option<String>,
    validator: OnceLock<Validator>,
}

struct Document {
    /// Of a built-in schema, which a test parses and compiles.
    text: Option<&'static str>,
    /// If it says all that the document does.
    table: Option<CompiledTable>,
    json: OnceLock<Arc<Value>>,
    registry: OnceLock<Registry<'static>>,
}

impl Document {
    fn given(json: Value) -> Self {
        let table = CompiledTable::given(&json);
        let json = OnceLock::from(Arc::new(json));
        Self { text: None, table, json, registry: OnceLock::new() }
    }

    fn built_in(text: &'static str, table: &'static SchemaTable) -> Self {
        let (text, table) = (Some(text), Some(CompiledTable::built_in(table)));
        Self { text, table, json: OnceLock::new(), registry: OnceLock::new() }
    }

    fn json(&self) -> &Arc<Value> {
        self.json.get_or_init(|| {
            let text = self.text.expect("a given document has its JSON");
            Arc::new(serde_json::from_str(text).expect("a test parses every built-in schema"))
        })
    }

    fn registry(&self) -> Result<&Registry<'static>, ValidationError<'static>> {
        if let Some(registry) = self.registry.get() {
            return Ok(registry);
        }
        let registry = Registry::new().add(DOCUMENT, Arc::clone(self.json()))?.prepare()?;
        Ok(self.registry.get_or_init(|| registry))
    }
}

/// One way in which a value fails a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// JSON Pointer to the value in the event.
    pub(crate) instance: String,
    /// JSON Pointer to the keyword in the schema document.
    pub(crate) keyword: String,
    /// Does not show the value.
    pub(crate) message: String,
}

impl Violation {
    /// For an event that is too large for [`Schema::violations`].
    pub(crate) fn of_large_value() -> Self {
        let message = "the event does not satisfy the schema; it is too large to show where";
        Self { instance: String::new(), keyword: String::new(), message: message.to_owned() }
    }
}

impl Schema {
    /// Compiles a user's schema; `origin` names it in messages.
    pub(crate) fn compile(origin: &str, schema: &Value) -> Result<Self, Error> {
        Self::new(origin, Arc::new(Document::given(schema.clone())), None).compiled()
    }

    /// A test compiles each built-in schema, so nothing is compiled yet.
    pub(crate) fn built_in(origin: &str, text: &'static str, table: &'static SchemaTable) -> Self {
        Self::new(origin, Arc::new(Document::built_in(text, table)), None)
    }

    /// The definition that `reference` names, such as `#/$defs/result`.
    pub(crate) fn part(&self, reference: &str) -> Result<Self, Error> {
        let part = Self::new(&self.origin, Arc::clone(&self.document), Some(reference.to_owned()));
        if self.is_built_in() { Ok(part) } else { part.compiled() }
    }

    fn new(origin: &str, document: Arc<Document>, part: Option<String>) -> Self {
        let origin = origin.to_owned();
        Self { origin, document, part, validator: OnceLock::new() }
    }

    fn compiled(self) -> Result<Self, Error> {
        let validator = self.build().map_err(|error| rejected(&self.origin, &error))?;
        let _ = self.validator.set(validator);
        Ok(self)
    }

    fn is_built_in(&self) -> bool {
        self.document.text.is_some()
    }

    /// The profile's name, or the file.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn document(&self) -> &Value {
        self.document.json()
    }

    /// Checks a user's schema against its meta-schema first, but not a built-in one: that alone
    /// takes longer than checking a short stream, and a test does it.
    fn build(&self) -> Result<Validator, ValidationError<'static>> {
        if self.part.is_none() && !self.is_built_in() {
            return options().build(self.document());
        }
        let part = self.part.as_deref().unwrap_or("#");
        // In draft 4, whose meta-schema is small; the document keeps its own draft.
        let wrapper = json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "$ref": format!("{DOCUMENT}{part}"),
        });
        options().with_registry(self.document.registry()?).build(&wrapper)
    }

    fn validator(&self) -> &Validator {
        let compiled = || self.build().expect("a test compiles every built-in schema");
        self.validator.get_or_init(compiled)
    }

    pub(crate) fn is_valid(&self, json: &ParsedJson<'_>) -> bool {
        match json {
            ParsedJson::Tree(value) => self.validator().is_valid(value),
            ParsedJson::Tape(doc) => self.is_valid_on_tape(doc),
        }
    }

    fn is_valid_on_tape(&self, doc: &Doc<'_>) -> bool {
        let table = self.document.table.as_ref();
        table.and_then(|table| table.is_valid(self.part.as_deref(), doc.root())).unwrap_or_else(
            || {
                doc.note_all_read();
                self.validator().is_valid(&on_tape::tree(doc.root()))
            },
        )
    }

    /// How a value fails the schema, in the order of the pointers. Takes up to some hundred times
    /// the memory of the value. A pattern that backtracks without end is an error.
    pub(crate) fn violations(&self, json: &ParsedJson<'_>) -> Result<Vec<Violation>, Error> {
        let parsed;
        let value = match json {
            ParsedJson::Tree(value) => value,
            ParsedJson::Tape(doc) => {
                parsed = on_tape::tree(doc.root());
                &parsed
            }
        };
        let mut violations = Vec::new();
        for error in self.validator().iter_errors(value) {
            self.collect(&error, &mut violations)?;
        }
        violations.sort_by(|a, b| (&a.instance, &a.keyword).cmp(&(&b.instance, &b.keyword)));
        violations.dedup();
        Ok(violations)
    }

    /// Reports the intended branch of a `oneOf` or `anyOf`, if it is clear, instead of "no branch
    /// fits".
    fn collect(&self, error: &ValidationError<'_>, out: &mut Vec<Violation>) -> Result<(), Error> {
        match error.kind() {
            ValidationErrorKind::OneOfNotValid { context }
            | ValidationErrorKind::AnyOf { context } => {
                if let Some(branch) = intended_branch(error, context) {
                    for error in branch {
                        self.collect(error, out)?;
                    }
                    return Ok(());
                }
            }
            ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. } => {
                let message = format!("{}: {}", error.evaluation_path(), error.masked());
                return Err(Error::Schema { stream: None, origin: self.origin.clone(), message });
            }
            _ => {}
        }
        out.extend(violations(error));
        Ok(())
    }
}

/// A pattern that needs no backtracking is searched without it; others take a limited time.
fn options<'i>() -> ValidationOptions<'i, Arc<dyn Retrieve>> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(PATTERN_STEPS_MAX);
    jsonschema::options().with_pattern_options(patterns)
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Schema({})", self.origin)
    }
}

/// The one branch that no `const` or `enum` directly below the value rules out.
fn intended_branch<'c>(
    error: &ValidationError<'_>,
    context: &'c [Vec<ValidationError<'static>>],
) -> Option<&'c [ValidationError<'static>]> {
    use ValidationErrorKind::{Constant, Enum};
    let parent = error.instance_path().as_str();
    let rules_out = |inner: &ValidationError<'_>| {
        let below = inner.instance_path().as_str().strip_prefix(parent);
        let directly = below.is_some_and(|below| below.matches('/').count() <= 1);
        directly && matches!(inner.kind(), Constant { .. } | Enum { .. })
    };
    let mut left = context.iter().filter(|branch| !branch.iter().any(rules_out));
    match (left.next(), left.next()) {
        (Some(branch), None) if !branch.is_empty() => Some(branch),
        _ => None,
    }
}

/// Reports each unexpected property at its own place, as the specification does (its value fails
/// the schema `false`); the validator reports the object around them.
fn violations(error: &ValidationError<'_>) -> Vec<Violation> {
    let instance = error.instance_path().as_str();
    let keyword = error.schema_path().as_str().to_owned();
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
        _ => {
            let message = shown_message(error);
            vec![Violation { instance: instance.to_owned(), keyword, message }]
        }
    }
}

/// The validator's message without the value; property names stay.
fn shown_message(error: &ValidationError<'_>) -> String {
    clipped(&visible(&error.masked().to_string()), MESSAGE_BYTES_MAX / 2).into_owned()
}

fn rejected(origin: &str, error: &ValidationError<'_>) -> Error {
    if matches!(error.kind(), ValidationErrorKind::Referencing(_)) {
        let message = "external references are not supported".to_owned();
        return Error::Schema { stream: None, origin: origin.to_owned(), message };
    }
    let at = match error.instance_path().as_str() {
        "" => String::new(),
        pointer => format!(" at {pointer}"),
    };
    let message = format!("{}{at}", shown_message(error));
    Error::Schema { stream: None, origin: origin.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the time for a pattern has a bound, and one without backtracking needs none.
    #[test]
    fn patterns_take_a_limited_time() {
        let evaluates = |pattern: &str, text: &str| {
            let schema = Schema::compile("test", &json!({"pattern": pattern})).expect("compiles");
            schema.violations(&ParsedJson::Tree(json!(text))).is_ok()
        };
        // More steps than the limit, fewer than the default of the engine.
        assert!(!evaluates("(?=x)y", &"a".repeat(2 * PATTERN_STEPS_MAX)));
        assert!(evaluates("(?=x)y", &"a".repeat(PATTERN_STEPS_MAX / 4)));
        assert!(evaluates("(a|aa)+$", &"a".repeat(2 * PATTERN_STEPS_MAX)));
    }
}
