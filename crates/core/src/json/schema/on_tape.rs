//! A tape as the tree that the validator reads.

use serde_json::{Map, Number, Value};

use crate::json::tape::{Cursor, Kind};

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
