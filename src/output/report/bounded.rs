//! A map of bounded size, whose content does not depend on the order of additions.

use std::collections::BTreeMap;

/// Values by their names: the first names in their order, up to a bound, and all others together.
#[derive(Debug)]
pub(super) struct Bounded<K, V> {
    max: usize,
    pub(super) named: BTreeMap<K, V>,
    pub(super) others: Option<V>,
}

impl<K: Ord, V: Default> Bounded<K, V> {
    pub(super) fn new(max: usize) -> Self {
        Self { max, named: BTreeMap::new(), others: None }
    }

    /// Adds to the value of a name. A name that left never comes back: only names before it stay.
    pub(super) fn add(&mut self, name: K, add: impl Fn(&mut V), join: impl Fn(&mut V, &V)) {
        if let Some(value) = self.named.get_mut(&name) {
            return add(value);
        }
        if self.named.len() < self.max && self.others.is_none() {
            return add(self.named.entry(name).or_default());
        }
        let others = self.others.get_or_insert_default();
        match self.named.last_entry() {
            Some(last) if *last.key() > name => {
                join(others, &last.remove());
                add(self.named.entry(name).or_default());
            }
            _ => add(others),
        }
    }
}
