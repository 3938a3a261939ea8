//! The schemas of built-in profiles, as `build.rs` writes them: nothing is parsed or compiled when
//! the program starts. They answer whether an event on a tape is valid; how an invalid one fails is
//! the validator's answer.

use std::sync::OnceLock;

use regex::Regex;

use crate::json::PackedTexts;
use crate::json::tape::{Cursor, Kind};

/// A schema document. It is numbers and words: the loader of the program adjusts each pointer in a
/// table, and reads its pages to do so, also where no schema is needed.
#[derive(Debug)]
pub(crate) struct SchemaTable {
    pub(crate) words: PackedTexts,
    /// The keywords of all schemas.
    pub(crate) keywords: &'static [Keyword],
    /// Where the keywords of each schema end; the first is the whole document.
    pub(crate) nodes: &'static [u16],
    /// What keywords have several of.
    pub(crate) numbers: &'static [u16],
    pub(crate) scalars: &'static [Scalar],
    /// The references to definitions, such as `#/$defs/line`, in the order of these words, and
    /// where they are in `nodes`.
    pub(crate) parts: &'static [(u16, u16)],
    /// The words that are regular expressions.
    pub(crate) patterns: &'static [u16],
}

/// From where to where the numbers or scalars of a keyword are in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List(pub(crate) u16, pub(crate) u16);

/// What a schema asks of a value. Numbers of type `u16` are places in [`SchemaTable::nodes`].
#[derive(Debug)]
pub(crate) enum Keyword {
    /// Nothing is valid.
    Never,
    /// One of these types, a bit for each: null, boolean, object, array, number, string, integer.
    Types(u8),
    Const(Scalar),
    Enum(List),
    MinLength(u32),
    Minimum(i32),
    /// A place in [`SchemaTable::patterns`].
    Pattern(u16),
    /// Words.
    Required(List),
    /// `properties`, `patternProperties` and `additionalProperties`, which depend on each other.
    Members {
        /// Each a word, and its schema.
        named: List,
        /// Each a pattern, and its schema.
        matching: List,
        others: Option<u16>,
    },
    /// Each a word, and its schema.
    DependentSchemas(List),
    MinProperties(u32),
    Items(u16),
    MinItems(u32),
    Ref(u16),
    If {
        condition: u16,
        then: Option<u16>,
        otherwise: Option<u16>,
    },
    AllOf(List),
    AnyOf(List),
    OneOf(List),
    Not(u16),
}

/// A value without parts.
#[derive(Debug)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    /// A word.
    Text(u16),
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
            let words = &self.table.words;
            let at = parts.binary_search_by(|(name, _)| words.get(*name).cmp(reference)).ok()?;
            Some(parts[at].1)
        });
        self.satisfies(node.expect("build.rs lists every definition"), value)
    }

    fn satisfies(&self, node: u16, value: Cursor<'_>) -> bool {
        let (nodes, node) = (self.table.nodes, usize::from(node));
        let from = if node == 0 { 0 } else { nodes[node - 1] };
        let keywords = &self.table.keywords[usize::from(from)..usize::from(nodes[node])];
        keywords.iter().all(|keyword| self.holds(keyword, value))
    }

    fn numbers(&self, list: List) -> &'static [u16] {
        &self.table.numbers[usize::from(list.0)..usize::from(list.1)]
    }

    /// Words and their schemas.
    fn named(&self, list: List) -> impl Iterator<Item = (&str, u16)> {
        let pairs = self.numbers(list).as_chunks().0;
        pairs.iter().map(|[word, node]| (self.table.words.get(*word), *node))
    }

    fn holds(&self, keyword: &Keyword, value: Cursor<'_>) -> bool {
        let satisfies = |node: &u16| self.satisfies(*node, value);
        match keyword {
            Keyword::Never => false,
            Keyword::Types(types) => is_of(*types, value),
            Keyword::Const(scalar) => self.is(scalar, value),
            Keyword::Enum(List(from, to)) => {
                let mut scalars = self.table.scalars[usize::from(*from)..usize::from(*to)].iter();
                scalars.any(|scalar| self.is(scalar, value))
            }
            Keyword::MinLength(length) => {
                value.kind() != Kind::String || {
                    value.note_read();
                    value.unescaped().chars().nth(*length as usize - 1).is_some()
                }
            }
            Keyword::Minimum(minimum) => number(value).is_none_or(|it| it >= f64::from(*minimum)),
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
            Keyword::Required(_)
            | Keyword::MinProperties(_)
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
            Keyword::DependentSchemas(schemas) => self
                .named(*schemas)
                .all(|(name, node)| value.get(name).is_none() || self.satisfies(node, value)),
            Keyword::Members { named, matching, others } => {
                if matching.0 == matching.1 && others.is_none() {
                    return self.named(*named).all(|(name, node)| {
                        value.get(name).is_none_or(|it| self.satisfies(node, it))
                    });
                }
                value
                    .members()
                    .all(|(name, member)| self.member(*named, *matching, *others, &name, member))
            }
            _ => true,
        }
    }

    fn member(
        &self,
        named: List,
        matching: List,
        others: Option<u16>,
        name: &str,
        member: Cursor<'_>,
    ) -> bool {
        let mut is_known = false;
        if let Some((_, node)) = self.named(named).find(|(known, _)| *known == name) {
            is_known = true;
            if !self.satisfies(node, member) {
                return false;
            }
        }
        for [pattern, node] in self.numbers(matching).as_chunks().0 {
            if self.matches(*pattern, name) {
                is_known = true;
                if !self.satisfies(*node, member) {
                    return false;
                }
            }
        }
        is_known || others.is_none_or(|node| self.satisfies(node, member))
    }

    fn is(&self, scalar: &Scalar, value: Cursor<'_>) -> bool {
        match scalar {
            Scalar::Null => value.kind() == Kind::Null,
            Scalar::Bool(true) => value.kind() == Kind::True,
            Scalar::Bool(false) => value.kind() == Kind::False,
            Scalar::Text(word) => {
                value.kind() == Kind::String && {
                    value.note_read();
                    value.is(self.table.words.get(*word))
                }
            }
        }
    }

    fn matches(&self, pattern: u16, text: &str) -> bool {
        let compiled = self.patterns.get_or_init(|| {
            let compile =
                |word: &u16| Regex::new(self.table.words.get(*word)).expect("a test compiles it");
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
