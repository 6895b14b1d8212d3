//! `FieldPath`: the path of a field in messages, as in `spec.containers[0].image`.
//!
//! It is for messages only: it is not a JSON pointer and does not look anything up (see
//! [`ScalarField`](crate::wire::ScalarField) for that).

use crate::Str;
use std::fmt;

/// A path from the root of an object. The root itself displays as `<nil>`, as in upstream.
///
/// ```
/// use kubist_apimachinery::FieldPath;
/// let path = FieldPath::new("spec").child("containers").index(0).child("image");
/// assert_eq!(path.to_string(), "spec.containers[0].image");
/// assert_eq!(FieldPath::new("data").key("a.b").to_string(), "data[a.b]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath {
    text: String,
}

impl FieldPath {
    /// The path of the object itself.
    pub const ROOT: Self = Self {
        text: String::new(),
    };

    /// Returns the path of a field of the object.
    pub fn new(name: &str) -> Self {
        Self {
            text: name.to_owned(),
        }
    }

    /// Returns the path of a field at this path.
    pub fn child(&self, name: &str) -> Self {
        let point = if self.text.is_empty() { "" } else { "." };
        self.extended(&[point, name])
    }

    /// Returns the path of a list item at this path.
    pub fn index(&self, index: usize) -> Self {
        self.key(&index.to_string())
    }

    /// Returns the path of a map value at this path.
    pub fn key(&self, key: &str) -> Self {
        self.extended(&["[", key, "]"])
    }

    fn extended(&self, parts: &[&str]) -> Self {
        let more: usize = parts.iter().map(|part| part.len()).sum();
        let mut text = String::with_capacity(self.text.len() + more);
        text.push_str(&self.text);
        text.extend(parts.iter().copied());
        Self { text }
    }

    fn as_str(&self) -> &str {
        if self.text.is_empty() {
            "<nil>"
        } else {
            &self.text
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<&FieldPath> for Str {
    fn from(path: &FieldPath) -> Self {
        path.as_str().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_as_upstreams() {
        for (path, expected) in [
            (FieldPath::ROOT, "<nil>"),
            (
                FieldPath::ROOT.child("values").index(1).key("a"),
                "values[1][a]",
            ),
            (FieldPath::ROOT.index(3), "[3]"),
            (FieldPath::ROOT.key("k").child("name"), "[k].name"),
            (
                FieldPath::new("spec").child("ports").index(0),
                "spec.ports[0]",
            ),
        ] {
            assert_eq!(path.to_string(), expected);
        }
    }
}
