//! [`List`]: a list of values, or a view of a JSON array.

use super::Value;
use crate::declared::{Declared, ListKind};
use crate::error::EvalError;
use std::sync::Arc;

/// A list.
///
/// A concatenation refers to both of its lists, so it costs nothing. Lists that are views know
/// whether they are sets or maps, which are compared and concatenated without order.
#[derive(Debug, Clone)]
pub struct List<'a>(pub(crate) Repr<'a>);

#[derive(Debug, Clone)]
pub(crate) enum Repr<'a> {
    Shared(Arc<Vec<Value<'a>>>),
    View(&'a [serde_json::Value], &'a Declared),
    /// A set or map list that was concatenated, with the type that it was declared with.
    Merged(Arc<Vec<Value<'a>>>, &'a Declared),
    Joined(Arc<(List<'a>, List<'a>, usize)>),
}

impl<'a> List<'a> {
    /// Returns a view of a JSON array whose type is a declared list.
    pub const fn view(items: &'a [serde_json::Value], declared: &'a Declared) -> Self {
        Self(Repr::View(items, declared))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Shared(values) | Repr::Merged(values, _) => values.len(),
            Repr::View(items, _) => items.len(),
            Repr::Joined(joined) => joined.2,
        }
    }

    /// Reports whether the list has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an element; none if the index is out of bounds.
    pub fn get(&self, index: usize) -> Result<Option<Value<'a>>, EvalError> {
        let mut list = self;
        let mut index = index;
        loop {
            match &list.0 {
                Repr::Shared(values) | Repr::Merged(values, _) => {
                    return Ok(values.get(index).cloned());
                }
                Repr::View(items, declared) => {
                    let Some((item, declared)) = items.get(index).zip(declared.elements()) else {
                        return Ok(None);
                    };
                    return Value::view(item, declared).map(Some);
                }
                Repr::Joined(joined) if index < joined.0.len() => list = &joined.0,
                Repr::Joined(joined) => {
                    index -= joined.0.len();
                    list = &joined.1;
                }
            }
        }
    }

    /// Returns the elements.
    pub fn iter(&self) -> impl Iterator<Item = Result<Value<'a>, EvalError>> + '_ {
        (0..self.len()).map(|at| self.get(at).map(Option::unwrap_or_default))
    }

    /// Reports whether the list is a view of JSON.
    pub(crate) const fn is_view(&self) -> bool {
        matches!(self.0, Repr::View(..) | Repr::Merged(..))
    }

    /// Returns the declared type of a set or map list.
    pub(crate) fn unordered(&self) -> Option<&'a Declared> {
        match &self.0 {
            Repr::View(_, declared) | Repr::Merged(_, declared) => match &declared.kind {
                crate::declared::Kind::List(_, ListKind::Set | ListKind::Map(_)) => Some(declared),
                _ => None,
            },
            _ => None,
        }
    }

    /// Concatenates two lists.
    pub(crate) fn concat(self, other: Self) -> Result<Self, EvalError> {
        if let Some(declared) = self.unordered() {
            return super::json::merge(&self, &other, declared);
        }
        if other.is_empty() {
            return Ok(self);
        }
        if self.is_empty() {
            return Ok(other);
        }
        let length = self.len().saturating_add(other.len());
        let mut list = self;
        if let (Repr::Shared(values), Repr::Shared(added)) = (&mut list.0, &other.0)
            && let Some(values) = Arc::get_mut(values)
            && added.len() < 16
        {
            values.extend(added.iter().cloned());
            return Ok(list);
        }
        Ok(Self(Repr::Joined(Arc::new((list, other, length)))))
    }
}

impl<'a> From<Vec<Value<'a>>> for List<'a> {
    fn from(values: Vec<Value<'a>>) -> Self {
        Self(Repr::Shared(Arc::new(values)))
    }
}
