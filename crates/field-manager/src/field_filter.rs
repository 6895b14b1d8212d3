//! `FieldFilter`: the fields that a strategy does not reset, and which therefore can have owners.
//!
//! As upstream's `resetFields` filters: the main resource leaves out the status, its status
//! subresource the spec.

use crate::field_set::FieldSet;
use crate::path_element::PathElement;

/// Selects fields of a set.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a filter excludes or includes")]
pub enum FieldFilter {
    /// All but these fields and those below them.
    Exclude(FieldSet),
    /// Only the fields that match.
    Include(PathMatcher),
}

/// Matches paths by their beginnings.
///
/// ```
/// use kubist_field_manager::{FieldFilter, FieldSet, PathMatcher};
/// let matcher = PathMatcher::prefixes([&[Some("spec".into()), None, Some("image".into())][..]]);
/// let all = FieldSet::from_json(r#"{"f:spec":{"f:a":{"f:image":{},"f:name":{}}}}"#)?;
/// let kept = FieldFilter::Include(matcher).apply(all);
/// assert_eq!(kept.to_json(), r#"{"f:spec":{"f:a":{"f:image":{}}}}"#);
/// # Ok::<(), kubist_field_manager::FieldsV1Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PathMatcher {
    /// Whether everything matches.
    all: bool,
    /// The next elements; `None` stands for any. Those for any element come first.
    next: Vec<(Option<PathElement>, Self)>,
}

impl FieldFilter {
    /// Excludes these fields.
    pub fn exclude<'a>(paths: impl IntoIterator<Item = &'a [PathElement]>) -> Self {
        Self::Exclude(FieldSet::from_paths(paths))
    }

    /// Returns the selected fields of a set.
    #[must_use]
    pub fn apply(&self, mut fields: FieldSet) -> FieldSet {
        match self {
            Self::Exclude(excluded) => {
                fields.subtract_deep(excluded);
                fields
            }
            Self::Include(matcher) => matcher.select(&fields),
        }
    }
}

impl PathMatcher {
    /// Matches paths with one of these beginnings, in which `None` stands for any element.
    pub fn prefixes<'a>(prefixes: impl IntoIterator<Item = &'a [Option<PathElement>]>) -> Self {
        let mut matcher = Self::default();
        for prefix in prefixes {
            matcher.add(prefix);
        }
        matcher
    }

    fn add(&mut self, prefix: &[Option<PathElement>]) {
        let [first, rest @ ..] = prefix else {
            self.all = true;
            return;
        };
        let known = self.next.iter().position(|(element, _)| element == first);
        let at = known.unwrap_or_else(|| {
            let at = if first.is_none() { 0 } else { self.next.len() };
            self.next.insert(at, (first.clone(), Self::default()));
            at
        });
        self.next[at].1.add(rest);
    }

    fn find(&self, element: &PathElement) -> Option<&Self> {
        let mut next = self.next.iter();
        let found = next.find(|(next, _)| next.as_ref().is_none_or(|it| it == element))?;
        Some(&found.1)
    }

    fn select(&self, fields: &FieldSet) -> FieldSet {
        if self.all {
            return fields.clone();
        }
        let mut out = FieldSet::default();
        for element in fields.members() {
            if self.find(element).is_some() {
                out.insert_member(element.clone());
            }
        }
        for (element, below) in fields.children() {
            if let Some(matcher) = self.find(element) {
                out.set_child(element.clone(), matcher.select(below));
            }
        }
        out
    }
}
