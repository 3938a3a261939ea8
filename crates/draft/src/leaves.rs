//! The scalar values of an event, and what is counted at each path.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use ndjson_check_core::internals::{JsonRef, pointer};

use super::depth;
use crate::limits::{DRAFT_PATH_BYTES_MAX, DRAFT_PATHS_MAX, DRAFT_VALUES_MAX};

/// Scalars of one event that a draft counts. Its schema describes the others, too.
const DRAFT_LEAVES_MAX: usize = 2_000;

/// Deepest value that is read, in tokens of its pointer.
const DEPTH: usize = 6;

/// Longest name that programs compare, such as `tool_use` or `session/update`, in bytes.
const NAME_BYTES_MAX: usize = 48;

/// A scalar of an event, and where it is.
pub(super) struct Leaf<'e> {
    /// The array whose element contains it, if any.
    pub(super) each: Option<Rc<str>>,
    /// The kind of that element, if it names one.
    pub(super) kind: Option<Rc<str>>,
    /// Its path, from the element or the event.
    pub(super) path: String,
    pub(super) node: JsonRef<'e>,
}

/// The scalars of an event; elements of arrays name their kind under the key `kind`.
pub(super) fn leaves<'e>(root: JsonRef<'e>, kind: Option<&str>) -> Vec<Leaf<'e>> {
    let mut walk = LeafWalk { kind, each: None, element: None, found: Vec::new() };
    walk.value(root, "", 0);
    walk.found
}

struct LeafWalk<'k, 'e> {
    kind: Option<&'k str>,
    each: Option<Rc<str>>,
    element: Option<Rc<str>>,
    found: Vec<Leaf<'e>>,
}

impl<'e> LeafWalk<'_, 'e> {
    fn value(&mut self, node: JsonRef<'e>, path: &str, depth: usize) {
        let is_full = self.found.len() >= DRAFT_LEAVES_MAX;
        if depth > DEPTH || is_full || path.len() > DRAFT_PATH_BYTES_MAX || node.is_null() {
            return;
        }
        if node.is_string() || node.is_number() || node.as_bool().is_some() {
            let (each, kind) = (self.each.clone(), self.element.clone());
            self.found.push(Leaf { each, kind, path: path.to_owned(), node });
        } else if node.is_array() {
            if self.each.is_none() {
                self.each = Some(path.into());
                for item in node.items() {
                    let kind = self.kind.and_then(|key| item.get(key)?.as_str());
                    self.element = kind.filter(|kind| is_name(kind)).map(|kind| (*kind).into());
                    for (key, value) in item.members() {
                        self.value(value, &pointer::joined("", &key), depth + 1);
                    }
                }
                (self.each, self.element) = (None, None);
            }
        } else {
            for (key, value) in node.members() {
                self.value(value, &pointer::joined(path, &key), depth + 1);
            }
        }
    }
}

/// Whether programs may compare the text: one short word.
pub(super) fn is_name(text: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphabetic() || "_-./:$".contains(character);
    (1..=NAME_BYTES_MAX).contains(&text.len())
        && text.chars().all(fits)
        && text.contains(|character: char| character.is_ascii_alphabetic())
}

/// Whether a profile can point there: in its paths, a star or a caret at the start of a token is
/// not part of a key.
pub(super) fn is_path(path: &str) -> bool {
    !path.contains("/*") && !path.contains('^')
}

/// The different values at one place, as long as all are names and they are few.
#[derive(Debug, Default)]
pub(super) struct FewValues {
    values: BTreeSet<String>,
    has_others: bool,
}

impl FewValues {
    pub(super) fn add(&mut self, text: &str) {
        if !is_name(text) {
            self.has_others = true;
        } else if !self.has_others && !self.values.contains(text) {
            self.has_others = self.values.len() == DRAFT_VALUES_MAX;
            self.values.insert(text.to_owned());
        }
    }

    pub(super) fn get(&self) -> Option<&BTreeSet<String>> {
        (!self.has_others).then_some(&self.values)
    }
}

/// Where a value is in the events of one tag.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LeafPath {
    pub(super) tag: Rc<str>,
    pub(super) each: Option<Rc<str>>,
    pub(super) kind: Option<Rc<str>>,
    pub(super) path: String,
}

impl LeafPath {
    /// Whether both are in the same object: the event, or the element of an array.
    pub(super) fn is_in_same_object(&self, other: &Self) -> bool {
        (&self.tag, &self.each, &self.kind) == (&other.tag, &other.each, &other.kind)
    }

    pub(super) fn depth(&self) -> usize {
        depth(&self.path)
    }
}

#[derive(Debug, Default)]
pub(super) struct LeafCounts {
    pub(super) scalars: u64,
    pub(super) strings: u64,
    pub(super) booleans: u64,
    pub(super) values: FewValues,
}

/// All paths, by number.
#[derive(Debug, Default)]
pub(super) struct LeafTable {
    numbers: HashMap<Rc<LeafPath>, usize>,
    rows: Vec<(Rc<LeafPath>, LeafCounts)>,
}

impl LeafTable {
    /// Counts a scalar; the number of its path, unless there are too many.
    pub(super) fn count(&mut self, tag: &Rc<str>, leaf: &Leaf<'_>) -> Option<usize> {
        let Leaf { each, kind, path, node } = leaf;
        let (tag, each, kind, path) = (tag.clone(), each.clone(), kind.clone(), path.clone());
        let path = LeafPath { tag, each, kind, path };
        let number = match self.numbers.get(&path) {
            Some(number) => *number,
            None if self.rows.len() >= DRAFT_PATHS_MAX || !is_path(&path.path) => return None,
            None => {
                let path = Rc::new(path);
                self.numbers.insert(path.clone(), self.rows.len());
                self.rows.push((path, LeafCounts::default()));
                self.rows.len() - 1
            }
        };
        let counts = &mut self.rows[number].1;
        counts.scalars += 1;
        counts.booleans += u64::from(node.as_bool().is_some());
        if let Some(text) = node.as_str() {
            counts.strings += 1;
            counts.values.add(&text);
        }
        Some(number)
    }

    pub(super) fn path(&self, number: usize) -> &LeafPath {
        &self.rows[number].0
    }

    pub(super) fn counts(&self, number: usize) -> &LeafCounts {
        &self.rows[number].1
    }

    /// All paths, in the order in which they appeared.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&LeafPath, &LeafCounts)> {
        self.rows.iter().map(|(path, counts)| (&**path, counts))
    }

    /// How many tags have a scalar at this path of the event.
    pub(super) fn tags_with(&self, path: &str) -> usize {
        self.iter().filter(|(leaf, _)| leaf.each.is_none() && leaf.path == path).count()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::DRAFT_LEAVES_MAX;
    use super::{FewValues, LeafTable, is_name, is_path, leaves};
    use crate::limits::{DRAFT_PATH_BYTES_MAX, DRAFT_VALUES_MAX};
    use ndjson_check_core::internals::JsonRef;

    fn paths(event: &Value, kind: Option<&str>) -> Vec<String> {
        let text =
            |part: Option<std::rc::Rc<str>>| part.map_or(String::new(), |part| part.to_string());
        let found = leaves(JsonRef::tree(event), kind).into_iter();
        found.map(|leaf| format!("{}[{}]{}", text(leaf.each), text(leaf.kind), leaf.path)).collect()
    }

    #[test]
    fn leaves_are_scalars_of_the_event_and_of_elements_of_one_array() {
        let event = json!({"a": {"b~/c": 1, "no": null}, "l": [{"k": "x", "t": [[1]]}, "s"]});
        assert_eq!(paths(&event, Some("k")), ["[]/a/b~0~1c", "/l[x]/k"]);
        assert_eq!(paths(&event, None), ["[]/a/b~0~1c", "/l[]/k"]);
    }

    #[test]
    fn an_event_yields_a_bounded_number_of_leaves_with_bounded_paths() {
        let wide: Value = (0..DRAFT_LEAVES_MAX + 5).map(|n| (n.to_string(), json!(1))).collect();
        assert_eq!(paths(&wide, None).len(), DRAFT_LEAVES_MAX);
        assert_eq!(paths(&json!({ "k".repeat(DRAFT_PATH_BYTES_MAX): {"a": 1} }), None).len(), 0);
    }

    #[test]
    fn names_and_paths() {
        let names = ["tool_use", "session/update", "a.b:c$"];
        assert!(names.into_iter().all(is_name));
        assert!(!["", "two words", "c-7", "../", &"x".repeat(49)].into_iter().any(is_name));
        assert!(is_path("/a*/b") && !is_path("/*a") && !is_path("/^a"));
    }

    #[test]
    fn few_values_are_names_and_not_too_many() {
        let mut values = FewValues::default();
        let name = |number: usize| "x".repeat(number % 8 + 1) + &"y".repeat(number / 8);
        (0..DRAFT_VALUES_MAX).for_each(|number| values.add(&name(number)));
        assert_eq!(values.get().map(std::collections::BTreeSet::len), Some(DRAFT_VALUES_MAX));
        values.add(&name(0));
        assert!(values.get().is_some());
        values.add(&name(DRAFT_VALUES_MAX));
        assert!(values.get().is_none());
    }

    #[test]
    fn scalars_are_counted_by_tag_and_path() {
        let event = json!({"a": "x", "f": true});
        let mut table = LeafTable::default();
        for tag in ["t", "u", "t"] {
            for leaf in leaves(JsonRef::tree(&event), None) {
                table.count(&tag.into(), &leaf);
            }
        }
        let counts = table.counts(0);
        assert_eq!((counts.scalars, counts.strings, counts.booleans), (2, 2, 0));
        assert_eq!((table.tags_with("/a"), table.tags_with("/b")), (2, 0));
    }
}
