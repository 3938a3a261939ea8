//! The conditions of a profile on the values of an event.

mod read;

use serde::Deserialize;
use serde_json::Value;
use smallvec::{SmallVec, smallvec};

use super::path::{Finder, Path, Scope};
use crate::json::JsonRef;
use crate::profile::pattern::LazyRegex;

/// A disjunction of conjunctions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conditions(SmallVec<[AllOf; 1]>);

/// A conjunction; an empty one always holds.
#[derive(Debug, Clone, Default, PartialEq)]
struct AllOf(Vec<(Path, Test)>);

impl Default for Conditions {
    /// Conditions that always hold.
    fn default() -> Self {
        Self(smallvec![AllOf::default()])
    }
}

impl Conditions {
    pub(crate) fn hold<'e>(&self, scope: impl Into<Scope<'e>>) -> bool {
        let scope = scope.into();
        let holds = |(path, test): &(Path, Test)| test.holds(path.find(scope), scope);
        self.0.iter().any(|group| group.0.iter().all(holds))
    }

    /// The same, with a finder that is used for other values too.
    pub(crate) fn hold_by<'p>(&'p self, finder: &mut Finder<'p, '_>) -> bool {
        let scope = finder.scope();
        let mut holds = |group: &'p AllOf| {
            group.0.iter().all(|(path, test)| test.holds(finder.find(path), scope))
        };
        self.0.iter().any(&mut holds)
    }

    /// The remaining conditions if some values are already known; `None` if those fail.
    pub(crate) fn specialize(&self, known: impl Fn(&Path) -> KnownValue) -> Option<Self> {
        let left = self.0.iter().filter_map(|group| group.specialize(&known));
        let left: SmallVec<[AllOf; 1]> = left.collect();
        if left.iter().any(|group| group.0.is_empty()) {
            return Some(Self::default());
        }
        (!left.is_empty()).then_some(Self(left))
    }
}

impl AllOf {
    fn specialize(&self, known: &impl Fn(&Path) -> KnownValue) -> Option<Self> {
        let mut left = Vec::new();
        for (path, test) in &self.0 {
            let known = if test.is_comparison() { KnownValue::Unknown } else { known(path) };
            let value = match known {
                KnownValue::Unknown => {
                    left.push((path.clone(), test.clone()));
                    continue;
                }
                KnownValue::Absent => None,
                KnownValue::Text(text) => Some(Value::String(text)),
            };
            let value = value.as_ref().map(JsonRef::tree);
            if !test.holds(value, value.unwrap_or(JsonRef::tree(&Value::Null))) {
                return None;
            }
        }
        Some(Self(left))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KnownValue {
    Unknown,
    Absent,
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// `["a", "b"]`: equal to one of them.
    In(Vec<Value>),
    /// `{"exists": true}`, or several such tests, which all must hold.
    All(Box<ValueTest>),
    /// `"a"`: equal to it.
    Equals(Value),
    /// `{"same": "/a"}`: the same text as there.
    Same(Path),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueTest {
    exists: Option<bool>,
    /// A value, or an array of several.
    not: Option<Value>,
    starts_with: Option<String>,
    matches: Option<LazyRegex>,
    /// The value is absent, or has no content.
    empty: Option<bool>,
}

impl Test {
    fn has_pattern(&self) -> bool {
        matches!(self, Self::All(test) if test.matches.is_some())
    }

    /// Whether it looks at two values of the event.
    fn is_comparison(&self) -> bool {
        matches!(self, Self::Same(_))
    }

    fn holds<'e>(&self, found: Option<JsonRef<'e>>, scope: impl Into<Scope<'e>>) -> bool {
        let equals = |scalar: &Value| found.is_some_and(|node| node.equals(scalar));
        match self {
            Self::Same(path) => {
                let text = found.and_then(JsonRef::as_str);
                text.is_some() && text == path.find(scope).and_then(JsonRef::as_str)
            }
            Self::Equals(scalar) => equals(scalar),
            Self::In(scalars) => scalars.iter().any(equals),
            Self::All(test) => test.holds(found),
        }
    }
}

impl ValueTest {
    fn holds(&self, found: Option<JsonRef<'_>>) -> bool {
        let equals = |scalar: &Value| found.is_some_and(|node| node.equals(scalar));
        let matches = |pattern: &LazyRegex| {
            found.and_then(JsonRef::as_str).is_some_and(|text| pattern.is_in(&text))
        };
        self.exists.is_none_or(|exists| exists == found.is_some())
            && match &self.not {
                None => true,
                Some(Value::Array(scalars)) => !scalars.iter().any(equals),
                Some(scalar) => !equals(scalar),
            }
            && self
                .starts_with
                .as_ref()
                .is_none_or(|text| found.is_some_and(|it| it.starts_with(text)))
            && self.matches.as_ref().is_none_or(matches)
            && self.empty.is_none_or(|empty| empty == found.is_none_or(JsonRef::is_empty))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Goal: `same` compares two texts of an event. Method: the same text, another one, none, and a
    /// number; also when the first value is known beforehand.
    #[test]
    fn the_same_text_in_two_places() {
        let conditions: Conditions =
            serde_json::from_value(json!({ "/turn/root": { "same": "/turn/id" } }))
                .expect("a condition");
        let left =
            conditions.specialize(|_| KnownValue::Text("t1".to_owned())).expect("it may hold");
        for (turn, expected) in [
            (json!({ "id": "t1", "root": "t1" }), true),
            (json!({ "id": "t1", "root": "t2" }), false),
            (json!({ "id": "t1" }), false),
            (json!({}), false),
            (json!({ "id": 1, "root": 1 }), false),
        ] {
            let event = json!({ "turn": turn });
            let event = JsonRef::tree(&event);
            assert_eq!(conditions.hold(event), expected, "{turn}");
            assert_eq!(left.hold(event), expected, "{turn}");
            assert_eq!(conditions.hold_by(&mut Finder::new(event)), expected, "{turn}");
        }
        let also = json!({ "/a": { "same": "/b", "exists": true } });
        assert!(serde_json::from_value::<Conditions>(also).is_err());
    }
}
