//! What a profile asks of the values of an event.

mod written;

use serde::Deserialize;
use serde_json::Value;

use super::path::{Finder, Path, Scope};
use crate::json::JsonRef;
use crate::profile::pattern::Pattern;

/// Conditions on values of an event: one of these groups holds, and all that is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions(Vec<Group>);

/// A conjunction; an empty one always holds.
#[derive(Debug, Clone, Default, PartialEq)]
struct Group(Vec<(Path, Test)>);

impl Default for Conditions {
    /// Those that always hold.
    fn default() -> Self {
        Self(vec![Group::default()])
    }
}

impl Conditions {
    /// Whether they hold.
    pub fn hold<'e>(&self, scope: impl Into<Scope<'e>>) -> bool {
        let scope = scope.into();
        self.0.iter().any(|group| group.0.iter().all(|(path, test)| test.holds(path.find(scope))))
    }

    /// The same, on the way to other values.
    pub fn hold_by<'p>(&'p self, finder: &mut Finder<'p, '_>) -> bool {
        let mut holds =
            |group: &'p Group| group.0.iter().all(|(path, test)| test.holds(finder.find(path)));
        self.0.iter().any(&mut holds)
    }

    /// What is left to ask where some values are known beforehand; `None` where they fail.
    pub fn given(&self, known: impl Fn(&Path) -> Known) -> Option<Self> {
        let left: Vec<Group> = self.0.iter().filter_map(|group| group.given(&known)).collect();
        if left.iter().any(|group| group.0.is_empty()) {
            return Some(Self::default());
        }
        (!left.is_empty()).then_some(Self(left))
    }
}

impl Group {
    fn given(&self, known: &impl Fn(&Path) -> Known) -> Option<Self> {
        let mut left = Vec::new();
        for (path, test) in &self.0 {
            let value = match known(path) {
                Known::Unknown => {
                    left.push((path.clone(), test.clone()));
                    continue;
                }
                Known::Absent => None,
                Known::Text(text) => Some(Value::String(text)),
            };
            if !test.holds(value.as_ref().map(JsonRef::tree)) {
                return None;
            }
        }
        Some(Self(left))
    }
}

/// What is known of a value before it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Unknown,
    /// It is not there.
    Absent,
    /// It is this string.
    Text(String),
}

/// What is asked of one value.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// `{"exists": true}`, which most are.
    Exists(bool),
    /// `{"not": 0}`, or several of its like, which all must hold.
    Check(Box<Check>),
    /// `["a", "b"]`: equal to one of them.
    In(Vec<Value>),
    /// `"a"`: equal to it.
    Equals(Value),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    /// It is there.
    exists: Option<bool>,
    /// It is none of these.
    not: Option<OneOrMany>,
    /// It is a string in which this finds something.
    matches: Option<Pattern>,
    /// It is not there, or there is nothing in it.
    empty: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    Many(Vec<Value>),
    One(Value),
}

impl Test {
    fn has_pattern(&self) -> bool {
        matches!(self, Self::Check(check) if check.matches.is_some())
    }

    fn holds(&self, found: Option<JsonRef<'_>>) -> bool {
        let equals = |scalar: &Value| found.is_some_and(|node| node.equals(scalar));
        match self {
            Self::Equals(scalar) => equals(scalar),
            Self::In(scalars) => scalars.iter().any(equals),
            Self::Exists(exists) => *exists == found.is_some(),
            Self::Check(check) => check.holds(found),
        }
    }
}

impl Check {
    fn holds(&self, found: Option<JsonRef<'_>>) -> bool {
        let equals = |scalar: &Value| found.is_some_and(|node| node.equals(scalar));
        let matches = |pattern: &Pattern| {
            found.and_then(JsonRef::as_str).is_some_and(|text| pattern.is_in(&text))
        };
        self.exists.is_none_or(|exists| exists == found.is_some())
            && match &self.not {
                None => true,
                Some(OneOrMany::One(scalar)) => !equals(scalar),
                Some(OneOrMany::Many(scalars)) => !scalars.iter().any(equals),
            }
            && self.matches.as_ref().is_none_or(matches)
            && self.empty.is_none_or(|empty| empty == found.is_none_or(JsonRef::is_empty))
    }
}
