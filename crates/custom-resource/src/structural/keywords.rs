//! The keywords of one schema: which are kept, and how they are written in a definition.

use super::{INT_OR_STRING, Object, PRESERVE};
use serde_json::Value;

/// The formats that a kube-apiserver v1.36 knows; it ignores others with a warning.
const FORMATS: [&str; 29] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "date-time",
    "int32",
    "int64",
    "float",
    "double",
    "datetime",
];

/// Copies a keyword that concerns the value itself. Schemas within it are rewritten elsewhere;
/// keywords that a definition cannot have are left out.
pub(super) fn copy_keyword(out: &mut Object, name: &str, value: &Value) {
    let mut put = |name: &str, value: Value| {
        out.insert(name.to_owned(), value);
    };
    match name {
        "description" | "minimum" | "maximum" | "multipleOf" | "minLength" | "maxLength"
        | "pattern" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "required"
        | "format" | "uniqueItems" => put(name, value.clone()),
        "exclusiveMinimum" | "exclusiveMaximum" if value.is_number() => {
            put(&name.replace("exclusiveM", "m"), value.clone());
            put(name, true.into());
        }
        "nullable" if value == true => put(name, true.into()),
        "default" if !value.is_null() => {
            let mut value = value.clone();
            remove_nulls(&mut value);
            put(name, value);
        }
        "const" => put("enum", Value::Array(vec![value.clone()])),
        "enum" => {
            let values = value.as_array().map_or(&[][..], Vec::as_slice);
            if values.iter().any(Value::is_null) {
                put("nullable", true.into());
            }
            let kept = values.iter().filter(|it| !it.is_null()).cloned().collect();
            put(name, Value::Array(kept));
        }
        "type" => copy_type(out, value),
        _ if name.starts_with("x-kubernetes-") => put(name, value.clone()),
        _ => {}
    }
}

fn copy_type(out: &mut Object, value: &Value) {
    let one = [value.clone()];
    let types = value.as_array().map_or(&one[..], Vec::as_slice);
    let named: Vec<&str> = types.iter().filter_map(Value::as_str).collect();
    let kept: Vec<&str> = named.iter().copied().filter(|it| *it != "null").collect();
    if kept.len() < named.len() {
        out.insert("nullable".to_owned(), true.into());
    }
    match kept.as_slice() {
        // `()` is null alone.
        [] => out.insert("type".to_owned(), "object".into()),
        [one] => out.insert("type".to_owned(), (*one).into()),
        ["integer", "string"] | ["string", "integer"] => {
            out.insert(INT_OR_STRING.to_owned(), true.into())
        }
        _ => out.insert(PRESERVE.to_owned(), true.into()),
    };
}

/// Servers drop nulls of fields with a default, and refuse a default with nulls that are not
/// nullable.
fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// Makes one schema structural, once all of its parts are.
pub(super) fn finish(out: &mut Object) {
    if out.get(INT_OR_STRING).is_some_and(|it| it == true) {
        // A pattern is for the string; a definition may have it.
        for name in ["type", "format", PRESERVE] {
            out.remove(name);
        }
        return;
    }
    number_format(out);
    if !out.contains_key("type")
        && let Some(kind) = implied_type(out)
    {
        out.insert("type".to_owned(), kind.into());
    }
    enum_without_null(out);
    match out.get("type").and_then(Value::as_str) {
        None => {
            out.insert(PRESERVE.to_owned(), true.into());
            let described = ["description", "nullable", "default"];
            out.retain(|name, _| name.starts_with("x-kubernetes-") || described.contains(&&**name));
        }
        Some("object") => finish_object(out),
        Some("array") => finish_array(out),
        _ => {}
    }
}

/// Servers compare null with the values of an enum, and never find it, even if it is one of them
/// (`basicCommonValidator` of kube-openapi). Null passes what is below `allOf`.
fn enum_without_null(out: &mut Object) {
    if out.contains_key("nullable")
        && let Some(values) = out.remove("enum")
    {
        let check: Object = [("enum".to_owned(), values)].into_iter().collect();
        let all = out
            .entry("allOf")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(all) = all {
            all.push(check.into());
        }
    }
}

fn implied_type(out: &Object) -> Option<&'static str> {
    if out.contains_key("properties") || out.contains_key("additionalProperties") {
        return Some("object");
    }
    if out.contains_key("items") {
        return Some("array");
    }
    let values = out.get("enum")?.as_array()?;
    let all = |is: fn(&Value) -> bool| !values.is_empty() && values.iter().all(is);
    if all(Value::is_string) {
        Some("string")
    } else if all(|it| it.is_i64() || it.is_u64()) {
        Some("integer")
    } else if all(Value::is_number) {
        Some("number")
    } else if all(Value::is_boolean) {
        Some("boolean")
    } else {
        None
    }
}

fn finish_object(out: &mut Object) {
    out.remove("enum");
    let any = |it: &Value| it.as_object().is_some_and(is_anything);
    let values = out.get("additionalProperties");
    // Values of any form, or other members beside known ones.
    if values.is_some_and(any) || (values.is_some() && out.contains_key("properties")) {
        out.remove("additionalProperties");
        out.insert(PRESERVE.to_owned(), true.into());
    }
}

fn is_anything(schema: &Object) -> bool {
    schema.contains_key(PRESERVE)
        && schema
            .keys()
            .all(|it| it == PRESERVE || it == "description")
}

fn finish_array(out: &mut Object) {
    let items = out
        .entry("items")
        .or_insert_with(|| super::anything().into());
    let items = items.get("type").and_then(Value::as_str);
    let scalar = items.is_some_and(|it| it != "object" && it != "array");
    // Kubernetes has no `uniqueItems`, but sets of scalars.
    if out.remove("uniqueItems").is_some_and(|it| it == true) && scalar {
        let list_type = "x-kubernetes-list-type";
        out.entry(list_type).or_insert_with(|| "set".into());
    }
}

/// Kubernetes has signed integers of 32 and 64 bits: others are written as bounds.
fn number_format(out: &mut Object) {
    let Some(format) = out.get("format").and_then(Value::as_str) else {
        return;
    };
    let max = match format {
        "uint32" => Some(u64::from(u32::MAX)),
        "uint8" | "int8" | "uint16" | "int16" | "uint" | "uint64" | "int" => None,
        _ => {
            if !FORMATS.contains(&format) {
                out.remove("format");
            }
            return;
        }
    };
    let wide = !matches!(format, "uint8" | "int8" | "uint16" | "int16");
    let format = if wide { "int64" } else { "int32" };
    out.insert("format".to_owned(), format.into());
    if let Some(max) = max {
        out.entry("maximum").or_insert_with(|| max.into());
    }
}
