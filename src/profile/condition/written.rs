//! How conditions are written. Told by hand: a start-up reads hundreds of them, and what the
//! derived code does to find out which kind one is takes longer than all else.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{Check, Conditions, Group, Path, Test};

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OneOrSeveral)
    }
}

/// A group, or an array of them.
struct OneOrSeveral;

impl<'de> Visitor<'de> for OneOrSeveral {
    type Value = Conditions;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("conditions: an object, or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Conditions, A::Error> {
        Group::deserialize(MapAccessDeserializer::new(map)).map(|group| Conditions(vec![group]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, groups: A) -> Result<Conditions, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(groups)).map(Conditions)
    }
}

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Tests;

        impl<'de> Visitor<'de> for Tests {
            type Value = Vec<(Path, Test)>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object of paths and tests")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut tests = Vec::new();
                while let Some(test) = map.next_entry()? {
                    tests.push(test);
                }
                Ok(tests)
            }
        }

        let mut tests = from.deserialize_map(Tests)?;
        // Paths that begin alike stand together. A pattern is compiled when it is first asked:
        // where another test fails, it never is.
        tests.sort_by(|a, b| (a.1.has_pattern(), &a.0).cmp(&(b.1.has_pattern(), &b.0)));
        Ok(Self(tests))
    }
}

impl<'de> Deserialize<'de> for Test {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(CheckOrValues)
    }
}

/// An object that checks, an array of scalars, or a scalar.
struct CheckOrValues;

impl<'de> Visitor<'de> for CheckOrValues {
    type Value = Test;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a scalar, an array of scalars, or a check")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Test, A::Error> {
        let check = Check::deserialize(MapAccessDeserializer::new(map))?;
        Ok(match check {
            Check { exists: Some(exists), not: None, matches: None, empty: None } => {
                Test::Exists(exists)
            }
            _ => Test::Check(Box::new(check)),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, scalars: A) -> Result<Test, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(scalars)).map(Test::In)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Test, E> {
        Ok(Test::Equals(text.into()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Test, E> {
        Ok(Test::Equals(value.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Test, E> {
        Ok(Test::Equals(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Test, E> {
        Ok(Test::Equals(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Test, E> {
        Ok(Test::Equals(number.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Test, E> {
        Ok(Test::Equals(Value::Null))
    }
}
