//! `NameMap`: values by name, made once and read often.

use kubist_apimachinery::Str;
use std::cmp::Ordering;

/// Values by name, in a slice that is sorted by length and then by bytes: most comparisons of a
/// search need only the lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct NameMap<T>(Box<[(Str, T)]>);

impl<T> NameMap<T> {
    /// Returns the value with this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.get_key_value(name).map(|(_, value)| value)
    }

    /// Returns the stored name that equals this one, and its value.
    pub fn get_key_value(&self, name: &str) -> Option<(&Str, &T)> {
        let found = self.0.binary_search_by(|(it, _)| order(it, name)).ok()?;
        self.0.get(found).map(|(name, value)| (name, value))
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Reports whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over names and values, shorter names first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &T)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Str, &mut T)> {
        self.0.iter_mut().map(|(name, value)| (&*name, value))
    }
}

fn order(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

impl<T> Default for NameMap<T> {
    fn default() -> Self {
        Self(Box::default())
    }
}

/// Of values with the same name, the last is kept.
impl<T> FromIterator<(Str, T)> for NameMap<T> {
    fn from_iter<I: IntoIterator<Item = (Str, T)>>(all: I) -> Self {
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by(|(one, _), (other, _)| order(one, other));
        all.dedup_by(|later, kept| {
            let is_same = later.0 == kept.0;
            if is_same {
                std::mem::swap(later, kept);
            }
            is_same
        });
        Self(all.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_the_last_of_the_same_is_kept() {
        let names = ["b", "", "aa", "c", "b", "abc", "b", "a", "ab"];
        let values = names.into_iter().enumerate();
        let map: NameMap<usize> = values.map(|(at, name)| (name.into(), at)).collect();
        for (at, name) in names.iter().enumerate() {
            let last = names.iter().rposition(|it| it == name);
            assert_eq!(map.get(name).copied(), last, "{at}");
        }
        assert_eq!((map.len(), map.is_empty()), (7, false));
        assert_eq!((map.get("d"), map.get("abcd")), (None, None));
        let order: Vec<&str> = map.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(order, ["", "a", "b", "c", "aa", "ab", "abc"]);
        assert_eq!(NameMap::<u8>::default().get(""), None);
    }
}
