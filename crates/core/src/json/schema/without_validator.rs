//! Without the feature `user-schemas` there is no validator: the tables answer for trees, too.

use serde_json::Value;

use super::evaluator::CompiledTable;
use super::{Schema, Violation};
#[cfg(not(feature = "user-schemas"))]
use crate::error::Error;
use crate::json::tape::{Doc, Tape};

#[cfg(not(feature = "user-schemas"))]
impl Schema {
    pub(super) fn compiled(self) -> Result<Self, String> {
        expressible(&self).map(|()| self)
    }

    pub(super) fn is_valid_tree(&self, value: &Value) -> bool {
        is_valid_tree(self, value)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the validator may fail")]
    pub(super) fn violations_of_tree(&self, value: &Value) -> Result<Vec<Violation>, Error> {
        Ok(violations_of_tree(self, value))
    }
}

/// Refuses a schema that no table can express.
fn expressible(schema: &Schema) -> Result<(), String> {
    if schema.table().is_some() {
        return Ok(());
    }
    let reason = CompiledTable::given(schema.document()).err();
    let reason = reason.unwrap_or_else(|| "it is not a definition of the document".to_owned());
    Err(format!("{reason}; the feature `user-schemas` reads such schemas"))
}

fn is_valid_tree(schema: &Schema, value: &Value) -> bool {
    let (table, part) = schema.table().expect("it was refused without a table");
    on_tape(value, |doc| table.satisfies(part, doc.root()))
}

fn violations_of_tree(schema: &Schema, value: &Value) -> Vec<Violation> {
    let (table, part) = schema.table().expect("it was refused without a table");
    on_tape(value, |doc| table.violations(part, doc.root(), schema.document()))
}

/// Trees are rare: only what the tape refuses is one.
fn on_tape<T>(value: &Value, answer: impl FnOnce(&Doc<'_>) -> T) -> T {
    let text = value.to_string();
    let mut tape = Tape::default();
    assert!(tape.read(text.as_bytes(), text.len()), "a tree within the limits of the tape");
    answer(&tape.doc(&text))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::super::Document;
    use super::*;

    fn given(schema: Value) -> Schema {
        Schema::new("mine", Arc::new(Document::given(schema)), None)
    }

    #[test]
    fn a_tree_is_compared_with_the_table() {
        let schema =
            given(json!({"properties": {"a": {"items": {"minLength": 2}}}, "required": ["b"]}));
        expressible(&schema).expect("a table can express it");
        assert!(is_valid_tree(&schema, &json!({"a": ["xy"], "b": 1})));
        let invalid = json!({"a": ["xy", "\n"]});
        assert!(!is_valid_tree(&schema, &invalid));
        let violations = violations_of_tree(&schema, &invalid);
        let shown = violations.iter().map(|it| (&*it.instance, &*it.keyword, &*it.message));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                ("", "/required", "\"b\" is a required property"),
                ("/a/1", "/properties/a/items/minLength", "value is shorter than 2 characters"),
            ]
        );
    }

    #[test]
    fn a_schema_that_no_table_can_express_names_the_feature() {
        for (schema, reason) in [
            (json!({"multipleOf": 2}), "the keyword multipleOf"),
            (json!({"pattern": "^\\d"}), "the pattern \"^\\\\d\""),
            (json!({"type": 5}), "5 is no type"),
        ] {
            let error = expressible(&given(schema)).expect_err("no table");
            assert!(error.contains(reason), "{error}");
            assert!(error.contains("`user-schemas`"), "{error}");
        }
    }
}
