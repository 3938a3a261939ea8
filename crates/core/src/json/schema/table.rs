//! A schema as numbers and words. `build.rs` compiles this file and writes the schemas of built-in
//! profiles: nothing is parsed or compiled when the program starts.

use std::borrow::Cow;

use super::PackedTexts;

/// A schema document. It is numbers and words: the loader of the program adjusts each pointer in a
/// table, and reads its pages to do so, also where no schema is needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct SchemaTable {
    pub(crate) words: PackedTexts,
    /// The keywords of all schemas.
    pub(crate) keywords: Cow<'static, [Keyword]>,
    /// Where the keywords of each schema end; the first is the whole document.
    pub(crate) nodes: Cow<'static, [u16]>,
    /// What keywords have several of.
    pub(crate) numbers: Cow<'static, [u16]>,
    pub(crate) scalars: Cow<'static, [Scalar]>,
    /// Numbers with which values are compared; each is exact.
    pub(crate) bounds: Cow<'static, [f64]>,
    /// The references to definitions, such as `#/$defs/line`, in the order of these words, and
    /// where they are in `nodes`.
    pub(crate) parts: Cow<'static, [(u16, u16)]>,
    /// The words that are regular expressions.
    pub(crate) patterns: Cow<'static, [u16]>,
}

/// From where to where the numbers or scalars of a keyword are in the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List(pub(crate) u16, pub(crate) u16);

/// What a schema asks of a value. Numbers of type `u16` are places in [`SchemaTable::nodes`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keyword {
    /// Nothing is valid.
    Never,
    /// One of these types, a bit for each: null, boolean, object, array, number, string, integer.
    Types(u8),
    Const(Scalar),
    Enum(List),
    MinLength(u32),
    MaxLength(u32),
    /// A place in [`SchemaTable::bounds`].
    Minimum(u16),
    /// A place in [`SchemaTable::bounds`].
    Maximum(u16),
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
    MaxProperties(u32),
    Items(u16),
    MinItems(u32),
    MaxItems(u32),
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
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    /// A place in [`SchemaTable::bounds`].
    Number(u16),
    /// A word.
    Text(u16),
}
