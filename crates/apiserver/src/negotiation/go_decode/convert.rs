//! The errors of Go's converter for a tree that does not match a schema. Strategic patches use it
//! instead of the decoder.
//!
//! It visits the fields in the order of the struct, and stops at the first error.

use super::names::{self, Name, Target};
use super::{Stop, Walk};
use kubist_apimachinery::ByteString;
use kubist_apimachinery::wire::{FieldType, JsonForm, Schema};
use serde_json::Value;

type Conversion = Result<(), String>;

/// Returns the first error of the converter, if any.
pub(crate) fn first_error(tree: &Value, schema: &'static Schema) -> Option<String> {
    convert(tree, Target::plain(FieldType::Message(schema))).err()
}

fn convert(value: &Value, target: Target) -> Conversion {
    if value.is_null() {
        return Ok(());
    }
    match target.ty {
        FieldType::Str => match value {
            Value::String(_) => Ok(()),
            Value::Number(number) if is_int(number) => Err(no_conversion("int64", &target)),
            _ => Err("unrecognized type: string".to_owned()),
        },
        FieldType::Bool if value.is_boolean() => Ok(()),
        FieldType::Bool => Err("unrecognized type: bool".to_owned()),
        FieldType::I32 => int(value, "int32", &target),
        FieldType::I64 => int(value, "int64", &target),
        FieldType::F64 if value.is_number() => Ok(()),
        FieldType::F64 => Err("unrecognized type: float64".to_owned()),
        FieldType::Message(schema) => message(value, schema),
        FieldType::Bytes => bytes(value),
        FieldType::StrMap | FieldType::BytesMap | FieldType::MessageMap(_) => match value {
            Value::Object(map) => items(map.values(), &target),
            _ => Err(format!("cannot restore map from {}", kind(value))),
        },
        FieldType::StrList
        | FieldType::BoolList
        | FieldType::I32List
        | FieldType::I64List
        | FieldType::BytesList
        | FieldType::MessageList(_) => list(value, &target),
    }
}

fn list(value: &Value, target: &Target) -> Conversion {
    match value {
        Value::Array(list) => items(list.iter(), target),
        _ => Err(format!("cannot restore slice from {}", kind(value))),
    }
}

fn items<'v>(mut items: impl Iterator<Item = &'v Value>, target: &Target) -> Conversion {
    match target.item() {
        Some(item) => items.try_for_each(|value| convert(value, item)),
        None => Ok(()),
    }
}

fn message(value: &Value, schema: &'static Schema) -> Conversion {
    match schema.form {
        JsonForm::Object => {}
        JsonForm::Scalar => {
            let json = value.to_string();
            let target = Target::plain(FieldType::Message(schema));
            return match Walk::new(json.as_bytes()).all(target) {
                Ok(Some(words)) | Err(Stop::Refused(words)) => Err(words),
                Ok(None) | Err(Stop::Lost) => Ok(()),
            };
        }
        JsonForm::Transparent => {
            let Some(field) = schema.fields.first() else {
                return Ok(());
            };
            let (ty, name) = (field.ty, Name::Of(schema));
            return convert(value, Target { ty, name });
        }
        JsonForm::Raw | JsonForm::Union => return Ok(()),
    }
    let Value::Object(map) = value else {
        return Err(format!("cannot restore struct from: {}", kind(value)));
    };
    let type_meta: &[&str] = match schema.kind {
        Some(_) => &["kind", "apiVersion"],
        None => &[],
    };
    let fields = schema.fields.iter().map(|field| field.json);
    for name in type_meta.iter().copied().chain(fields) {
        if let Some(value) = map.get(name)
            && let Some(field) = names::field(schema, name)
        {
            convert(value, field.target)?;
        }
    }
    Ok(())
}

fn bytes(value: &Value) -> Conversion {
    match value {
        Value::String(text) => match ByteString::parse_base64(text) {
            Ok(_) => Ok(()),
            Err(index) => Err(format!(
                "error decoding from json: illegal base64 data at input byte {index}"
            )),
        },
        Value::Array(list) => list.iter().try_for_each(|item| match item {
            Value::Null | Value::Number(_) => Ok(()),
            _ => Err("unrecognized type: uint8".to_owned()),
        }),
        _ => Err(format!("cannot restore slice from {}", kind(value))),
    }
}

fn int(value: &Value, name: &str, target: &Target) -> Conversion {
    match value {
        Value::Number(number) if is_int(number) => Ok(()),
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0) => Ok(()),
        Value::Number(_) => Err(no_conversion("float64", target)),
        _ => Err(format!("unrecognized type: {name}")),
    }
}

fn no_conversion(from: &str, to: &Target) -> String {
    format!("cannot convert {from} to {}", to.go_name())
}

/// Whether Go parses it as an integer.
fn is_int(number: &serde_json::Number) -> bool {
    number.is_i64()
}

/// The kind of the corresponding Go value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if is_int(number) => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::find_kind;
    use serde_json::json;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn trees_are_refused_with_the_converters_errors() {
        for (kind, tree, words) in [
            (
                "Pod",
                json!({"spec": "text"}),
                "cannot restore struct from: string",
            ),
            (
                "Pod",
                json!({"metadata": []}),
                "cannot restore struct from: slice",
            ),
            (
                "Pod",
                json!({"spec": {"containers": "text"}}),
                "cannot restore slice from string",
            ),
            (
                "Pod",
                json!({"spec": {"containers": [{"name": "main", "image": 5}]}}),
                "cannot convert int64 to string",
            ),
            (
                "Pod",
                json!({"spec": {"restartPolicy": 5}}),
                "cannot convert int64 to v1.RestartPolicy",
            ),
            (
                "Pod",
                json!({"spec": {"activeDeadlineSeconds": "5"}}),
                "unrecognized type: int64",
            ),
            (
                "Pod",
                json!({"spec": {"activeDeadlineSeconds": 1.5}}),
                "cannot convert float64 to int64",
            ),
            (
                "Pod",
                json!({"spec": {"hostNetwork": "yes"}}),
                "unrecognized type: bool",
            ),
            (
                "Pod",
                json!({"metadata": {"labels": {"a": ["x"]}}}),
                "unrecognized type: string",
            ),
            (
                "ConfigMap",
                json!({"data": []}),
                "cannot restore map from slice",
            ),
            (
                "ConfigMap",
                json!({"data": {"a": "x", "b": true}}),
                "unrecognized type: string",
            ),
            (
                "Secret",
                json!({"data": {"a": "!"}}),
                "error decoding from json: illegal base64 data at input byte 0",
            ),
            (
                "Pod",
                json!({"metadata": {"creationTimestamp": 7}}),
                "json: cannot unmarshal number into Go value of type string",
            ),
            (
                "Pod",
                json!({"kind": 7, "metadata": []}),
                "cannot convert int64 to string",
            ),
        ] {
            let found = find_kind("", "v1", kind).expect("it is built in");
            let found = first_error(&tree, found.schema());
            assert_eq!(found.as_deref(), Some(words), "{tree}");
        }
    }

    #[test]
    fn trees_that_fit_convert() {
        let pod = find_kind("", "v1", "Pod").expect("it is built in").schema();
        for tree in [
            json!({"kind": "Pod", "metadata": {"labels": null}, "spec": {"x": 1}}),
            json!({"spec": {"activeDeadlineSeconds": 5.0, "hostNetwork": true}}),
            json!({"spec": {"containers": [{"ports": [{"containerPort": 80}]}]}}),
        ] {
            assert_eq!(first_error(&tree, pod), None, "{tree}");
        }
    }
}
