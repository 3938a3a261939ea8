//! One value of an event, seen through the few questions that profiles and stages ask.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher};

use serde_json::{Number, Value};

use super::block_hasher::Blocks;
use crate::json::tape::{Cursor, Kind, canonical, canonical_text};

/// A value of an event, whichever parser read it.
///
/// Members of an object have no order here: where a choice must be made, the smallest key in byte
/// order is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonRef<'e>(Repr<'e>);

#[derive(Debug, Clone, Copy)]
enum Repr<'e> {
    Tree(&'e Value),
    Tape(Cursor<'e>),
}

impl<'e> JsonRef<'e> {
    /// A value in a tree of `serde_json`.
    pub(crate) fn tree(value: &'e Value) -> Self {
        Self(Repr::Tree(value))
    }

    /// A value on a tape.
    pub(crate) fn tape(cursor: Cursor<'e>) -> Self {
        Self(Repr::Tape(cursor))
    }

    /// The value's place on the tape, if a tape holds it.
    pub(crate) fn cursor(self) -> Option<Cursor<'e>> {
        match self.0 {
            Repr::Tree(_) => None,
            Repr::Tape(cursor) => Some(cursor),
        }
    }

    /// The member of an object, or the item of an array, that a reference token names.
    pub(crate) fn get(self, token: &str) -> Option<Self> {
        match self.0 {
            Repr::Tree(Value::Object(object)) => object.get(token).map(Self::tree),
            Repr::Tree(Value::Array(array)) => {
                array.get(token.parse::<usize>().ok()?).map(Self::tree)
            }
            Repr::Tree(_) => None,
            Repr::Tape(cursor) if cursor.kind() == Kind::Array => {
                cursor.items().nth(token.parse().ok()?).map(Self::tape)
            }
            Repr::Tape(cursor) => cursor.get(token).map(Self::tape),
        }
    }

    /// The member with the smallest key that ends in `suffix` and is longer than it.
    pub(crate) fn member_ending_in(self, suffix: &str) -> Option<(Cow<'e, str>, Self)> {
        let fits = |key: &str| key.len() > suffix.len() && key.ends_with(suffix);
        match self.0 {
            Repr::Tree(value) => {
                let members = value.as_object()?.iter().filter(|(key, _)| fits(key));
                let (key, value) = members.min_by_key(|(key, _)| *key)?;
                Some((Cow::Borrowed(key.as_str()), Self::tree(value)))
            }
            Repr::Tape(cursor) => {
                let members = cursor.members().filter(|(key, _)| fits(key));
                let (key, value) = members.min_by(|(a, _), (b, _)| a.cmp(b))?;
                Some((key, Self::tape(value)))
            }
        }
    }

    /// Whether it is an array.
    pub(crate) fn is_array(self) -> bool {
        match self.0 {
            Repr::Tree(value) => value.is_array(),
            Repr::Tape(cursor) => cursor.kind() == Kind::Array,
        }
    }

    /// Whether it is a string.
    pub(crate) fn is_string(self) -> bool {
        match self.0 {
            Repr::Tree(value) => value.is_string(),
            Repr::Tape(cursor) => cursor.kind() == Kind::String,
        }
    }

    /// Whether it is a number.
    pub(crate) fn is_number(self) -> bool {
        match self.0 {
            Repr::Tree(value) => value.is_number(),
            Repr::Tape(cursor) => cursor.kind() == Kind::Number,
        }
    }

    /// Whether it is `null`.
    pub(crate) fn is_null(self) -> bool {
        match self.0 {
            Repr::Tree(value) => value.is_null(),
            Repr::Tape(cursor) => cursor.kind() == Kind::Null,
        }
    }

    /// Whether it is `null`, or a string, an array or an object with nothing in it.
    pub(crate) fn is_empty(self) -> bool {
        match self.0 {
            Repr::Tree(Value::Array(items)) => items.is_empty(),
            Repr::Tree(Value::Object(members)) => members.is_empty(),
            Repr::Tape(cursor) if matches!(cursor.kind(), Kind::Array | Kind::Object) => {
                cursor.count() == 0
            }
            Repr::Tree(_) | Repr::Tape(_) => self.is_null() || self.is(""),
        }
    }

    /// The items of an array; nothing for any other value.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        let (tree, tape) = match self.0 {
            Repr::Tree(value) => (value.as_array(), None),
            Repr::Tape(cursor) => (None, Some(cursor)),
        };
        let tape = tape.into_iter().flat_map(Cursor::items).map(Self::tape);
        tree.into_iter().flatten().map(Self::tree).chain(tape)
    }

    /// The string.
    pub(crate) fn as_str(self) -> Option<Cow<'e, str>> {
        match self.0 {
            Repr::Tree(value) => value.as_str().map(Cow::Borrowed),
            Repr::Tape(cursor) => (cursor.kind() == Kind::String).then(|| {
                cursor.note_read();
                cursor.unescaped()
            }),
        }
    }

    /// The string as it is written, without its quotes, if it has escapes and the engine knows
    /// how it is written.
    pub(crate) fn written(self) -> Option<&'e str> {
        match self.0 {
            Repr::Tape(cursor) if cursor.kind() == Kind::String && cursor.has_escapes() => {
                cursor.note_read();
                Some(cursor.written())
            }
            Repr::Tape(_) | Repr::Tree(_) => None,
        }
    }

    fn number(self) -> Option<Number> {
        match self.0 {
            Repr::Tree(value) => value.as_number().cloned(),
            Repr::Tape(cursor) if cursor.kind() == Kind::Number => {
                cursor.note_read();
                serde_json::from_str(cursor.written()).ok()
            }
            Repr::Tape(_) => None,
        }
    }

    /// The number, where it is a whole one from 0 to 2^64 - 1.
    pub(crate) fn as_u64(self) -> Option<u64> {
        self.small_number().or_else(|| self.number()?.as_u64())
    }

    /// The number, as near as a double comes to it.
    #[expect(clippy::cast_precision_loss, reason = "a small number is exact")]
    pub(crate) fn as_f64(self) -> Option<f64> {
        self.small_number().map(|it| it as f64).or_else(|| self.number()?.as_f64())
    }

    fn small_number(self) -> Option<u64> {
        match self.0 {
            Repr::Tape(cursor) if cursor.kind() == Kind::Number => {
                cursor.note_read();
                cursor.small_number()
            }
            Repr::Tree(_) | Repr::Tape(_) => None,
        }
    }

    /// Whether it is this string.
    pub(crate) fn is(self, text: &str) -> bool {
        match self.0 {
            Repr::Tree(value) => value == text,
            Repr::Tape(cursor) => {
                cursor.note_read();
                cursor.kind() == Kind::String && cursor.is(text)
            }
        }
    }

    /// The boolean.
    pub(crate) fn as_bool(self) -> Option<bool> {
        match self.0 {
            Repr::Tree(value) => value.as_bool(),
            Repr::Tape(cursor) => match cursor.kind() {
                Kind::True => Some(true),
                Kind::False => Some(false),
                Kind::Null | Kind::Number | Kind::String | Kind::Array | Kind::Object => None,
            },
        }
    }

    /// A string, number or boolean as text.
    pub(crate) fn scalar_text(self) -> Option<Cow<'e, str>> {
        self.as_str()
            .or_else(|| self.number().map(|it| Cow::Owned(it.to_string())))
            .or_else(|| self.as_bool().map(|it| Cow::Owned(it.to_string())))
    }

    /// Whether it equals a string, number, boolean or null of a profile; numbers by value.
    pub(crate) fn equals(self, scalar: &Value) -> bool {
        match scalar {
            Value::Null => self.is_null(),
            Value::Bool(value) => self.as_bool() == Some(*value),
            Value::Number(b) => self.number().is_some_and(|a| a == *b || a.as_f64() == b.as_f64()),
            Value::String(text) => self.is(text),
            Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// A fingerprint that is equal for equal values, the order of members not counted, and the
    /// same for all engines.
    pub(crate) fn fingerprint(self, state: &impl BuildHasher) -> u64 {
        let mut hasher = state.build_hasher();
        if self.is_null() {
            0_u8.hash(&mut hasher);
        } else if let Some(value) = self.as_bool() {
            (1_u8, value).hash(&mut hasher);
        } else if let Some(number) = self.number() {
            (2_u8, number).hash(&mut hasher);
        } else if self.is_string() {
            3_u8.hash(&mut hasher);
            let mut blocks = Blocks::new(&mut hasher);
            self.canonical(|piece| blocks.push(piece.as_bytes()));
            blocks.finish();
        } else if self.is_array() {
            let items = self.items().map(|item| item.fingerprint(state));
            let count = items.map(|it| it.hash(&mut hasher)).count();
            (4_u8, count).hash(&mut hasher);
        } else {
            let sums = self.members().map(|(key, it)| state.hash_one((key, it.fingerprint(state))));
            let (count, sum) =
                sums.fold((0_usize, 0_u64), |(count, sum), it| (count + 1, sum.wrapping_add(it)));
            (5_u8, count, sum).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// A string in its canonical form, piece by piece: of a long one no copy is made.
    fn canonical(self, mut take: impl FnMut(&str)) {
        match self.0 {
            Repr::Tree(value) => canonical_text(value.as_str().unwrap_or_default(), take),
            Repr::Tape(cursor) => {
                cursor.note_read();
                let written = cursor.written();
                if cursor.has_escapes() { canonical(written, take) } else { take(written) }
            }
        }
    }

    /// The value as it is written, where the engine knows that.
    pub(crate) fn source(self) -> Option<&'e str> {
        match self.0 {
            Repr::Tree(_) => None,
            Repr::Tape(cursor) => Some(cursor.source()),
        }
    }

    /// The members of an object; nothing for any other value.
    pub(crate) fn members(self) -> impl Iterator<Item = (Cow<'e, str>, Self)> {
        let (tree, tape) = match self.0 {
            Repr::Tree(value) => (value.as_object(), None),
            Repr::Tape(cursor) => (None, Some(cursor)),
        };
        let tree = tree.into_iter().flatten();
        let tree = tree.map(|(key, value)| (Cow::Borrowed(key.as_str()), Self::tree(value)));
        let tape = tape.into_iter().flat_map(Cursor::members);
        tree.chain(tape.map(|(key, value)| (key, Self::tape(value))))
    }
}

#[cfg(test)]
mod tests {
    use foldhash::quality::RandomState;
    use serde_json::json;

    use super::*;
    use crate::json::tape::Tape;

    /// What `question` answers for a value on a tape and for the same in a tree.
    fn asked<T: PartialEq + std::fmt::Debug>(
        value: &Value,
        question: impl Fn(JsonRef<'_>) -> T,
    ) -> T {
        let text = value.to_string();
        let mut tape = Tape::default();
        assert!(tape.read(text.as_bytes(), text.len()), "{text}");
        let answer = question(JsonRef::tape(tape.doc(&text).root()));
        assert_eq!(answer, question(JsonRef::tree(value)), "{text}");
        answer
    }

    #[test]
    fn fingerprints_follow_equality() {
        let state = RandomState::default();
        let of = |value: &Value| asked(value, |it| it.fingerprint(&state));
        let value = json!({"a": [1, "x\n", null], "b": {"c": true, "d": 2}});
        let reordered = r#"{"b":{"d":2,"c":true},"a":[1,"x\u000a",null]}"#;
        let mut tape = Tape::default();
        assert!(tape.read(reordered.as_bytes(), reordered.len()));
        assert_eq!(of(&value), JsonRef::tape(tape.doc(reordered).root()).fingerprint(&state));
        for other in
            [json!({"a": [1, "x\n", null], "b": {"c": true, "d": 3}}), json!([]), json!({})]
        {
            assert_ne!(of(&value), of(&other));
        }
        // A hasher that cares how it is given bytes is given them alike.
        let long = r"a/\n".repeat(2_000);
        for written in [long.clone(), long.replace('/', r"\/"), long.replace(r"\n", r"\u000a")] {
            let written = format!("\"{written}\"");
            assert!(tape.read(written.as_bytes(), written.len()));
            let print = JsonRef::tape(tape.doc(&written).root()).fingerprint(&state);
            assert_eq!(print, of(&json!("a/\n".repeat(2_000))));
            assert_ne!(print, of(&json!("a/\n".repeat(1_999) + "a/\t")));
        }
    }

    #[test]
    fn numbers_are_equal_by_value() {
        assert!(asked(&json!(0), |it| it.equals(&json!(0.0))));
        assert!(!asked(&json!(1), |it| it.equals(&json!("1"))));
        let text = asked(&json!(1.0), |it| it.scalar_text().map(Cow::into_owned));
        assert_eq!(text.as_deref(), Some("1.0"));
    }

    #[test]
    fn the_smallest_matching_key_is_taken() {
        let value = json!({"toolCallId": 1, "zToolCall": 2, "aToolCall": 3, "ToolCall": 4});
        let found = asked(&value, |it| it.member_ending_in("ToolCall").map(|it| it.0.into_owned()));
        assert_eq!(found.as_deref(), Some("aToolCall"));
    }
}
