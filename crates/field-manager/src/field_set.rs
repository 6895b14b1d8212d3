//! `FieldSet`: the fields that a manager owns.
//!
//! A tree: at each node the owned elements ("members"), and for elements below which something is
//! owned the sets there ("children"). An element can be both: a list item, and fields in it. Both
//! lists are sorted, so that set operations are merges of two lists.
//!
//! It is not a set of values: it says which fields, not what is in them.

mod operations;

use crate::path_element::PathElement;
use crate::schema::{Atom, Schema, TypeRef};
use std::fmt;

/// A set of field paths. Empty by default.
///
/// ```
/// use kubist_field_manager::FieldSet;
/// let mut set = FieldSet::from_paths([&["spec".into(), "replicas".into()][..]]);
/// set.insert(&["metadata".into(), "labels".into()]);
/// assert_eq!(set.to_json(), r#"{"f:metadata":{"f:labels":{}},"f:spec":{"f:replicas":{}}}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    members: Vec<PathElement>,
    /// None of these sets is empty.
    children: Vec<(PathElement, Self)>,
}

impl FieldSet {
    /// Returns the set of these paths.
    pub fn from_paths<'a>(paths: impl IntoIterator<Item = &'a [PathElement]>) -> Self {
        let mut set = Self::default();
        for path in paths {
            set.insert(path);
        }
        set
    }

    /// Inserts a path. The empty path stands for the object itself and is not kept.
    pub fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => self.insert_member(last.clone()),
            [first, rest @ ..] => self.child_mut(first).insert(rest),
        }
    }

    /// Inserts an element of this node.
    pub(crate) fn insert_member(&mut self, element: PathElement) {
        // Most are inserted in order.
        if self.members.last().is_none_or(|last| *last < element) {
            self.members.push(element);
        } else if let Err(at) = self.members.binary_search(&element) {
            self.members.insert(at, element);
        }
    }

    /// Returns the set below an element, which it creates if necessary. The caller inserts a path.
    fn child_mut(&mut self, element: &PathElement) -> &mut Self {
        let at = match self.position(element) {
            Ok(at) => at,
            Err(at) => {
                self.children.insert(at, (element.clone(), Self::default()));
                at
            }
        };
        &mut self.children[at].1
    }

    /// Puts a set below an element that has none yet; an empty one is not kept.
    pub(crate) fn set_child(&mut self, element: PathElement, child: Self) {
        if child.is_empty() {
            return;
        }
        match self.position(&element) {
            Ok(at) => self.children[at].1 = child,
            Err(at) => self.children.insert(at, (element, child)),
        }
    }

    fn position(&self, element: &PathElement) -> Result<usize, usize> {
        match self.children.last() {
            Some((last, _)) if last >= element => {
                self.children.binary_search_by(|it| it.0.cmp(element))
            }
            _ => Err(self.children.len()),
        }
    }

    /// Reports whether a path is in the set.
    pub fn has(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.has_member(last),
            [first, rest @ ..] => self.child(first).is_some_and(|it| it.has(rest)),
        }
    }

    /// Reports whether an element of this node is owned.
    pub fn has_member(&self, element: &PathElement) -> bool {
        self.members.binary_search(element).is_ok()
    }

    /// Returns the set below an element; none if nothing below it is owned.
    pub fn child(&self, element: &PathElement) -> Option<&Self> {
        let (_, child) = self.children.get(self.position(element).ok()?)?;
        Some(child)
    }

    /// Returns the owned elements of this node, in order.
    pub fn members(&self) -> &[PathElement] {
        &self.members
    }

    /// Returns the elements below which something is owned, with the sets there, in order.
    pub fn children(&self) -> &[(PathElement, Self)] {
        &self.children
    }

    /// Reports whether the set has no path.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.members.len() + self.children.iter().map(|it| it.1.len()).sum::<usize>()
    }

    /// Returns the depth of objects in its FieldsV1.
    pub fn depth(&self) -> usize {
        let below = self.children.iter().map(|it| it.1.depth());
        let members = usize::from(!self.members.is_empty());
        1 + below.max().unwrap_or(0).max(members)
    }

    /// Calls `visit` for each path: at each node first its members, then what is below, in order.
    pub fn for_each(&self, visit: &mut dyn FnMut(&[PathElement])) {
        self.walk(&mut Vec::new(), visit);
    }

    fn walk(&self, path: &mut Vec<PathElement>, visit: &mut dyn FnMut(&[PathElement])) {
        for member in &self.members {
            path.push(member.clone());
            visit(path);
            path.pop();
        }
        for (element, child) in &self.children {
            path.push(element.clone());
            child.walk(path, visit);
            path.pop();
        }
    }

    /// Adds each declared field below which something is owned to the members. Sets that are
    /// written without them so compare with sets that have them.
    #[must_use]
    pub fn with_named_fields(&self, schema: &Schema, type_ref: &TypeRef) -> Self {
        let atom = schema.resolve(type_ref).unwrap_or_default();
        let mut out = Self {
            members: self.members.clone(),
            children: Vec::with_capacity(self.children.len()),
        };
        for (element, child) in &self.children {
            if let (PathElement::Field(name), Some(map)) = (element, &atom.map)
                && map.field(name).is_some()
            {
                out.insert_member(element.clone());
            }
            let below = element_type(&atom, element);
            let child = child.with_named_fields(schema, &below);
            out.children.push((element.clone(), child));
        }
        out
    }
}

fn element_type(atom: &Atom, element: &PathElement) -> TypeRef {
    match (element, &atom.map, &atom.list) {
        (PathElement::Field(name), Some(map), _) => map.type_of(name).clone(),
        (PathElement::Key(_), _, Some(list)) => list.element_type.clone(),
        _ => TypeRef::default(),
    }
}

/// One path a line, for messages and tests.
impl fmt::Display for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::with_capacity(self.len());
        self.for_each(&mut |path| lines.push(path.iter().map(ToString::to_string).collect()));
        let lines: Vec<String> = lines;
        f.write_str(&lines.join("\n"))
    }
}
