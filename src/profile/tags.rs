//! Rules about whole events, and about objects in them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::json::JsonRef;
use crate::profile::path::{Conditions, Path, Scope};

/// What kind of event an event is: its tag, and the tags a profile knows. The parts of a tag are
/// joined by `/`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tags {
    /// Where the parts of an event's tag are.
    pub at: Vec<Path>,
    /// Promised by the producer's documentation.
    #[serde(default)]
    pub documented: Vec<String>,
    /// Seen in real streams only.
    #[serde(default)]
    pub observed: Vec<String>,
    /// The definition in the event schema that an event with this tag must satisfy.
    #[serde(default)]
    pub schemas: BTreeMap<String, String>,
}

/// The single object of a producer's non-streaming format: a terminal event on its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SingleObject {
    /// The part of the event schema that it must satisfy, such as `#/$defs/result`.
    pub schema: String,
    /// Its members in the order in which the producer writes them.
    #[serde(default)]
    pub order: Vec<String>,
}

/// A rule that matches events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventRule {
    /// These hold.
    pub when: Conditions,
}

/// The objects in an event that a rule is about: the event itself, or elements of an array.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Objects {
    /// The array.
    each: Option<Path>,
    /// Which elements: these hold for the element.
    #[serde(rename = "where", default)]
    element: Conditions,
}

impl Objects {
    /// Whether the array is there, where there must be one.
    pub(crate) fn is_there(&self, root: JsonRef<'_>) -> bool {
        self.each.as_ref().is_none_or(|path| path.find(root).is_some_and(JsonRef::is_array))
    }

    /// Whether they are elements of an array.
    pub(crate) fn are_elements(&self) -> bool {
        self.each.is_some()
    }

    /// Whether there is an array with elements, of which some may be others.
    pub(crate) fn is_among_others(&self, root: JsonRef<'_>) -> bool {
        let array = self.each.as_ref().and_then(|path| path.find(root));
        array.is_some_and(|it| it.items().next().is_some())
    }

    /// The objects.
    pub(crate) fn objects<'e>(&self, root: JsonRef<'e>) -> impl Iterator<Item = Scope<'e>> {
        let itself = self.each.is_none().then_some(root);
        let elements = self.each.iter().filter_map(move |path| path.find(root));
        let objects = itself.into_iter().chain(elements.flat_map(JsonRef::items));
        let scopes = objects.map(move |object| Scope { event: root, object });
        scopes.filter(|scope| self.element.hold(*scope))
    }
}
