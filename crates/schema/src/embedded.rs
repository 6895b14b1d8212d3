//! Metadata of embedded resources: coerced to what an `ObjectMeta` holds, and validated.
//!
//! A value whose schema has `x-kubernetes-embedded-resource` is a whole object: its `apiVersion`,
//! `kind` and `metadata` have upstream's rules, whatever the schema says about them.

mod decode;
mod object_meta;

use crate::go_value::{are_too_deep, bad_value};
use crate::place::{Place, Problems};
use crate::schema::Schema;
use crate::unknown_fields::UnknownFields;
use decode::{Decoded, decode};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use serde_json::{Map, Value};

/// What becomes of metadata that cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "upstream has no other option")]
pub enum Malformed {
    /// It is an error: in requests.
    Refuse,
    /// Its malformed fields are dropped: in stored objects.
    Drop,
}

/// Coerces the metadata of embedded resources: unknown fields are removed and recorded in
/// `unknown`, empty ones are omitted, and malformed ones are errors or dropped. The metadata of
/// `object` itself is left alone, unless its schema is that of an embedded resource. An object that
/// nests too deeply is left alone as well; it does not [validate](crate::validate).
///
/// # Errors
/// The first malformed field.
pub fn coerce_metadata(
    object: &mut Map<String, Value>,
    schema: &Schema,
    malformed: Malformed,
    unknown: Option<&mut UnknownFields>,
) -> Result<(), FieldError> {
    if are_too_deep(object.values()) {
        return Ok(());
    }
    let at = &Place::Root(&FieldPath::ROOT);
    let mut coercer = Coercer { malformed, unknown };
    coercer.object(object, schema, schema.is_embedded_resource, at)
}

/// As [`coerce_metadata`], of any value. `is_resource` reports whether it is a resource even if the
/// schema does not say so.
pub(crate) fn coerce_value(
    value: &mut Value,
    schema: &Schema,
    is_resource: bool,
    malformed: Malformed,
    path: &FieldPath,
) -> Result<(), FieldError> {
    let mut coercer = Coercer {
        malformed,
        unknown: None,
    };
    let is_resource = is_resource || schema.is_embedded_resource;
    coercer.value(value, schema, is_resource, &Place::Root(path))
}

struct Coercer<'a> {
    malformed: Malformed,
    unknown: Option<&'a mut UnknownFields>,
}

impl Coercer<'_> {
    fn value(
        &mut self,
        value: &mut Value,
        schema: &Schema,
        is_resource: bool,
        at: &Place<'_>,
    ) -> Result<(), FieldError> {
        match value {
            Value::Object(members) => self.object(members, schema, is_resource, at),
            Value::Array(items) => {
                let Some(of_items) = schema.items.as_deref() else {
                    return Ok(());
                };
                for (index, item) in items.iter_mut().enumerate() {
                    let at = &Place::Index(at, index);
                    self.value(item, of_items, of_items.is_embedded_resource, at)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn object(
        &mut self,
        members: &mut Map<String, Value>,
        schema: &Schema,
        is_resource: bool,
        at: &Place<'_>,
    ) -> Result<(), FieldError> {
        if is_resource {
            self.types(members, at)?;
            if let Some(metadata) = members.get_mut("metadata") {
                self.metadata(metadata, at)?;
            }
        }
        for (name, member) in members.iter_mut() {
            let (of_member, at) = match schema.property(name) {
                Some(property) => (property, Place::Child(at, name)),
                None => match schema.additional() {
                    Some(additional) => (additional, Place::Key(at, name)),
                    None => continue,
                },
            };
            self.value(member, of_member, of_member.is_embedded_resource, &at)?;
        }
        Ok(())
    }

    fn types(&self, members: &mut Map<String, Value>, at: &Place<'_>) -> Result<(), FieldError> {
        for name in ["apiVersion", "kind"] {
            let Some(value) = members.get(name).filter(|it| !it.is_string()) else {
                continue;
            };
            if self.malformed == Malformed::Refuse {
                let path = at.path().child(name);
                return Err(FieldError::invalid(
                    &path,
                    bad_value(value),
                    "must be a string",
                ));
            }
            members.remove(name);
        }
        Ok(())
    }

    fn metadata(&mut self, metadata: &mut Value, at: &Place<'_>) -> Result<(), FieldError> {
        let Decoded { meta, unknown } = match decode(metadata) {
            Ok(decoded) => decoded,
            Err(detail) if self.malformed == Malformed::Refuse => {
                let path = at.path().child("metadata");
                return Err(FieldError::invalid(&path, bad_value(metadata), detail));
            }
            Err(_) => {
                let Value::Object(fields) = metadata else {
                    return Ok(());
                };
                fields.retain(|name, value| {
                    let single = Map::from_iter([(name.clone(), value.take())]);
                    let single = Value::Object(single);
                    let fits = decode(&single).is_ok();
                    if let Value::Object(mut single) = single {
                        *value = single.remove(name).unwrap_or_default();
                    }
                    fits
                });
                match decode(metadata) {
                    Ok(decoded) => decoded,
                    Err(_) => return Ok(()),
                }
            }
        };
        if let Some(fields) = &mut self.unknown
            && !unknown.is_empty()
        {
            let prefix = at.path().child("metadata");
            for path in unknown {
                fields.add(format!("{prefix}.{path}"));
            }
        }
        *metadata = to_json_value(&meta);
        Ok(())
    }
}

/// Validates the embedded resources in an object. The object itself is not validated, unless its
/// schema is that of an embedded resource.
pub fn validate_embedded(
    object: &Map<String, Value>,
    schema: &Schema,
    path: &FieldPath,
) -> Vec<FieldError> {
    if are_too_deep(object.values()) {
        return Vec::new();
    }
    let mut problems = Problems::default();
    let is_resource = schema.is_embedded_resource;
    check_object(
        &mut problems,
        object,
        schema,
        is_resource,
        &Place::Root(path),
    );
    problems.into_list()
}

/// As [`validate_embedded`], of any value. `is_resource` reports whether it is a resource even if
/// the schema does not say so.
pub(crate) fn validate_embedded_value(
    value: &Value,
    schema: &Schema,
    is_resource: bool,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut problems = Problems::default();
    let is_resource = is_resource || schema.is_embedded_resource;
    check_value(
        &mut problems,
        value,
        schema,
        is_resource,
        &Place::Root(path),
    );
    problems.into_list()
}

fn check_value(
    problems: &mut Problems,
    value: &Value,
    schema: &Schema,
    is_resource: bool,
    at: &Place<'_>,
) {
    match value {
        Value::Object(members) => check_object(problems, members, schema, is_resource, at),
        Value::Array(items) => {
            let Some(of_items) = schema.items.as_deref() else {
                return;
            };
            for (index, item) in items.iter().enumerate() {
                let at = &Place::Index(at, index);
                check_value(problems, item, of_items, of_items.is_embedded_resource, at);
            }
        }
        _ => {}
    }
}

fn check_object(
    problems: &mut Problems,
    members: &Map<String, Value>,
    schema: &Schema,
    is_resource: bool,
    at: &Place<'_>,
) {
    if is_resource {
        check_resource(problems, members, at);
    }
    for (name, member) in members {
        let (of_member, at) = match schema.property(name) {
            Some(property) => (property, Place::Child(at, name)),
            None => match schema.additional() {
                Some(additional) => (additional, Place::Key(at, name)),
                None => continue,
            },
        };
        check_value(
            problems,
            member,
            of_member,
            of_member.is_embedded_resource,
            &at,
        );
    }
}

fn check_resource(problems: &mut Problems, members: &Map<String, Value>, at: &Place<'_>) {
    for (name, rule) in [
        (
            "apiVersion",
            api_version_problem as fn(&str) -> Option<String>,
        ),
        ("kind", kind_problem),
    ] {
        match members.get(name) {
            None => problems.require(at, name, ""),
            Some(Value::String(text)) => {
                let problem = if text.is_empty() {
                    Some("must not be empty".to_owned())
                } else {
                    rule(text)
                };
                if let Some(detail) = problem {
                    problems.add_child(at, name, |path| FieldError::invalid(path, text, detail));
                }
            }
            Some(other) => problems.add_child(at, name, |path| {
                FieldError::invalid(path, bad_value(other), "must be a string")
            }),
        }
    }
    let Some(metadata) = members.get("metadata") else {
        return;
    };
    match decode(metadata) {
        Ok(Decoded { mut meta, .. }) => {
            if meta.name.is_empty() {
                // A name is not required, and any valid one will do.
                meta.name = "name".into();
            }
            let path = at.path().child("metadata");
            problems.extend(object_meta::validate(&meta, &path));
        }
        Err(detail) => problems.add_child(at, "metadata", |path| {
            FieldError::invalid(path, bad_value(metadata), detail)
        }),
    }
}

fn api_version_problem(text: &str) -> Option<String> {
    let is_group_version = text == "/" || text.matches('/').count() <= 1;
    (!is_group_version).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn kind_problem(text: &str) -> Option<String> {
    let problems = validate_name::dns1035_label(&text.to_lowercase());
    (!problems.is_empty()).then(|| {
        let problems = problems.join(",");
        format!("may have mixed case, but should otherwise match: {problems}")
    })
}
