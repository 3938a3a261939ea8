//! One value of an event, with the few queries that profiles and stages need.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};

use serde_json::{Number, Value};

use crate::json::tape::{Cursor, Kind, chunks, starts_with};

/// A value of an event, whichever parser read it.
///
/// Members of an object have no order here: a choice between them takes the smallest key in byte
/// order.
#[derive(Debug, Clone, Copy)]
pub struct JsonRef<'e>(TreeOrTape<'e>);

#[derive(Debug, Clone, Copy)]
enum TreeOrTape<'e> {
    Tree(&'e Value),
    Tape(Cursor<'e>),
}

#[expect(missing_docs, reason = "the names say it; it is not part of the interface")]
impl<'e> JsonRef<'e> {
    pub fn tree(value: &'e Value) -> Self {
        Self(TreeOrTape::Tree(value))
    }

    pub(crate) fn tape(cursor: Cursor<'e>) -> Self {
        Self(TreeOrTape::Tape(cursor))
    }

    pub(crate) fn cursor(self) -> Option<Cursor<'e>> {
        match self.0 {
            TreeOrTape::Tree(_) => None,
            TreeOrTape::Tape(cursor) => Some(cursor),
        }
    }

    /// The member of an object, or the item of an array, that a reference token names.
    pub fn get(self, token: &str) -> Option<Self> {
        match self.0 {
            TreeOrTape::Tree(Value::Object(object)) => object.get(token).map(Self::tree),
            TreeOrTape::Tree(Value::Array(array)) => {
                array.get(token.parse::<usize>().ok()?).map(Self::tree)
            }
            TreeOrTape::Tree(_) => None,
            TreeOrTape::Tape(cursor) if cursor.kind() == Kind::Array => {
                cursor.items().nth(token.parse().ok()?).map(Self::tape)
            }
            TreeOrTape::Tape(cursor) => cursor.get(token).map(Self::tape),
        }
    }

    /// The member with the smallest key that ends in `suffix` and is longer than it.
    pub fn member_ending_in(self, suffix: &str) -> Option<(Cow<'e, str>, Self)> {
        let fits = |key: &str| key.len() > suffix.len() && key.ends_with(suffix);
        match self.0 {
            TreeOrTape::Tree(value) => {
                let members = value.as_object()?.iter().filter(|(key, _)| fits(key));
                let (key, value) = members.min_by_key(|(key, _)| *key)?;
                Some((Cow::Borrowed(key.as_str()), Self::tree(value)))
            }
            TreeOrTape::Tape(cursor) => {
                let members = cursor.members().filter(|(key, _)| fits(key));
                let (key, value) = members.min_by(|(a, _), (b, _)| a.cmp(b))?;
                Some((key, Self::tape(value)))
            }
        }
    }

    fn kind(self) -> Kind {
        match self.0 {
            TreeOrTape::Tape(cursor) => cursor.kind(),
            TreeOrTape::Tree(Value::Null) => Kind::Null,
            TreeOrTape::Tree(Value::Bool(false)) => Kind::False,
            TreeOrTape::Tree(Value::Bool(true)) => Kind::True,
            TreeOrTape::Tree(Value::Number(_)) => Kind::Number,
            TreeOrTape::Tree(Value::String(_)) => Kind::String,
            TreeOrTape::Tree(Value::Array(_)) => Kind::Array,
            TreeOrTape::Tree(Value::Object(_)) => Kind::Object,
        }
    }

    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    pub fn is_string(self) -> bool {
        self.kind() == Kind::String
    }

    pub fn is_number(self) -> bool {
        self.kind() == Kind::Number
    }

    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether it is `null`, or a string, an array or an object with nothing in it.
    pub fn is_empty(self) -> bool {
        match self.0 {
            TreeOrTape::Tree(Value::Array(items)) => items.is_empty(),
            TreeOrTape::Tree(Value::Object(members)) => members.is_empty(),
            TreeOrTape::Tape(cursor) if matches!(cursor.kind(), Kind::Array | Kind::Object) => {
                cursor.count() == 0
            }
            TreeOrTape::Tree(_) | TreeOrTape::Tape(_) => self.is_null() || self.is(""),
        }
    }

    /// The items of an array; nothing for any other value.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let (tree, tape) = match self.0 {
            TreeOrTape::Tree(value) => (value.as_array(), None),
            TreeOrTape::Tape(cursor) => (None, Some(cursor)),
        };
        let tape = tape.into_iter().flat_map(Cursor::items).map(Self::tape);
        tree.into_iter().flatten().map(Self::tree).chain(tape)
    }

    pub fn as_str(self) -> Option<Cow<'e, str>> {
        match self.0 {
            TreeOrTape::Tree(value) => value.as_str().map(Cow::Borrowed),
            TreeOrTape::Tape(cursor) => (cursor.kind() == Kind::String).then(|| {
                cursor.note_read();
                cursor.unescaped()
            }),
        }
    }

    /// The text of a string in pieces, so that a long one is not copied.
    pub fn chunks(self, mut take: impl FnMut(&str)) {
        match self.0 {
            TreeOrTape::Tree(value) => take(value.as_str().unwrap_or_default()),
            TreeOrTape::Tape(cursor) => {
                cursor.note_read();
                chunks(cursor.written(), take);
            }
        }
    }

    /// Whether it is a string that begins with this text.
    pub fn starts_with(self, beginning: &str) -> bool {
        match self.0 {
            TreeOrTape::Tree(value) => {
                value.as_str().is_some_and(|text| text.starts_with(beginning))
            }
            TreeOrTape::Tape(cursor) => {
                cursor.note_read();
                cursor.kind() == Kind::String && starts_with(cursor.written(), beginning)
            }
        }
    }

    fn number(self) -> Option<Number> {
        match self.0 {
            TreeOrTape::Tree(value) => value.as_number().cloned(),
            TreeOrTape::Tape(cursor) if cursor.kind() == Kind::Number => {
                cursor.note_read();
                serde_json::from_str(cursor.written()).ok()
            }
            TreeOrTape::Tape(_) => None,
        }
    }

    /// The number, as the nearest double.
    #[expect(clippy::cast_precision_loss, reason = "a small number is exact")]
    pub fn as_f64(self) -> Option<f64> {
        self.small_number().map(|number| number as f64).or_else(|| self.number()?.as_f64())
    }

    fn small_number(self) -> Option<u64> {
        match self.0 {
            TreeOrTape::Tape(cursor) if cursor.kind() == Kind::Number => {
                cursor.note_read();
                cursor.small_number()
            }
            TreeOrTape::Tree(_) | TreeOrTape::Tape(_) => None,
        }
    }

    pub fn is(self, text: &str) -> bool {
        match self.0 {
            TreeOrTape::Tree(value) => value == text,
            TreeOrTape::Tape(cursor) => {
                cursor.note_read();
                cursor.kind() == Kind::String && cursor.is(text)
            }
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            Kind::Null | Kind::Number | Kind::String | Kind::Array | Kind::Object => None,
        }
    }

    /// A string, number or boolean as text.
    pub fn scalar_text(self) -> Option<Cow<'e, str>> {
        self.as_str()
            .or_else(|| self.number().map(|number| Cow::Owned(number.to_string())))
            .or_else(|| self.as_bool().map(|flag| Cow::Owned(flag.to_string())))
    }

    /// Whether it equals a string, number, boolean or null of a profile; numbers by value.
    pub fn equals(self, scalar: &Value) -> bool {
        match scalar {
            Value::Null => self.is_null(),
            Value::Bool(value) => self.as_bool() == Some(*value),
            Value::Number(b) => self.number().is_some_and(|a| a == *b || a.as_f64() == b.as_f64()),
            Value::String(text) => self.is(text),
            Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// The same for equal values, in any order of the members, on a tape or in a tree. This hasher
    /// gives the same for a string, however it is cut into chunks.
    pub fn value_hash(self, state: &RandomState) -> u64 {
        let mut hasher = state.build_hasher();
        if self.is_null() {
            0_u8.hash(&mut hasher);
        } else if let Some(value) = self.as_bool() {
            (1_u8, value).hash(&mut hasher);
        } else if let Some(number) = self.number() {
            (2_u8, number).hash(&mut hasher);
        } else if self.is_string() {
            3_u8.hash(&mut hasher);
            self.chunks(|chunk| hasher.write(chunk.as_bytes()));
        } else if self.is_array() {
            let items = self.items().map(|item| item.value_hash(state));
            let count = items.map(|hash| hash.hash(&mut hasher)).count();
            (4_u8, count).hash(&mut hasher);
        } else {
            let (mut count, mut sum) = (0_usize, 0_u64);
            for (key, value) in self.members() {
                sum = sum.wrapping_add(state.hash_one((key, value.value_hash(state))));
                count += 1;
            }
            (5_u8, count, sum).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The value as it is written, if it is on a tape.
    pub fn source(self) -> Option<&'e str> {
        match self.0 {
            TreeOrTape::Tree(_) => None,
            TreeOrTape::Tape(cursor) => Some(cursor.source()),
        }
    }

    /// A copy of the value.
    pub fn to_value(self) -> Value {
        match self.0 {
            TreeOrTape::Tree(value) => value.clone(),
            TreeOrTape::Tape(cursor) => serde_json::from_str(cursor.source()).unwrap_or_default(),
        }
    }

    /// The members of an object; nothing for any other value.
    pub fn members(self) -> impl Iterator<Item = (Cow<'e, str>, Self)> {
        let (tree, tape) = match self.0 {
            TreeOrTape::Tree(value) => (value.as_object(), None),
            TreeOrTape::Tape(cursor) => (None, Some(cursor)),
        };
        let tree = tree.into_iter().flatten();
        let tree = tree.map(|(key, value)| (Cow::Borrowed(key.as_str()), Self::tree(value)));
        let tape = tape.into_iter().flat_map(Cursor::members);
        tree.chain(tape.map(|(key, value)| (key, Self::tape(value))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::tape::Tape;

    /// The result of `query`, which must be the same on a tape and in a tree.
    fn queried<T: PartialEq + std::fmt::Debug>(
        value: &Value,
        query: impl Fn(JsonRef<'_>) -> T,
    ) -> T {
        let text = value.to_string();
        let mut tape = Tape::default();
        assert!(tape.read(text.as_bytes(), text.len()), "{text}");
        let result = query(JsonRef::tape(tape.doc(&text).root()));
        assert_eq!(result, query(JsonRef::tree(value)), "{text}");
        result
    }

    #[test]
    fn hashes_follow_equality() {
        let state = RandomState::default();
        let of = |value: &Value| queried(value, |it| it.value_hash(&state));
        let value = json!({"a": [1, "x\n", null], "b": {"c": true, "d": 2}});
        let reordered = r#"{"b":{"d":2,"c":true},"a":[1,"x\u000a",null]}"#;
        let mut tape = Tape::default();
        assert!(tape.read(reordered.as_bytes(), reordered.len()));
        assert_eq!(of(&value), JsonRef::tape(tape.doc(reordered).root()).value_hash(&state));
        for other in
            [json!({"a": [1, "x\n", null], "b": {"c": true, "d": 3}}), json!([]), json!({})]
        {
            assert_ne!(of(&value), of(&other));
        }
        // The hash is the same for every way to write a string.
        let long = r"a/\n".repeat(2_000);
        for written in [long.clone(), long.replace('/', r"\/"), long.replace(r"\n", r"\u000a")] {
            let written = format!("\"{written}\"");
            assert!(tape.read(written.as_bytes(), written.len()));
            let hash = JsonRef::tape(tape.doc(&written).root()).value_hash(&state);
            assert_eq!(hash, of(&json!("a/\n".repeat(2_000))));
            assert_ne!(hash, of(&json!("a/\n".repeat(1_999) + "a/\t")));
        }
    }

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(queried(&json!(0), |it| it.equals(&json!(0.0))));
        assert!(!queried(&json!(1), |it| it.equals(&json!("1"))));
        let text = queried(&json!(1.0), |it| it.scalar_text().map(Cow::into_owned));
        assert_eq!(text.as_deref(), Some("1.0"));
    }

    #[test]
    fn the_smallest_matching_key_is_taken() {
        let value = json!({"toolCallId": 1, "zToolCall": 2, "aToolCall": 3, "ToolCall": 4});
        let found =
            queried(&value, |it| it.member_ending_in("ToolCall").map(|(key, _)| key.into_owned()));
        assert_eq!(found.as_deref(), Some("aToolCall"));
    }
}
