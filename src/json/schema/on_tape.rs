//! Lets the validator read a tape, without a tree.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object, cmp};
use serde_json::{Map, Number, Value};

use crate::json::tape::{Cursor, Doc, Items, Kind, Members, Tape};

pub(super) struct TapeJson;

impl Json for TapeJson {
    type Node<'a> = Cursor<'a>;
    type PreparedKey = String;
    type StringBuffer = (String, Tape);

    // A lookup compares keys one by one, as a walk over the members does.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        (text, tape): &mut Self::StringBuffer,
        string: &str,
        f: impl FnOnce(Cursor<'_>) -> T,
    ) -> T {
        *text = Value::from(string).to_string();
        let is_read = tape.read(text.as_bytes(), text.len());
        debug_assert!(is_read, "a string that was just written is one");
        let doc: Doc<'_> = tape.doc(text);
        f(doc.root())
    }
}

impl<'a> Node<'a, TapeJson> for Cursor<'a> {
    type Object = Self;
    type Array = Self;
    type Number = TapeNumber<'a>;

    #[inline]
    fn as_object(&self) -> Option<Self> {
        (self.kind() == Kind::Object).then_some(*self)
    }

    #[inline]
    fn as_array(&self) -> Option<Self> {
        (self.kind() == Kind::Array).then_some(*self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| {
            self.note_read();
            self.unescaped()
        })
    }

    fn string_length(&self) -> Option<u64> {
        (self.kind() == Kind::String).then(|| {
            self.note_read();
            self.unescaped().chars().count() as u64
        })
    }

    #[inline]
    fn as_number(&self) -> Option<TapeNumber<'a>> {
        (self.kind() == Kind::Number).then_some(TapeNumber(*self))
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            Kind::Null | Kind::Number | Kind::String | Kind::Array | Kind::Object => None,
        }
    }

    #[inline]
    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    #[inline]
    fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    #[inline]
    fn is_number(&self) -> bool {
        self.kind() == Kind::Number
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::False | Kind::True => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match expected {
            Value::Null => self.kind() == Kind::Null,
            Value::Bool(true) => self.kind() == Kind::True,
            Value::Bool(false) => self.kind() == Kind::False,
            Value::String(expected) => {
                self.kind() == Kind::String && {
                    self.note_read();
                    self.is(expected)
                }
            }
            Value::Number(_) => self
                .as_number()
                .is_some_and(|number| cmp::equal(&Value::Number(number.number()), expected)),
            Value::Array(_) => self.kind() == Kind::Array && cmp::equal(&self.to_value(), expected),
            Value::Object(_) => {
                self.kind() == Kind::Object && cmp::equal(&self.to_value(), expected)
            }
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        self.note_all_read();
        Cow::Owned(tree(*self))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let address = self.address();
        u32::try_from(self.index()).ok().map(|index| NodeIdentity::tagged(address, index))
    }
}

pub(super) fn tree(cursor: Cursor<'_>) -> Value {
    match cursor.kind() {
        Kind::Null => Value::Null,
        Kind::False => Value::Bool(false),
        Kind::True => Value::Bool(true),
        Kind::Number => Value::Number(number(cursor)),
        Kind::String => Value::String(cursor.unescaped().into_owned()),
        Kind::Array => Value::Array(cursor.items().map(tree).collect()),
        Kind::Object => {
            let members =
                Cursor::members(cursor).map(|(key, value)| (key.into_owned(), tree(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

fn number(cursor: Cursor<'_>) -> Number {
    // The tape has checked that it is a number.
    serde_json::from_str(cursor.written()).unwrap_or(Number::from(0))
}

pub(super) struct TapeNumber<'a>(Cursor<'a>);

impl TapeNumber<'_> {
    fn small(&self) -> Option<u64> {
        self.0.note_read();
        self.0.small_number()
    }

    /// The number as the tree has it, so that both give the same answers.
    fn number(&self) -> Number {
        self.0.note_read();
        number(self.0)
    }
}

impl JsonNumber for TapeNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.small().or_else(|| self.number().as_u64())
    }

    fn as_i64(&self) -> Option<i64> {
        self.small().map(u64::cast_signed).or_else(|| self.number().as_i64())
    }

    #[expect(clippy::cast_precision_loss, reason = "a small number is exact")]
    fn as_f64(&self) -> Option<f64> {
        self.small().map(|number| number as f64).or_else(|| self.number().as_f64())
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.number().to_string())
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(self.number())
    }

    fn is_written_as_integer(&self) -> bool {
        JsonNumber::is_written_as_integer(&self.number())
    }

    #[inline]
    fn is_integer(&self) -> bool {
        // A long one has no fraction as a double either.
        self.0.is_plain_number() || JsonNumber::is_integer(&self.number())
    }
}

impl<'a> Object<'a, TapeJson> for Cursor<'a> {
    type Node = Self;
    type MemberName = Cow<'a, str>;
    type MembersIter = Members<'a>;

    #[inline]
    fn len(&self) -> usize {
        self.count()
    }

    #[inline]
    fn get(&self, key: &String) -> Option<Self> {
        Cursor::get(*self, key)
    }

    fn members(&self) -> Self::MembersIter {
        Cursor::members(*self)
    }
}

impl<'a> Array<'a, TapeJson> for Cursor<'a> {
    type Node = Self;
    type ElementsIter = Items<'a>;

    #[inline]
    fn len(&self) -> usize {
        self.count()
    }

    fn elements(&self) -> Self::ElementsIter {
        self.items()
    }
}
