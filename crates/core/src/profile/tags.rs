//! Rules about whole events, and about objects in them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::json::JsonRef;
use crate::profile::path::{Conditions, Path, Scope};

/// A tag is the kind of an event; its parts, at the paths `at`, are joined by `/`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tags {
    pub at: Vec<Path>,
    /// In the documentation of the producer.
    pub documented: Vec<String>,
    /// Only in real streams.
    pub observed: Vec<String>,
    /// Of events that only inform, known or not.
    pub notices: Vec<String>,
    /// By tag, the definition in the event schema that its events must satisfy.
    pub schemas: BTreeMap<String, String>,
    /// By tag, or `*` for all tags, pointers to members of its events that are known besides those
    /// which the schema describes; `*` is the index of an element.
    pub members: BTreeMap<String, BTreeSet<String>>,
}

impl Tags {
    /// Whether a member of the events of a tag is known, although no schema describes it.
    pub(crate) fn knows_member(&self, tag: &str, pointer: &str) -> bool {
        let is_in = |tag: &str| self.members.get(tag).is_some_and(|it| it.contains(pointer));
        is_in(tag) || is_in("*") || self.at.iter().any(|path| path.to_string() == pointer)
    }
}

/// The single object of a producer's non-streaming format: a terminal event on its own.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SingleObjectRules {
    /// The part of the event schema that it must satisfy, such as `#/$defs/result`.
    pub schema: String,
    /// Its members, in the order of the producer.
    pub order: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventRule {
    pub when: Conditions,
}

/// An event that may follow the terminal event.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AfterRule {
    pub when: Conditions,
    /// Whether it answers a message that begins no turn.
    #[serde(default)]
    pub is_reply: bool,
}

/// The objects in an event that a rule is about: the event itself, elements of an array, or values
/// of an object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Objects {
    each: Option<Path>,
    #[serde(rename = "where")]
    element: Conditions,
}

impl Objects {
    /// False if there must be an array, and is none.
    pub(crate) fn is_there(&self, root: JsonRef<'_>) -> bool {
        self.each.as_ref().is_none_or(|path| path.find(root).is_some_and(JsonRef::is_array))
    }

    pub(crate) fn are_elements(&self) -> bool {
        self.each.is_some()
    }

    /// Whether there is an array with elements, which may include others.
    pub(crate) fn is_among_others(&self, root: JsonRef<'_>) -> bool {
        let array = self.each.as_ref().and_then(|path| path.find(root));
        array.is_some_and(|it| it.items().next().is_some())
    }

    /// The objects; the path of the array begins at `within`, an event or an object in one.
    pub(crate) fn objects<'e>(
        &self,
        within: impl Into<Scope<'e>>,
    ) -> impl Iterator<Item = Scope<'e>> {
        let within = within.into();
        let itself = self.each.is_none().then_some(within.object);
        let elements = self.each.iter().filter_map(move |path| path.find(within));
        let values = |of: JsonRef<'e>| of.items().chain(of.members().map(|(_, value)| value));
        let objects = itself.into_iter().chain(elements.flat_map(values));
        let scopes = objects.map(move |object| Scope { object, ..within });
        scopes.filter(|scope| self.element.hold(*scope))
    }
}
