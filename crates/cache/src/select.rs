//! Look-ups that combine several indexes: selectors and intersections.
//!
//! Each index that covers a part of the query returns the numbers of its objects. The smallest
//! group is iterated and the others are tested for each number, so that objects which do not match
//! are rarely read. Parts that no index covers are evaluated on the object.

use crate::clone_refs::clone_refs;
use crate::index::{Covers, FieldLookup, IndexValues};
use crate::postings::Posting;
use crate::store::{Built, State};
use crate::{Index, IndexHandle, Snapshot};
use kubist_apimachinery::wire::{ScalarField, ScalarFieldError};
use kubist_apimachinery::{FieldSelector, Object, Operator, Requirement, Selector};
use std::sync::Arc;

/// A query for objects of a store: by namespace, labels and fields. Default: all objects.
///
/// ```
/// use kubist_cache::Query;
/// let (namespace, labels) = (Some("shop".into()), "app=web".parse()?);
/// let query = Query { namespace, labels, ..Query::default() };
/// # let _ = query;
/// # Ok::<(), kubist_apimachinery::ParseSelectorError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct Query {
    /// The namespace; `None` means all.
    pub namespace: Option<kubist_apimachinery::Str>,
    /// The label selector.
    pub labels: Selector,
    /// The field selector. Any scalar field of the kind is allowed, not only those that a server
    /// supports.
    pub fields: FieldSelector,
}

/// The objects that one index has for a part of the query: those in any of its postings. An index
/// that covers something has at most one value for each object, so no object is in two of them.
struct Part<'a> {
    postings: Vec<&'a Posting>,
    len: usize,
}

impl<'a> Part<'a> {
    fn of(postings: impl IntoIterator<Item = &'a Posting>) -> Self {
        let postings: Vec<_> = postings.into_iter().collect();
        let len = postings.iter().map(|it| it.numbers.len()).sum();
        Self { postings, len }
    }

    fn has(&self, number: u32) -> bool {
        let mut postings = self.postings.iter();
        postings.any(|it| it.numbers.contains(number))
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.postings.iter().flat_map(|it| it.numbers.iter())
    }
}

impl<K: Object> State<K> {
    pub(crate) fn by_index(&self, index: &Arc<Index<K>>, value: &str) -> Vec<Arc<K>> {
        let Some(built) = self.built(index) else {
            return clone_refs(self.iter_index(index, value));
        };
        let posting = built.postings.get(value);
        posting.map_or_else(Vec::new, |it| self.objects.clone_all_at(&it.numbers))
    }

    pub(crate) fn by_indexes(&self, groups: &[(&IndexHandle<K>, &str)]) -> Vec<Arc<K>> {
        let mut parts = Vec::new();
        for (handle, value) in groups {
            if let Some(built) = self.built(&handle.index) {
                parts.push(Part::of(built.postings.get(value)));
            }
        }
        let is_covered = parts.len() == groups.len();
        self.gather(parts, &Selector::everything(), |object| {
            is_covered || {
                let mut values = IndexValues::default();
                let mut groups = groups.iter();
                groups.all(|(handle, value)| handle.index.files(object, value, &mut values))
            }
        })
    }

    pub(crate) fn select(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Arc<K>> {
        if selector.is_nothing() {
            return Vec::new();
        }
        let nothing = FieldSelector::everything();
        let parts = self.parts(namespace, selector, &nothing);
        self.gather(parts, selector, |object| {
            namespace.is_none_or(|namespace| object.namespace() == namespace)
                && selector.matches_object(object)
        })
    }

    /// Returns the results of the indexes for a query.
    fn parts(
        &self,
        namespace: Option<&str>,
        selector: &Selector,
        fields: &FieldSelector,
    ) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for built in &self.indexes {
            match built.index.covers() {
                Covers::Nothing => {}
                Covers::Namespace => {
                    parts.extend(namespace.map(|it| Part::of(built.postings.get(it))));
                }
                Covers::Label(key) => {
                    let asked = selector.requirements().iter();
                    let asked = asked.filter(|it| it.key() == &**key);
                    parts.extend(asked.filter_map(|it| built.required(it)));
                }
                Covers::Field(path) => {
                    let exact = fields.exact(path);
                    parts.extend(exact.map(|value| Part::of(built.postings.get(value))));
                }
            }
        }
        parts
    }

    /// Returns the objects in all parts for which `is_meant` returns true; those that are not
    /// `selected` are not.
    fn gather(
        &self,
        mut parts: Vec<Part<'_>>,
        selected: &Selector,
        is_meant: impl Fn(&K) -> bool,
    ) -> Vec<Arc<K>> {
        parts.sort_by_key(|part| part.len);
        let Some((smallest, others)) = parts.split_first() else {
            let objects = self.objects.passing(selected.label_filter());
            return objects.filter(|it| is_meant(it)).cloned().collect();
        };
        let numbers = smallest.numbers();
        let numbers = numbers.filter(|number| others.iter().all(|part| part.has(*number)));
        let objects = self.objects.all_at(numbers);
        objects.filter(|it| is_meant(it)).cloned().collect()
    }
}

impl<K> Built<K> {
    /// For a label index: returns the objects that can meet a requirement on it, unless those are
    /// the ones that the index does not contain.
    fn required(&self, requirement: &Requirement) -> Option<Part<'_>> {
        match requirement.operator() {
            Operator::Equals | Operator::DoubleEquals | Operator::In => {
                let mut values: Vec<_> = requirement.values().iter().collect();
                values.sort_unstable();
                values.dedup();
                Some(Part::of(
                    values.into_iter().filter_map(|it| self.postings.get(it)),
                ))
            }
            Operator::Exists | Operator::GreaterThan | Operator::LessThan => {
                let all = self.postings.iter();
                Some(Part::of(
                    all.filter(|it| requirement.matches(Some(&it.value))),
                ))
            }
            _ => None,
        }
    }
}

impl<K: FieldLookup> Snapshot<K> {
    /// Returns the objects that match a query, using the indexes that cover parts of it:
    /// [`Index::namespace`], [`Index::label`], [`Index::field`]. An object whose body was dropped
    /// does not match a query for one of its body's fields.
    ///
    /// # Errors
    /// The kind has no such scalar field.
    pub fn query(&self, query: &Query) -> Result<Vec<Arc<K>>, ScalarFieldError> {
        let mut terms = Vec::new();
        for term in query.fields.terms() {
            terms.push((ScalarField::new(K::schema(), &term.field)?, term));
        }
        if query.labels.is_nothing() {
            return Ok(Vec::new());
        }
        let namespace = query.namespace.as_deref();
        let parts = self.state.parts(namespace, &query.labels, &query.fields);
        Ok(self.state.gather(parts, &query.labels, |object| {
            namespace.is_none_or(|namespace| object.namespace() == namespace)
                && query.labels.matches_object(object)
                && terms.iter().all(|(path, term)| {
                    object.knows(path) && (*object.field(path) == *term.value) != term.negated
                })
        }))
    }
}
