//! `Recent`: a map that knows which of its keys was touched longest ago.

use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::hash::Hash;

/// A map in the order of touching. It has no bound of its own: the caller removes the oldest.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    values: HashMap<K, (u64, V)>,
    order: BTreeMap<u64, K>,
    touches: u64,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            values: HashMap::new(),
            order: BTreeMap::new(),
            touches: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns a value, whose key is the newest from now on.
    pub(crate) fn touch(&mut self, key: &K) -> Option<&mut V> {
        let (place, value) = self.values.get_mut(key)?;
        let key = self.order.remove(place)?;
        self.touches += 1;
        *place = self.touches;
        self.order.insert(self.touches, key);
        Some(value)
    }

    /// Adds a key that is not there.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.touches += 1;
        self.order.insert(self.touches, key.clone());
        if let Some((place, _)) = self.values.insert(key, (self.touches, value)) {
            self.order.remove(&place);
        }
    }

    pub(crate) fn oldest(&self) -> Option<&V> {
        let (_, key) = self.order.first_key_value()?;
        self.values.get(key).map(|(_, value)| value)
    }

    pub(crate) fn remove_oldest(&mut self) -> Option<V> {
        let (_, key) = self.order.pop_first()?;
        self.values.remove(&key).map(|(_, value)| value)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.order
            .values()
            .filter_map(|key| self.values.get(key).map(|(_, value)| value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_the_one_that_was_touched_longest_ago() {
        let mut recent = Recent::new();
        for key in ["a", "b", "c"] {
            recent.insert(key, key.to_uppercase());
        }
        recent.touch(&"a").expect("it is there").push('!');
        assert_eq!(recent.oldest().map(String::as_str), Some("B"));
        recent.insert("b", "b again".to_owned());
        let values: Vec<&str> = recent.values().map(String::as_str).collect();
        assert_eq!(values, ["C", "A!", "b again"]);
        assert_eq!(recent.remove_oldest().as_deref(), Some("C"));
        assert_eq!((recent.len(), recent.touch(&"c")), (2, None));
    }
}
