//! How a value fails a schema in a table: where, by which keyword, and in which words.

use serde_json::Value;

use super::evaluator::CompiledTable;
use super::table::{Keyword, List};
use super::{Violation, not_allowed, wording};
use crate::json::pointer;
use crate::json::tape::Cursor;

impl CompiledTable {
    pub(super) fn violations(
        &self,
        part: u16,
        value: Cursor<'_>,
        document: &Value,
    ) -> Vec<Violation> {
        let mut collector = Collector { table: self, document, at: String::new() };
        let found = collector.below(part, value);
        found.into_iter().map(|it| it.violation).collect()
    }
}

/// A violation, and whether it can rule out the branch in which it is.
struct BranchViolation {
    violation: Violation,
    /// Of a `const` or an `enum`.
    is_choice: bool,
}

struct Collector<'t> {
    table: &'t CompiledTable,
    document: &'t Value,
    /// The pointer to the value that is compared.
    at: String,
}

impl Collector<'_> {
    fn below(&mut self, node: u16, value: Cursor<'_>) -> Vec<BranchViolation> {
        let mut found = Vec::new();
        self.collect(node, value, &mut found);
        found
    }

    fn collect(&mut self, node: u16, value: Cursor<'_>, found: &mut Vec<BranchViolation>) {
        let table = self.table;
        for keyword in table.keywords(node) {
            match *keyword {
                Keyword::Ref(other) => self.collect(other, value, found),
                Keyword::AllOf(nodes) => {
                    for other in table.numbers(nodes) {
                        self.collect(*other, value, found);
                    }
                }
                Keyword::If { condition, then, otherwise } => {
                    let branch = if table.satisfies(condition, value) { then } else { otherwise };
                    if let Some(branch) = branch {
                        self.collect(branch, value, found);
                    }
                }
                Keyword::Items(other) => {
                    for (index, item) in value.items().enumerate() {
                        self.collect_at(&index.to_string(), other, item, found);
                    }
                }
                Keyword::DependentSchemas(schemas) => {
                    for (name, other) in table.named(schemas) {
                        if value.get(name).is_some() {
                            self.collect(other, value, found);
                        }
                    }
                }
                Keyword::Members { named, matching, others } => {
                    for (name, member) in value.members() {
                        let schemas = (named, matching, others);
                        self.member(node, schemas, (&name, member), found);
                    }
                }
                _ if table.holds(keyword, value) => {}
                Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => {
                    self.choose(node, keyword, nodes, value, found);
                }
                Keyword::Required(names) => {
                    let is_missing = |name: &&u16| value.get(table.word(**name)).is_none();
                    for name in table.numbers(names).iter().filter(is_missing) {
                        let name = Value::from(table.word(*name));
                        let message = format!("{name} is a required property");
                        found.push(self.found(node, keyword, message));
                    }
                }
                _ => found.push(self.found(node, keyword, self.message(node, keyword))),
            }
        }
    }

    fn collect_at(
        &mut self,
        token: &str,
        node: u16,
        value: Cursor<'_>,
        found: &mut Vec<BranchViolation>,
    ) {
        let length = self.at.len();
        pointer::push(&mut self.at, token);
        self.collect(node, value, found);
        self.at.truncate(length);
    }

    fn member(
        &mut self,
        node: u16,
        schemas: (List, List, Option<u16>),
        (name, member): (&str, Cursor<'_>),
        found: &mut Vec<BranchViolation>,
    ) {
        for schema in self.table.of_member(schemas, name) {
            // Not a definition that allows nothing.
            let is_forbidden = Some(schema) == schemas.2
                && matches!(self.table.keywords(schema), [Keyword::Never])
                && self.place(schema) == format!("{}/additionalProperties", self.place(node));
            if is_forbidden {
                let place = self.place(schema).to_owned();
                let violation = not_allowed(&self.at, name, place);
                found.push(BranchViolation { violation, is_choice: false });
            } else {
                self.collect_at(name, schema, member, found);
            }
        }
    }

    /// Reports the intended branch of a choice, if it is clear: the one that no `const` or `enum`
    /// directly below the value rules out.
    fn choose(
        &mut self,
        node: u16,
        keyword: &Keyword,
        nodes: List,
        value: Cursor<'_>,
        found: &mut Vec<BranchViolation>,
    ) {
        let table = self.table;
        let nodes = table.numbers(nodes);
        if nodes.iter().any(|other| table.satisfies(*other, value)) {
            let message = format!(
                "value is valid under more than one of the schemas listed in the '{}' keyword",
                name(keyword)
            );
            found.push(self.found(node, keyword, message));
            return;
        }
        let branches: Vec<_> = nodes.iter().map(|other| self.below(*other, value)).collect();
        let parent = self.at.len();
        let rules_out = |it: &BranchViolation| {
            it.is_choice && it.violation.instance[parent..].matches('/').count() <= 1
        };
        let mut left = branches.into_iter().filter(|branch| !branch.iter().any(rules_out));
        match (left.next(), left.next()) {
            (Some(branch), None) => {
                let lifted =
                    branch.into_iter().map(|it| BranchViolation { is_choice: false, ..it });
                found.extend(lifted);
            }
            _ => found.push(self.found(node, keyword, self.message(node, keyword))),
        }
    }

    fn place(&self, node: u16) -> &str {
        self.table.place(node, self.document)
    }

    fn found(&self, node: u16, keyword: &Keyword, message: String) -> BranchViolation {
        let instance = self.at.clone();
        let violation = Violation { instance, keyword: self.pointer(node, keyword), message };
        BranchViolation {
            violation: Violation { message: wording(&violation.message), ..violation },
            is_choice: matches!(keyword, Keyword::Const(_) | Keyword::Enum(_)),
        }
    }

    fn pointer(&self, node: u16, keyword: &Keyword) -> String {
        let place = self.place(node);
        match keyword {
            Keyword::Never => place.to_owned(),
            _ => format!("{place}/{}", name(keyword)),
        }
    }

    /// In the validator's words; what is wanted is read in the document.
    fn message(&self, node: u16, keyword: &Keyword) -> String {
        let wanted = self.document.pointer(&self.pointer(node, keyword));
        let wanted = wanted.expect("the table was written from the document");
        let count = |than: &str, one: &str, many: &str| {
            format!("value {than} {wanted} {}", if *wanted == 1 { one } else { many })
        };
        let characters = |than| count(than, "character", "characters");
        let items = |than| count(than, "item", "items");
        let properties = |than| count(than, "property", "properties");
        match keyword {
            Keyword::Types(types) => types_message(*types),
            Keyword::Const(_) => format!("{wanted} was expected"),
            Keyword::Enum(_) => enum_message(wanted),
            Keyword::Minimum(_) => format!("value is less than the minimum of {wanted}"),
            Keyword::Maximum(_) => format!("value is greater than the maximum of {wanted}"),
            Keyword::MinLength(_) => characters("is shorter than"),
            Keyword::MaxLength(_) => characters("is longer than"),
            Keyword::MinItems(_) => items("has less than"),
            Keyword::MaxItems(_) => items("has more than"),
            Keyword::MinProperties(_) => properties("has less than"),
            Keyword::MaxProperties(_) => properties("has more than"),
            Keyword::Pattern(_) => {
                format!("value does not match \"{}\"", wanted.as_str().unwrap_or_default())
            }
            Keyword::Not(_) => format!("{wanted} is not allowed for value"),
            Keyword::AnyOf(_) | Keyword::OneOf(_) => format!(
                "value is not valid under any of the schemas listed in the '{}' keyword",
                name(keyword)
            ),
            _ => "False schema does not allow value".to_owned(),
        }
    }
}

fn name(keyword: &Keyword) -> &'static str {
    match keyword {
        Keyword::Never => "",
        Keyword::Types(_) => "type",
        Keyword::Const(_) => "const",
        Keyword::Enum(_) => "enum",
        Keyword::MinLength(_) => "minLength",
        Keyword::MaxLength(_) => "maxLength",
        Keyword::Minimum(_) => "minimum",
        Keyword::Maximum(_) => "maximum",
        Keyword::Pattern(_) => "pattern",
        Keyword::Required(_) => "required",
        Keyword::Members { .. } => "properties",
        Keyword::DependentSchemas(_) => "dependentSchemas",
        Keyword::MinProperties(_) => "minProperties",
        Keyword::MaxProperties(_) => "maxProperties",
        Keyword::Items(_) => "items",
        Keyword::MinItems(_) => "minItems",
        Keyword::MaxItems(_) => "maxItems",
        Keyword::Ref(_) => "$ref",
        Keyword::If { .. } => "if",
        Keyword::AllOf(_) => "allOf",
        Keyword::AnyOf(_) => "anyOf",
        Keyword::OneOf(_) => "oneOf",
        Keyword::Not(_) => "not",
    }
}

fn types_message(types: u8) -> String {
    /// Each with its bit, in the validator's order.
    const NAMES: [(u8, &str); 7] = [
        (0, "null"),
        (1, "boolean"),
        (6, "integer"),
        (4, "number"),
        (5, "string"),
        (3, "array"),
        (2, "object"),
    ];
    let names = NAMES.iter().filter(|(bit, _)| types & (1 << bit) != 0);
    let names: Vec<String> = names.map(|(_, name)| format!("\"{name}\"")).collect();
    let word = if names.len() == 1 { "type" } else { "types" };
    format!("value is not of {word} {}", names.join(", "))
}

fn enum_message(wanted: &Value) -> String {
    const SHOWN_MAX: usize = 3;
    let mut choices: Vec<String> =
        wanted.as_array().into_iter().flatten().map(Value::to_string).collect();
    if choices.len() > SHOWN_MAX {
        let others = choices.split_off(SHOWN_MAX - 1).len();
        choices.push(format!("{others} other candidates"));
    }
    let last = choices.pop().unwrap_or_default();
    let choices = choices.join(", ");
    let or = if choices.is_empty() { "" } else { " or " };
    format!("value is not one of {choices}{or}{last}")
}
