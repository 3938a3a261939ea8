//! Whether a value on a tape satisfies a schema in a table.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::Regex;
use serde_json::Value;

use super::table::{Keyword, List, Scalar, SchemaTable};
use crate::json::tape::{Cursor, Kind};

/// A table, and what only some values need of it, once one does.
pub(super) struct CompiledTable {
    table: Cow<'static, SchemaTable>,
    patterns: OnceLock<Vec<Regex>>,
    /// Where each schema is in the document.
    places: OnceLock<Vec<String>>,
}

impl CompiledTable {
    pub(super) fn new(table: Cow<'static, SchemaTable>) -> Self {
        Self { table, patterns: OnceLock::new(), places: OnceLock::new() }
    }

    /// The table of a user's schema. The error says what only the validator knows.
    pub(super) fn given(document: &Value) -> Result<Self, String> {
        let new = Self::new(Cow::Owned(SchemaTable::new(document)?));
        if !is_of_this_draft(document) {
            return Err("it is not of draft 2020-12".to_owned());
        }
        if new.refers_to_itself() {
            return Err("a schema refers to itself for the same value".to_owned());
        }
        let mut patterns = new.table.patterns.iter().map(|word| new.word(*word));
        let unusual = patterns.find(|pattern| !is_plain(pattern) || Regex::new(pattern).is_err());
        match unusual {
            Some(pattern) => Err(format!("the pattern {pattern:?} is not a plain one")),
            None => Ok(new),
        }
    }

    /// Whether a value would be compared with the same schema again and again.
    fn refers_to_itself(&self) -> bool {
        let mut states = vec![None; self.table.nodes.len()];
        (0..states.len())
            .any(|node| u16::try_from(node).is_ok_and(|node| self.is_open(node, &mut states)))
    }

    /// Whether a schema refers to itself. One that is open is being looked at.
    fn is_open(&self, node: u16, states: &mut [Option<bool>]) -> bool {
        match states[usize::from(node)] {
            Some(is_open) => return is_open,
            None => states[usize::from(node)] = Some(true),
        }
        for keyword in self.keywords(node) {
            let of_same_value = match keyword {
                Keyword::Ref(node) | Keyword::Not(node) => vec![*node],
                Keyword::AllOf(list) | Keyword::AnyOf(list) | Keyword::OneOf(list) => {
                    self.numbers(*list).to_vec()
                }
                Keyword::If { condition, then, otherwise } => {
                    [Some(*condition), *then, *otherwise].into_iter().flatten().collect()
                }
                Keyword::DependentSchemas(list) => self.named(*list).map(|it| it.1).collect(),
                _ => continue,
            };
            if of_same_value.into_iter().any(|node| self.is_open(node, states)) {
                return true;
            }
        }
        states[usize::from(node)] = Some(false);
        false
    }

    /// The definition that `reference` names, or the whole document; none if the table does not
    /// have it.
    pub(super) fn part(&self, reference: Option<&str>) -> Option<u16> {
        let SchemaTable { parts, words, .. } = &*self.table;
        reference.map_or(Some(0), |reference| {
            let at = parts.binary_search_by(|(name, _)| words.get(*name).cmp(reference)).ok()?;
            Some(parts[at].1)
        })
    }

    pub(super) fn place(&self, node: u16, document: &Value) -> &str {
        let places = || SchemaTable::places(document).expect("the table of it was written");
        &self.places.get_or_init(places)[usize::from(node)]
    }

    pub(super) fn satisfies(&self, node: u16, value: Cursor<'_>) -> bool {
        self.keywords(node).iter().all(|keyword| self.holds(keyword, value))
    }

    pub(super) fn keywords(&self, node: u16) -> &[Keyword] {
        let (nodes, node) = (&self.table.nodes, usize::from(node));
        let from = if node == 0 { 0 } else { nodes[node - 1] };
        &self.table.keywords[usize::from(from)..usize::from(nodes[node])]
    }

    pub(super) fn word(&self, word: u16) -> &str {
        self.table.words.get(word)
    }

    pub(super) fn numbers(&self, list: List) -> &[u16] {
        &self.table.numbers[usize::from(list.0)..usize::from(list.1)]
    }

    /// Words and their schemas.
    pub(super) fn named(&self, list: List) -> impl Iterator<Item = (&str, u16)> {
        let pairs = self.numbers(list).as_chunks().0;
        pairs.iter().map(|[word, node]| (self.table.words.get(*word), *node))
    }

    pub(super) fn holds(&self, keyword: &Keyword, value: Cursor<'_>) -> bool {
        let satisfies = |node: &u16| self.satisfies(*node, value);
        match keyword {
            Keyword::Never => false,
            Keyword::Types(types) => is_of(*types, value),
            Keyword::Const(scalar) => self.is(*scalar, value),
            Keyword::Enum(List(from, to)) => {
                let mut scalars = self.table.scalars[usize::from(*from)..usize::from(*to)].iter();
                scalars.any(|scalar| self.is(*scalar, value))
            }
            Keyword::MinLength(length) => {
                value.kind() != Kind::String || has_letters(value, *length as usize)
            }
            Keyword::MaxLength(length) => {
                value.kind() != Kind::String || !has_letters(value, *length as usize + 1)
            }
            Keyword::Minimum(at) => number(value).is_none_or(|it| it >= self.bound(*at)),
            Keyword::Maximum(at) => number(value).is_none_or(|it| it <= self.bound(*at)),
            Keyword::Pattern(pattern) => {
                value.kind() != Kind::String || {
                    value.note_read();
                    self.matches(*pattern, &value.unescaped())
                }
            }
            Keyword::Ref(node) => self.satisfies(*node, value),
            Keyword::If { condition, then, otherwise } => {
                let branch = if satisfies(condition) { then } else { otherwise };
                branch.is_none_or(|node| self.satisfies(node, value))
            }
            Keyword::AllOf(nodes) => self.numbers(*nodes).iter().all(satisfies),
            Keyword::AnyOf(nodes) => self.numbers(*nodes).iter().any(satisfies),
            Keyword::OneOf(nodes) => {
                self.numbers(*nodes).iter().filter(|node| satisfies(node)).count() == 1
            }
            Keyword::Not(node) => !self.satisfies(*node, value),
            Keyword::Items(node) => {
                value.kind() != Kind::Array || value.items().all(|item| self.satisfies(*node, item))
            }
            Keyword::MinItems(count) => {
                value.kind() != Kind::Array || value.count() >= *count as usize
            }
            Keyword::MaxItems(count) => {
                value.kind() != Kind::Array || value.count() <= *count as usize
            }
            Keyword::Required(_)
            | Keyword::MinProperties(_)
            | Keyword::MaxProperties(_)
            | Keyword::DependentSchemas(_)
            | Keyword::Members { .. } => {
                value.kind() != Kind::Object || self.holds_for_object(keyword, value)
            }
        }
    }

    fn holds_for_object(&self, keyword: &Keyword, value: Cursor<'_>) -> bool {
        match keyword {
            Keyword::Required(names) => {
                let mut names = self.numbers(*names).iter();
                names.all(|name| value.get(self.table.words.get(*name)).is_some())
            }
            Keyword::MinProperties(count) => value.count() >= *count as usize,
            Keyword::MaxProperties(count) => value.count() <= *count as usize,
            Keyword::DependentSchemas(schemas) => self
                .named(*schemas)
                .all(|(name, node)| value.get(name).is_none() || self.satisfies(node, value)),
            Keyword::Members { named, matching, others } => {
                if matching.0 == matching.1 && others.is_none() {
                    return self.named(*named).all(|(name, node)| {
                        value.get(name).is_none_or(|it| self.satisfies(node, it))
                    });
                }
                let schemas = (*named, *matching, *others);
                value.members().all(|(name, member)| {
                    self.of_member(schemas, &name).all(|node| self.satisfies(node, member))
                })
            }
            _ => true,
        }
    }

    /// The schemas of a member: those of its name and of patterns; without any, that of the others.
    pub(super) fn of_member(
        &self,
        (named, matching, others): (List, List, Option<u16>),
        name: &str,
    ) -> impl Iterator<Item = u16> {
        let named = self.named(named).find(|(known, _)| *known == name);
        let matching = self.numbers(matching).as_chunks().0.iter();
        let matching = matching.filter(move |[pattern, _]| self.matches(*pattern, name));
        let named = named.into_iter().map(|(_, node)| node);
        let mut known = named.chain(matching.map(|[_, node]| *node)).peekable();
        let others = others.filter(|_| known.peek().is_none());
        known.chain(others)
    }

    fn is(&self, scalar: Scalar, value: Cursor<'_>) -> bool {
        match scalar {
            Scalar::Null => value.kind() == Kind::Null,
            Scalar::Bool(true) => value.kind() == Kind::True,
            Scalar::Bool(false) => value.kind() == Kind::False,
            Scalar::Number(at) => number(value) == Some(self.bound(at)),
            Scalar::Text(word) => {
                value.kind() == Kind::String && {
                    value.note_read();
                    value.is(self.table.words.get(word))
                }
            }
        }
    }

    fn bound(&self, at: u16) -> f64 {
        self.table.bounds[usize::from(at)]
    }

    pub(super) fn matches(&self, pattern: u16, text: &str) -> bool {
        let compiled = self.patterns.get_or_init(|| {
            let compile =
                |word: &u16| Regex::new(self.table.words.get(*word)).expect("a test compiles it");
            self.table.patterns.iter().map(compile).collect()
        });
        compiled[usize::from(pattern)].is_match(text)
    }
}

/// Whether a string has so many characters, or more.
fn has_letters(value: Cursor<'_>, least: usize) -> bool {
    /// Two escapes: `\ud83d\ude00`.
    const LETTER_BYTES_MAX: usize = 12;
    value.note_read();
    match value.written().len() {
        bytes if bytes < least => false,
        bytes if bytes > (least - 1) * LETTER_BYTES_MAX => true,
        _ => value.unescaped().chars().nth(least - 1).is_some(),
    }
}

fn is_of(types: u8, value: Cursor<'_>) -> bool {
    let is = |bit: u8| types & (1 << bit) != 0;
    match value.kind() {
        Kind::Null => is(0),
        Kind::False | Kind::True => is(1),
        Kind::Object => is(2),
        Kind::Array => is(3),
        Kind::Number => is(4) || is(6) && is_integer(value),
        Kind::String => is(5),
    }
}

/// A number without a fraction, however it is written.
fn is_integer(value: Cursor<'_>) -> bool {
    value.is_plain_number() || number(value).is_some_and(|number| number.fract() == 0.0)
}

#[expect(clippy::cast_precision_loss, reason = "a small number is exact")]
fn number(value: Cursor<'_>) -> Option<f64> {
    if value.kind() != Kind::Number {
        return None;
    }
    value.note_read();
    value.small_number().map(|small| small as f64).or_else(|| value.written().parse().ok())
}

/// Whether the document says that it is of draft 2020-12, or says nothing.
fn is_of_this_draft(document: &Value) -> bool {
    let draft = document.get("$schema").and_then(Value::as_str);
    draft.is_none_or(|draft| {
        draft.trim_end_matches('#') == "https://json-schema.org/draft/2020-12/schema"
    })
}

/// Whether all dialects of regular expressions read a pattern in the same way.
fn is_plain(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        let is_class = letter == '\\' && letters.next().is_none_or(char::is_alphanumeric);
        if is_class || letter == '&' || letter == '~' {
            return false;
        }
    }
    pattern.is_ascii() && !pattern.contains("(?") && !pattern.contains("--")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Goal: what the evaluator would read differently from the validator is left to the validator.
    #[test]
    fn a_table_says_all_that_the_schema_does() {
        let has_table = |schema: Value| CompiledTable::given(&schema).is_ok();
        let list = json!({"$defs": {"list": {"items": {"$ref": "#/$defs/list"}}},
            "$ref": "#/$defs/list", "pattern": "^[a-z]+$", "enum": ["a", null, true, 0.5],
            "maxLength": 3, "minimum": 1_000_000_000_000_u64});
        assert!(has_table(list));
        for schema in [
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            json!({"multipleOf": 2}),
            json!({"const": [1]}),
            json!({"maximum": 9_007_199_254_740_993_u64}),
            json!({"properties": {"a": {"$ref": "https://example.org/a.json"}}}),
            json!({"pattern": "\\d"}),
            json!({"pattern": "^(?=a)"}),
            json!({"pattern": "["}),
            json!({"$defs": {"a": {"$ref": "#/$defs/a"}}}),
            json!({"$defs": {"a": {"anyOf": [{"not": {"$ref": "#/$defs/a"}}]}}}),
            json!({"items": {"$id": "other"}}),
        ] {
            assert!(!has_table(schema.clone()), "{schema}");
        }
    }
}
