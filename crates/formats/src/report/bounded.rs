//! Maps and lists of bounded size. The content of a map does not depend on the order of additions.

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

/// As many items as there may be, in their order: the bad ones, then the first good ones.
pub(super) fn worst<T>(items: Vec<T>, max: usize, is_bad: impl Fn(&T) -> bool) -> Vec<T> {
    let bad = items.iter().filter(|item| is_bad(item)).count();
    let (mut bad, mut good) = (bad.min(max), max.saturating_sub(bad));
    let mut is_kept = |item: &T| {
        let left = if is_bad(item) { &mut bad } else { &mut good };
        let has_room = *left > 0;
        *left = left.saturating_sub(1);
        has_room
    };
    items.into_iter().filter(|item| is_kept(item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_items_keep_their_order_and_come_before_good_ones() {
        let items: Vec<u32> = (0..1_200).collect();
        let kept = worst(items, 1_000, |it| it % 2 == 1);
        assert_eq!((kept.len(), kept[799], kept[800], kept[999]), (1_000, 799, 801, 1_199));
        assert_eq!(worst(vec![1, 3, 5], 2, |_| true), [1, 3]);
    }
}
