//! Set operations. Members and children are two sets: `a` and `a.b` are independent, except in
//! `recursive_difference`.

use super::FieldSet;
use crate::path_element::PathElement;
use crate::zip::zip_sorted;

/// An element, and what is below it.
type Child = (PathElement, FieldSet);

impl FieldSet {
    /// Returns the paths in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut out = Self::default();
        self.zip_members(other, |left, right| {
            out.members.extend(left.or(right).cloned());
        });
        self.zip_children(other, |left, right| {
            let child = match (left, right) {
                (Some(left), Some(right)) => (left.0.clone(), left.1.union(&right.1)),
                (Some(it), None) | (None, Some(it)) => it.clone(),
                (None, None) => return,
            };
            out.push_child(child);
        });
        out
    }

    /// Returns the paths in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut out = Self::default();
        self.zip_members(other, |left, right| {
            out.members.extend(left.and(right).cloned());
        });
        self.zip_children(other, |left, right| {
            if let (Some(left), Some(right)) = (left, right) {
                out.push_child((left.0.clone(), left.1.intersection(&right.1)));
            }
        });
        out
    }

    /// Returns the paths in either set.
    #[must_use]
    pub(crate) fn into_union(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => self.union(&other),
        }
    }

    /// Removes the paths of another set, which is small.
    pub(crate) fn subtract(&mut self, other: &Self) {
        if !other.members.is_empty() {
            self.members.retain(|it| !other.has_member(it));
        }
        for (element, below) in &other.children {
            if let Ok(at) = self.position(element) {
                self.children[at].1.subtract(below);
                if self.children[at].1.is_empty() {
                    self.children.remove(at);
                }
            }
        }
    }

    /// Removes the paths of another set, which is small, and those below them.
    pub(crate) fn subtract_deep(&mut self, other: &Self) {
        if !other.members.is_empty() {
            self.members.retain(|it| !other.has_member(it));
            self.children.retain(|it| !other.has_member(&it.0));
        }
        for (element, below) in &other.children {
            if let Ok(at) = self.position(element) {
                self.children[at].1.subtract_deep(below);
                if self.children[at].1.is_empty() {
                    self.children.remove(at);
                }
            }
        }
    }

    /// Returns the paths in this set and not in the other. A path of the other set does not remove
    /// what is below it.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut out = self.members_without(other);
        self.zip_children(other, |left, right| match (left, right) {
            (Some(left), Some(right)) => {
                out.push_child((left.0.clone(), left.1.difference(&right.1)));
            }
            (Some(left), None) => out.push_child(left.clone()),
            (None, _) => {}
        });
        out
    }

    /// Returns the paths in this set that are neither in the other nor below one of its paths.
    #[must_use]
    pub fn recursive_difference(&self, other: &Self) -> Self {
        let mut out = self.members_without(other);
        self.zip_children(other, |left, right| match (left, right) {
            (Some(left), _) if other.has_member(&left.0) => {}
            (Some(left), Some(right)) => {
                let rest = left.1.recursive_difference(&right.1);
                out.push_child((left.0.clone(), rest));
            }
            (Some(left), None) => out.push_child(left.clone()),
            (None, _) => {}
        });
        out
    }

    /// Returns the paths without those above others.
    #[must_use]
    pub fn leaves(&self) -> Self {
        let is_leaf = |it: &&PathElement| self.child(it).is_none();
        let children = self.children.iter();
        Self {
            members: self.members.iter().filter(is_leaf).cloned().collect(),
            children: children.map(|it| (it.0.clone(), it.1.leaves())).collect(),
        }
    }

    /// Visits the members of both sets in order.
    fn zip_members<'a>(
        &'a self,
        other: &'a Self,
        visit: impl FnMut(Option<&'a PathElement>, Option<&'a PathElement>),
    ) {
        let order = |left: &&PathElement, right: &&PathElement| left.cmp(right);
        zip_sorted(&self.members, &other.members, order, visit);
    }

    /// Visits the children of both sets in order.
    fn zip_children<'a>(
        &'a self,
        other: &'a Self,
        visit: impl FnMut(Option<&'a Child>, Option<&'a Child>),
    ) {
        let order = |left: &&Child, right: &&Child| left.0.cmp(&right.0);
        zip_sorted(&self.children, &other.children, order, visit);
    }

    fn members_without(&self, other: &Self) -> Self {
        let mut out = Self::default();
        self.zip_members(other, |left, right| {
            if right.is_none() {
                out.members.extend(left.cloned());
            }
        });
        out
    }

    /// Appends a child that comes after all others; an empty one is not kept.
    fn push_child(&mut self, child: (PathElement, Self)) {
        if !child.1.is_empty() {
            self.children.push(child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Paths = BTreeSet<Vec<PathElement>>;

    fn paths() -> impl Strategy<Value = Paths> {
        let element = prop::sample::select(vec!["a", "b", "c"]).prop_map(PathElement::from);
        prop::collection::btree_set(prop::collection::vec(element, 1..4), 0..12)
    }

    fn set(paths: &Paths) -> FieldSet {
        FieldSet::from_paths(paths.iter().map(Vec::as_slice))
    }

    fn below(path: &[PathElement], other: &Paths) -> bool {
        (1..=path.len()).any(|end| other.contains(&path[..end]))
    }

    proptest! {
        #[test]
        fn operations_are_those_of_sets_of_paths(left in paths(), right in paths()) {
            let (l, r) = (set(&left), set(&right));
            prop_assert_eq!(l.len(), left.len());
            prop_assert!(left.iter().all(|path| l.has(path)));
            prop_assert_eq!(l.union(&r), set(&(&left | &right)));
            prop_assert_eq!(l.intersection(&r), set(&(&left & &right)));
            prop_assert_eq!(l.difference(&r), set(&(&left - &right)));
            prop_assert_eq!(l.clone().into_union(r.clone()), set(&(&left | &right)));
            let mut rest = l.clone();
            rest.subtract(&r);
            prop_assert_eq!(rest, set(&(&left - &right)));
            let kept = left.iter().filter(|path| !below(path, &right)).cloned().collect();
            prop_assert_eq!(l.recursive_difference(&r), set(&kept));
            let mut rest = l.clone();
            rest.subtract_deep(&r);
            prop_assert_eq!(rest, set(&kept));
            prop_assert_eq!(l == r, left == right);
            prop_assert_eq!(l.is_empty(), left.is_empty());
        }
    }
}
