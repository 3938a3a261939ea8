//! What stands where in events: the scalars of an event, and what is counted of each place.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::json::JsonRef;
use crate::limits::{INFER_LEAVES_MAX, INFER_PLACES_MAX, INFER_VALUES_MAX};
use crate::json::pointer;

/// Deepest value that is looked at, in tokens of its pointer.
const DEPTH: usize = 6;

/// Longest word, in bytes: a name that programs compare, such as `tool_use` or `session/update`.
const WORD: usize = 48;

/// A scalar of an event, and where it stands.
pub(super) struct Leaf<'e> {
    /// The array of whose element it is a part, if it is.
    pub(super) each: Option<Rc<str>>,
    /// What kind of element that is, if it says so.
    pub(super) kind: Option<Rc<str>>,
    /// Its path, from the element or the event.
    pub(super) path: String,
    pub(super) node: JsonRef<'e>,
}

/// The scalars of an event; `kind` is the key by which elements of arrays tell what they are.
pub(super) fn leaves<'e>(root: JsonRef<'e>, kind: Option<&str>) -> Vec<Leaf<'e>> {
    let mut walk = Walk { kind, each: None, element: None, found: Vec::new() };
    walk.value(root, "", 0);
    walk.found
}

struct Walk<'k, 'e> {
    kind: Option<&'k str>,
    each: Option<Rc<str>>,
    element: Option<Rc<str>>,
    found: Vec<Leaf<'e>>,
}

impl<'e> Walk<'_, 'e> {
    fn value(&mut self, node: JsonRef<'e>, path: &str, depth: usize) {
        if depth > DEPTH || self.found.len() >= INFER_LEAVES_MAX || node.is_null() {
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
                    self.element = kind.filter(|it| is_word(it)).map(|it| (*it).into());
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

/// Whether it is a word as programs compare them.
pub(super) fn is_word(text: &str) -> bool {
    let fits = |it: char| it.is_ascii_alphabetic() || "_-./:$".contains(it);
    (1..=WORD).contains(&text.len())
        && text.chars().all(fits)
        && text.contains(|it: char| it.is_ascii_alphabetic())
}

/// Whether a profile can point there: a star or a caret at the start of a token is no key there.
pub(super) fn is_path(path: &str) -> bool {
    !path.contains("/*") && !path.contains('^')
}

/// The values of something, as long as they are few words.
#[derive(Debug, Default)]
pub(super) struct Words {
    values: BTreeSet<String>,
    other: bool,
}

impl Words {
    pub(super) fn add(&mut self, text: &str) {
        if !is_word(text) {
            self.other = true;
        } else if !self.other && !self.values.contains(text) {
            self.other = self.values.len() == INFER_VALUES_MAX;
            self.values.insert(text.to_owned());
        }
    }

    /// The values, if they are few words.
    pub(super) fn few(&self) -> Option<&BTreeSet<String>> {
        (!self.other).then_some(&self.values)
    }
}

/// Where a value stands in the events of one tag.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) tag: Rc<str>,
    pub(super) each: Option<Rc<str>>,
    pub(super) kind: Option<Rc<str>>,
    pub(super) path: String,
}

impl Place {
    /// Whether both are parts of the same object, the event or the element of an array.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        (&self.tag, &self.each, &self.kind) == (&other.tag, &other.each, &other.kind)
    }

    /// The tokens of its path.
    pub(super) fn depth(&self) -> usize {
        self.path.matches('/').count()
    }
}

/// What was counted of a place.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Scalars there.
    pub(super) count: u64,
    /// The strings among them.
    pub(super) strings: u64,
    pub(super) words: Words,
    pub(super) booleans: u64,
}

/// All places, by number.
#[derive(Debug, Default)]
pub(super) struct Places {
    numbers: HashMap<Place, usize>,
    seen: Vec<(Place, Seen)>,
}

impl Places {
    /// Counts a scalar; the number of its place, unless there are too many.
    pub(super) fn count(&mut self, tag: &Rc<str>, leaf: &Leaf<'_>) -> Option<usize> {
        let Leaf { each, kind, path, node } = leaf;
        let place =
            Place { tag: tag.clone(), each: each.clone(), kind: kind.clone(), path: path.clone() };
        let number = match self.numbers.get(&place) {
            Some(number) => *number,
            None if self.seen.len() >= INFER_PLACES_MAX || !is_path(path) => return None,
            None => {
                self.numbers.insert(place.clone(), self.seen.len());
                self.seen.push((place, Seen::default()));
                self.seen.len() - 1
            }
        };
        let seen = &mut self.seen[number].1;
        seen.count += 1;
        seen.booleans += u64::from(node.as_bool().is_some());
        if let Some(text) = node.as_str() {
            seen.strings += 1;
            seen.words.add(&text);
        }
        Some(number)
    }

    pub(super) fn place(&self, number: usize) -> &Place {
        &self.seen[number].0
    }

    /// A place, and what was counted of it.
    pub(super) fn of(&self, number: usize) -> &(Place, Seen) {
        &self.seen[number]
    }

    /// All of them, in the order in which they appeared.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(Place, Seen)> {
        self.seen.iter()
    }

    /// In how many of the tags something stands at this path of the event.
    pub(super) fn tags_with(&self, path: &str) -> usize {
        self.seen.iter().filter(|(it, _)| it.each.is_none() && it.path == path).count()
    }
}
