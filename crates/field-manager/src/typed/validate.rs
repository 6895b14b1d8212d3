//! Whether a value fits its type, in upstream's words.

use super::list_items::path_element;
use super::{Duplicates, TypedError, prefix};
use crate::path_element::PathElement;
use crate::schema::{Atom, ListType, MapType, Relationship, Scalar, Schema, TypeRef};
use kubist_apimachinery::go_text;
use kubist_codec::patch::{go_print, go_type};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Appends the mismatches of a value.
pub(super) fn validate(
    errors: &mut Vec<TypedError>,
    schema: &Schema,
    type_ref: &TypeRef,
    value: &Value,
    duplicates: Duplicates,
) {
    let walker = Walker { schema, duplicates };
    walker.value(errors, type_ref, value);
}

/// Returns the type that a reference means.
pub(super) fn resolve<'a>(
    schema: &'a Schema,
    type_ref: &'a TypeRef,
) -> Result<Cow<'a, Atom>, TypedError> {
    let found = schema.resolve(type_ref);
    found.ok_or_else(|| {
        let name = &type_ref.name;
        TypedError::new(format!("schema error: no type found matching: {name}"))
    })
}

/// The error of a reference to no type.
pub(super) fn no_type(type_ref: &TypeRef) -> TypedError {
    let name = if type_ref.name.is_empty() {
        "inlined".to_owned()
    } else {
        format!("named type: {}", type_ref.name)
    };
    TypedError::new(format!("schema error: invalid atom: {name}"))
}

/// Returns why a value is not a scalar of this type. Null and absent values are.
pub(super) fn scalar(scalar: Scalar, value: Option<&Value>, side: &str) -> Option<TypedError> {
    let value = value.filter(|it| !it.is_null())?;
    let message = match scalar {
        Scalar::Numeric if !value.is_number() => {
            format!("expected numeric (int or float), got {}", go_type(value))
        }
        Scalar::String if !value.is_string() => format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            go_syntax(value)
        ),
        Scalar::Boolean if !value.is_boolean() => {
            format!("expected boolean, got {}", go_value(value))
        }
        Scalar::Untyped if value.is_array() || value.is_object() => {
            format!("expected any scalar, got {}", go_value(value))
        }
        _ => return None,
    };
    Some(TypedError::new(format!("{side}{message}")))
}

struct Walker<'a> {
    schema: &'a Schema,
    duplicates: Duplicates,
}

impl Walker<'_> {
    fn value(&self, errors: &mut Vec<TypedError>, type_ref: &TypeRef, value: &Value) {
        let atom = match resolve(self.schema, type_ref) {
            Ok(atom) => atom.of_value(Some(value)),
            Err(error) => return errors.push(error),
        };
        if let Some(map) = &atom.map {
            match value {
                Value::Object(members) => self.map(errors, map, members),
                Value::Null => {}
                _ => errors.push(TypedError::new(format!(
                    "expected map, got {}",
                    go_value(value)
                ))),
            }
        } else if let Some(expected) = atom.scalar {
            errors.extend(scalar(expected, Some(value), ""));
        } else if let Some(list) = &atom.list {
            match value {
                Value::Array(items) => self.list(errors, list, items),
                Value::Null => {}
                _ => errors.push(TypedError::new(format!(
                    "expected list, got {}",
                    go_value(value)
                ))),
            }
        } else {
            errors.push(no_type(type_ref));
        }
    }

    fn map(&self, errors: &mut Vec<TypedError>, map: &MapType, members: &Map<String, Value>) {
        for (name, value) in members {
            let start = errors.len();
            let type_ref = map.type_of(name);
            let is_declared = !type_ref.is_none() || map.field(name).is_some();
            if is_declared {
                self.value(errors, type_ref, value);
            } else {
                errors.push(TypedError::new("field not declared in schema"));
            }
            if errors.len() > start {
                prefix(errors, start, &PathElement::from(name.as_str()));
            }
            if !is_declared {
                return; // Upstream reports the first one only.
            }
        }
    }

    fn list(&self, errors: &mut Vec<TypedError>, list: &ListType, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let element = if list.relationship == Relationship::Granular {
                match path_element(self.schema, list, item) {
                    Ok(element) => element,
                    Err(why) => {
                        return errors.push(TypedError::new(format!("element {index}: {why}")));
                    }
                }
            } else {
                PathElement::Index(i64::try_from(index).unwrap_or(i64::MAX))
            };
            let start = errors.len();
            self.value(errors, &list.element_type, item);
            prefix(errors, start, &element);
            if list.relationship == Relationship::Granular {
                let text = (self.duplicates == Duplicates::Refused && seen.contains(&element))
                    .then(|| format!("duplicate entries for key {element}"));
                if let Some(text) = text {
                    errors.insert(start, TypedError::new(text));
                }
                seen.insert(element);
            }
        }
    }
}

/// A value as Go's `%v` shows upstream's wrapper of it.
fn go_value(value: &Value) -> String {
    format!("&{{{}}}", go_print(value))
}

/// A value in Go's syntax, as `%#v` shows it.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => go_text::quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(members) => {
            let member = |it: (&String, &Value)| {
                let (name, value) = it;
                format!("{}:{}", go_text::quote(name), go_syntax(value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        Value::Bool(_) | Value::Number(_) => go_print(value),
    }
}
