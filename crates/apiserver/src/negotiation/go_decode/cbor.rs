//! The same for CBOR, whose decoder names types by itself, and of a path only its first field.

use super::{Stop, Walk};
use crate::negotiation::go_decode::names::Target;
use kubist_apimachinery::wire::{FieldType, Schema};

/// What is decoded.
#[derive(Clone, Copy)]
pub(super) struct Root {
    package: &'static str,
    name: &'static str,
}

/// Returns the error that Go's decoder reports of CBOR with this JSON form, if it would report one.
/// The message is of a Go package, such as `v1`.
pub(crate) fn first_error(
    json: &[u8],
    schema: &'static Schema,
    package: &'static str,
) -> Option<String> {
    let mut walk = Walk::new(json);
    walk.cbor = Some(Root {
        package,
        name: schema.name,
    });
    match walk.all(Target::plain(FieldType::Message(schema))) {
        Ok(first) => first,
        Err(Stop::Refused(words)) => Some(words),
        Err(Stop::Lost) => None,
    }
}

impl Root {
    pub(super) fn mismatch(self, found: &str, field: Option<&str>, go_name: &str) -> String {
        let found = named(found);
        let place = match field {
            Some(field) => format!("struct field {}.{}.{field}", self.package, self.name),
            None => "value".to_owned(),
        };
        format!("cbor: cannot unmarshal {found} into Go {place} of type {go_name}")
    }
}

/// Returns the name of a struct that an array was meant for, with the reason why it cannot be.
pub(super) fn into_array(root: Option<Root>, target: Target) -> Option<String> {
    let is_struct = matches!(target.ty, FieldType::Message(_));
    root.filter(|_| is_struct).map(|_| {
        let why = "cannot decode CBOR array to struct without toarray option";
        format!("{} ({why})", target.go_name())
    })
}

/// Returns the name of what has this one in JSON. Strings are bytes, as Kubernetes writes them.
fn named(found: &str) -> &str {
    let Some(number) = found.strip_prefix("number") else {
        return match found {
            "object" => "map",
            "string" => "byte string",
            "bool" => "primitives",
            other => other,
        };
    };
    if number.contains(['.', 'e', 'E']) {
        "primitives"
    } else if number.trim_start().starts_with('-') {
        "negative integer"
    } else {
        "positive integer"
    }
}
