//! `PathElement`: one step from an object or a list to a value in it.

use crate::value_order::{Shown, compare};
use kubist_apimachinery::Str;
use serde_json::Value;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// One step of a path; clones share its texts and values. Its text is upstream's: `.spec`,
/// `[name="a",port=1]`, `[="a"]`, `[3]`.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "FieldsV1 has these four")]
pub enum PathElement {
    /// A field of an object or a map.
    Field(Str),
    /// The item of an associative list with these key fields, ordered by name.
    Key(Arc<[KeyField]>),
    /// The item of a set with this value.
    Value(Arc<Value>),
    /// The item of a list at this position.
    Index(i64),
}

/// A key field of a list item.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct KeyField {
    /// The field name.
    pub name: Str,
    /// The field value.
    pub value: Value,
}

impl PathElement {
    /// Returns the item with these key fields, in any order.
    ///
    /// ```
    /// use kubist_field_manager::PathElement;
    /// let item = PathElement::key([("protocol", "TCP".into()), ("port", 80.into())]);
    /// assert_eq!(item.to_string(), r#"[port=80,protocol="TCP"]"#);
    /// ```
    pub fn key<N: Into<Str>>(fields: impl IntoIterator<Item = (N, Value)>) -> Self {
        let fields = fields.into_iter();
        let mut fields: Vec<KeyField> = fields
            .map(|(name, value)| KeyField {
                name: name.into(),
                value,
            })
            .collect();
        fields.sort_by(|left, right| left.name.cmp(&right.name));
        Self::Key(fields.into())
    }

    /// Returns the item of a set.
    pub fn value(value: Value) -> Self {
        Self::Value(Arc::new(value))
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl From<&str> for PathElement {
    fn from(field: &str) -> Self {
        Self::Field(field.into())
    }
}

/// Fields come first, then keys, values and positions.
impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left.cmp(right),
            (Self::Key(left), Self::Key(right)) => left.cmp(right),
            (Self::Value(left), Self::Value(right)) => compare(left, right),
            (Self::Index(left), Self::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

impl Ord for KeyField {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_name = self.name.cmp(&other.name);
        by_name.then_with(|| compare(&self.value, &other.value))
    }
}

impl PartialOrd for KeyField {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeyField {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for KeyField {}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                f.write_str("[")?;
                for (index, field) in fields.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{}={}", field.name, Shown(&field.value))?;
                }
                f.write_str("]")
            }
            Self::Value(value) => write!(f, "[={}]", Shown(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_is_fields_keys_values_positions() {
        let ascending = [
            PathElement::from("a"),
            PathElement::from("b"),
            PathElement::key([("a", json!(1))]),
            PathElement::key([("a", json!(1)), ("b", json!(0))]),
            PathElement::key([("b", json!(0))]),
            PathElement::value(json!(1)),
            PathElement::value(json!("a")),
            PathElement::Index(-1),
            PathElement::Index(10),
        ];
        assert!(ascending.is_sorted());
        assert_ne!(ascending[0], ascending[2]);
    }

    #[test]
    fn the_text_is_upstreams() {
        let key = PathElement::key([("name", json!("web"))]);
        let path = [
            PathElement::from("spec"),
            key,
            PathElement::value(json!("x")),
        ];
        let text: String = path.iter().map(ToString::to_string).collect();
        assert_eq!(text, r#".spec[name="web"][="x"]"#);
    }
}
