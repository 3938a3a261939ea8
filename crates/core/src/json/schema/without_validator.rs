//! Without the feature `user-schemas` there is no validator: the tables answer for trees, too.

use serde_json::Value;

use super::evaluator::CompiledTable;
use super::{Schema, Violation};
use crate::error::Error;
use crate::json::tape::{Doc, Tape};

impl Schema {
    /// Refuses a schema that no table can express.
    pub(super) fn compiled(self) -> Result<Self, String> {
        if self.table().is_some() {
            return Ok(self);
        }
        let reason = CompiledTable::given(self.document()).err();
        let reason = reason.unwrap_or_else(|| "it is no definition of the document".to_owned());
        Err(format!("{reason}; the feature `user-schemas` reads such schemas"))
    }

    pub(super) fn is_valid_tree(&self, value: &Value) -> bool {
        let (table, part) = self.table().expect("it was refused without a table");
        on_tape(value, |doc| table.satisfies(part, doc.root()))
    }

    #[expect(clippy::unnecessary_wraps, reason = "the validator may fail")]
    pub(super) fn violations_of_tree(&self, value: &Value) -> Result<Vec<Violation>, Error> {
        let (table, part) = self.table().expect("it was refused without a table");
        Ok(on_tape(value, |doc| table.violations(part, doc.root(), self.document())))
    }
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
    use serde_json::json;

    use super::*;
    use crate::json::ParsedJson;

    #[test]
    fn a_tree_is_compared_with_the_table() {
        let schema = json!({"properties": {"a": {"items": {"minLength": 2}}}, "required": ["b"]});
        let schema = Schema::compile("mine", &schema).expect("a table can express it");
        let valid = ParsedJson::Tree(json!({"a": ["xy"], "b": 1}));
        assert!(schema.is_valid(&valid));
        let invalid = ParsedJson::Tree(json!({"a": ["xy", "\n"]}));
        assert!(!schema.is_valid(&invalid));
        let violations = schema.violations(&invalid).expect("the table answers");
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
            let error = Schema::compile("mine", &schema).expect_err("no table");
            assert!(error.contains(reason), "{error}");
            assert!(error.contains("`user-schemas`"), "{error}");
        }
    }
}
