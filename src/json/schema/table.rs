//! The schemas of built-in profiles, as `build.rs` writes them: nothing is parsed or compiled when
//! the program starts. They answer whether an event on a tape is valid; how an invalid one fails is
//! the validator's answer.

use std::sync::OnceLock;

use regex::Regex;

use crate::json::tape::{Cursor, Kind};

/// A schema document.
#[derive(Debug)]
pub(crate) struct SchemaTable {
    /// Each has the keywords of one schema; the first is the whole document.
    pub(crate) nodes: &'static [&'static [Keyword]],
    /// The definitions by their references, such as `#/$defs/line`, and where they are in `nodes`.
    pub(crate) parts: &'static [(&'static str, u16)],
    /// The regular expressions.
    pub(crate) patterns: &'static [&'static str],
}

/// What a schema asks of a value. Numbers of type `u16` are places in [`SchemaTable::nodes`].
#[derive(Debug)]
pub(crate) enum Keyword {
    /// Nothing is valid.
    Never,
    /// One of these types, a bit for each: null, boolean, object, array, number, string, integer.
    Types(u8),
    Const(Scalar),
    Enum(&'static [Scalar]),
    MinLength(u32),
    Minimum(f64),
    /// A place in [`SchemaTable::patterns`].
    Pattern(u8),
    Required(&'static [&'static str]),
    /// `properties`, `patternProperties` and `additionalProperties`, which depend on each other.
    Members {
        named: &'static [(&'static str, u16)],
        matching: &'static [(u8, u16)],
        others: Option<u16>,
    },
    DependentSchemas(&'static [(&'static str, u16)]),
    MinProperties(u32),
    Items(u16),
    MinItems(u32),
    Ref(u16),
    If {
        condition: u16,
        then: Option<u16>,
        otherwise: Option<u16>,
    },
    AllOf(&'static [u16]),
    AnyOf(&'static [u16]),
    OneOf(&'static [u16]),
    Not(u16),
}

/// A value without parts.
#[derive(Debug)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Text(&'static str),
}

/// A table, and its regular expressions once one is needed.
pub(super) struct CompiledTable {
    table: &'static SchemaTable,
    patterns: OnceLock<Vec<Regex>>,
}

impl CompiledTable {
    pub(super) fn new(table: &'static SchemaTable) -> Self {
        Self { table, patterns: OnceLock::new() }
    }

    /// Whether a value satisfies the definition that `reference` names, or the whole document.
    pub(super) fn is_valid(&self, reference: Option<&str>, value: Cursor<'_>) -> bool {
        let parts = self.table.parts;
        let node = reference.map_or(Some(0), |reference| {
            let at = parts.binary_search_by(|(name, _)| (*name).cmp(reference)).ok()?;
            Some(parts[at].1)
        });
        self.satisfies(node.expect("build.rs lists every definition"), value)
    }

    fn satisfies(&self, node: u16, value: Cursor<'_>) -> bool {
        self.table.nodes[usize::from(node)].iter().all(|keyword| self.holds(keyword, value))
    }

    fn holds(&self, keyword: &Keyword, value: Cursor<'_>) -> bool {
        let satisfies = |node: &u16| self.satisfies(*node, value);
        match keyword {
            Keyword::Never => false,
            Keyword::Types(types) => is_of(*types, value),
            Keyword::Const(scalar) => scalar.is(value),
            Keyword::Enum(scalars) => scalars.iter().any(|scalar| scalar.is(value)),
            Keyword::MinLength(length) => {
                value.kind() != Kind::String || {
                    value.note_read();
                    value.unescaped().chars().nth(*length as usize - 1).is_some()
                }
            }
            Keyword::Minimum(minimum) => number(value).is_none_or(|number| number >= *minimum),
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
            Keyword::AllOf(nodes) => nodes.iter().all(satisfies),
            Keyword::AnyOf(nodes) => nodes.iter().any(satisfies),
            Keyword::OneOf(nodes) => nodes.iter().filter(|node| satisfies(node)).count() == 1,
            Keyword::Not(node) => !self.satisfies(*node, value),
            Keyword::Items(node) => {
                value.kind() != Kind::Array || value.items().all(|item| self.satisfies(*node, item))
            }
            Keyword::MinItems(count) => {
                value.kind() != Kind::Array || value.count() >= *count as usize
            }
            _ if value.kind() != Kind::Object => true,
            Keyword::Required(names) => names.iter().all(|name| value.get(name).is_some()),
            Keyword::MinProperties(count) => value.count() >= *count as usize,
            Keyword::DependentSchemas(schemas) => schemas
                .iter()
                .all(|(name, node)| value.get(name).is_none() || self.satisfies(*node, value)),
            Keyword::Members { named, matching, others } => {
                if matching.is_empty() && others.is_none() {
                    let member = |name| value.get(name);
                    return named.iter().all(|(name, node)| {
                        member(name).is_none_or(|it| self.satisfies(*node, it))
                    });
                }
                value
                    .members()
                    .all(|(name, member)| self.member(named, matching, *others, &name, member))
            }
        }
    }

    fn member(
        &self,
        named: &[(&str, u16)],
        matching: &[(u8, u16)],
        others: Option<u16>,
        name: &str,
        member: Cursor<'_>,
    ) -> bool {
        let mut is_known = false;
        if let Some((_, node)) = named.iter().find(|(known, _)| *known == name) {
            is_known = true;
            if !self.satisfies(*node, member) {
                return false;
            }
        }
        for (pattern, node) in matching {
            if self.matches(*pattern, name) {
                is_known = true;
                if !self.satisfies(*node, member) {
                    return false;
                }
            }
        }
        is_known || others.is_none_or(|node| self.satisfies(node, member))
    }

    fn matches(&self, pattern: u8, text: &str) -> bool {
        let compiled = self.patterns.get_or_init(|| {
            let compile = |pattern: &&str| Regex::new(pattern).expect("a test compiles it");
            self.table.patterns.iter().map(compile).collect()
        });
        compiled[usize::from(pattern)].is_match(text)
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

impl Scalar {
    fn is(&self, value: Cursor<'_>) -> bool {
        match self {
            Self::Null => value.kind() == Kind::Null,
            Self::Bool(true) => value.kind() == Kind::True,
            Self::Bool(false) => value.kind() == Kind::False,
            Self::Text(text) => {
                value.kind() == Kind::String && {
                    value.note_read();
                    value.is(text)
                }
            }
        }
    }
}
