//! JSON Schema 2020-12: of built-in profiles in tables, and with the feature `user-schemas`
//! whatever a user brings.

mod evaluator;
mod members;
mod table;
mod table_write;
#[cfg(all(test, feature = "user-schemas"))]
mod tests;
#[cfg(feature = "user-schemas")]
mod validator;
mod violations;
#[cfg(any(test, not(feature = "user-schemas")))]
mod without_validator;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::{PackedTexts, ParsedJson, pointer};
use crate::error::Error;
use crate::limits::MESSAGE_BYTES_MAX;
use crate::rules::escape::{clipped, shown, visible};
use evaluator::CompiledTable;
pub(crate) use members::DescribedMembers;
pub(crate) use table::{Keyword, List, Scalar, SchemaTable};

/// A schema, or a definition in one. It cannot refer to anything outside its document: no file, no
/// network. A validator is compiled when it is first needed.
pub(crate) struct Schema {
    origin: String,
    document: Arc<Document>,
    /// The definition, such as `#/$defs/result`; without one it is the whole document.
    part: Option<String>,
    #[cfg(feature = "user-schemas")]
    validator: OnceLock<jsonschema::Validator>,
}

struct Document {
    /// Of a built-in schema, which a test parses.
    text: Option<&'static str>,
    /// If it says all that the document does.
    table: Option<CompiledTable>,
    json: OnceLock<Arc<Value>>,
    #[cfg(feature = "user-schemas")]
    registry: OnceLock<jsonschema::Registry<'static>>,
}

impl Document {
    fn new(text: Option<&'static str>, table: Option<CompiledTable>) -> Self {
        Self {
            text,
            table,
            json: OnceLock::new(),
            #[cfg(feature = "user-schemas")]
            registry: OnceLock::new(),
        }
    }

    fn given(json: Value) -> Self {
        let table = CompiledTable::given(&json).ok();
        Self { json: OnceLock::from(Arc::new(json)), ..Self::new(None, table) }
    }

    fn json(&self) -> &Arc<Value> {
        self.json.get_or_init(|| {
            let text = self.text.expect("a given document has its JSON");
            Arc::new(serde_json::from_str(text).expect("a test parses every built-in schema"))
        })
    }
}

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
    /// Compiles a user's schema; `origin` names it in messages. The error says what is wrong.
    pub(crate) fn compile(origin: &str, schema: &Value) -> Result<Self, String> {
        Self::new(origin, Arc::new(Document::given(schema.clone())), None).compiled()
    }

    /// A test compiles each built-in schema, so nothing is compiled yet.
    pub(crate) fn built_in(origin: &str, text: &'static str, table: &'static SchemaTable) -> Self {
        let table = CompiledTable::new(Cow::Borrowed(table));
        Self::new(origin, Arc::new(Document::new(Some(text), Some(table))), None)
    }

    /// The definition that `reference` names, such as `#/$defs/result`.
    pub(crate) fn part(&self, reference: &str) -> Result<Self, String> {
        let part = Self::new(&self.origin, Arc::clone(&self.document), Some(reference.to_owned()));
        if self.is_built_in() { Ok(part) } else { part.compiled() }
    }

    fn new(origin: &str, document: Arc<Document>, part: Option<String>) -> Self {
        let origin = origin.to_owned();
        Self {
            origin,
            document,
            part,
            #[cfg(feature = "user-schemas")]
            validator: OnceLock::new(),
        }
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

    /// A tape is compared with the table. A tree is left to the validator, if there is one: the
    /// reference engine has trees only.
    pub(crate) fn is_valid(&self, json: &ParsedJson<'_>) -> bool {
        match json {
            ParsedJson::Tree(value) => self.is_valid_tree(value),
            ParsedJson::Tape(doc) => match self.table() {
                Some((table, part)) => table.satisfies(part, doc.root()),
                None => self.is_valid_tree(&json.root().to_value()),
            },
        }
    }

    /// How a value fails the schema, in the order of the pointers. Takes up to some hundred times
    /// the memory of the value. A pattern that backtracks without end is an error.
    pub(crate) fn violations(&self, json: &ParsedJson<'_>) -> Result<Vec<Violation>, Error> {
        let mut violations = match json {
            ParsedJson::Tree(value) => self.violations_of_tree(value)?,
            ParsedJson::Tape(doc) => match self.table() {
                Some((table, part)) => table.violations(part, doc.root(), self.document()),
                None => self.violations_of_tree(&json.root().to_value())?,
            },
        };
        violations.sort_by(|a, b| (&a.instance, &a.keyword).cmp(&(&b.instance, &b.keyword)));
        violations.dedup();
        Ok(violations)
    }

    /// The table, and where the definition is in it; none if the table does not have it.
    fn table(&self) -> Option<(&CompiledTable, u16)> {
        let table = self.document.table.as_ref()?;
        Some((table, table.part(self.part.as_deref())?))
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Schema({})", self.origin)
    }
}

/// A property that a schema does not allow, at its own place, as the specification says (its value
/// fails the schema `false`).
fn not_allowed(object: &str, name: &str, keyword: String) -> Violation {
    let message = format!("the property {} is not allowed", shown(name));
    Violation { instance: pointer::joined(object, name), keyword, message }
}

/// A message without the value; property names stay.
fn wording(message: &str) -> String {
    clipped(&visible(message), MESSAGE_BYTES_MAX / 2).into_owned()
}
