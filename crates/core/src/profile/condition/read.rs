//! Reads conditions as they come, without a tree between: a profile has hundreds of them, which are
//! read at every start.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use smallvec::smallvec;

use super::{AllOf, Conditions, Path, Test};

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
        Ok(match Value::deserialize(from)? {
            Value::Array(values) => Self::In(values),
            Value::Object(mut tests) if tests.contains_key("same") && tests.len() == 1 => {
                let path = tests.remove("same").unwrap_or_default();
                Self::Same(serde_json::from_value(path).map_err(Error::custom)?)
            }
            tests @ Value::Object(_) => {
                Self::All(serde_json::from_value(tests).map_err(Error::custom)?)
            }
            scalar => Self::Equals(scalar),
        })
    }
}

impl<'de> Deserialize<'de> for Conditions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ConditionsVisitor)
    }
}

struct ConditionsVisitor;

impl<'de> Visitor<'de> for ConditionsVisitor {
    type Value = Conditions;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object of conditions, or an array of such objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, groups: A) -> Result<Conditions, A::Error> {
        let groups = Vec::<AllOf>::deserialize(SeqAccessDeserializer::new(groups))?;
        Ok(Conditions(groups.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, group: A) -> Result<Conditions, A::Error> {
        AllOfVisitor.visit_map(group).map(|group| Conditions(smallvec![group]))
    }
}
