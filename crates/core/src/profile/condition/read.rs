//! Reads conditions as they come, without a tree between: a profile has hundreds of them, which are
//! read at every start.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{AllOf, OneOrMany, Path, Test};

impl<'de> Deserialize<'de> for AllOf {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(AllOfVisitor)
    }
}

struct AllOfVisitor;

impl<'de> Visitor<'de> for AllOfVisitor {
    type Value = AllOf;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object of conditions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<AllOf, A::Error> {
        let mut tests: Vec<(Path, Test)> = Vec::new();
        while let Some(test) = members.next_entry()? {
            tests.push(test);
        }
        // A pattern is compiled when it is first needed: where another test fails, it never is.
        tests.sort_unstable_by(|(path, test), (other, other_test)| {
            (test.has_pattern(), path).cmp(&(other_test.has_pattern(), other))
        });
        Ok(AllOf(tests))
    }
}

impl<'de> Deserialize<'de> for Test {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TestVisitor)
    }
}

struct TestVisitor;

impl<'de> Visitor<'de> for TestVisitor {
    type Value = Test;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value, an array of values, or an object of tests")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Test, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(values)).map(Test::In)
    }

    fn visit_map<A: MapAccess<'de>>(self, tests: A) -> Result<Test, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(tests)).map(Test::All)
    }

    fn visit_unit<E: Error>(self) -> Result<Test, E> {
        Ok(Test::Equals(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Test, E> {
        Ok(Test::Equals(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Test, E> {
        Ok(Test::Equals(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Test, E> {
        Ok(Test::Equals(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Test, E> {
        Ok(Test::Equals(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Test, E> {
        Ok(Test::Equals(value.into()))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("one, or an array of several")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<OneOrMany<T>, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(values)).map(OneOrMany::Many)
    }

    fn visit_map<A: MapAccess<'de>>(self, value: A) -> Result<OneOrMany<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(value)).map(OneOrMany::One)
    }

    fn visit_unit<E: Error>(self) -> Result<OneOrMany<T>, E> {
        T::deserialize(().into_deserializer()).map(OneOrMany::One)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<OneOrMany<T>, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<OneOrMany<T>, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<OneOrMany<T>, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<OneOrMany<T>, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<OneOrMany<T>, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }
}
