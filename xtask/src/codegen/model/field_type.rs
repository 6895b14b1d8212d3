//! Go types of fields as Rust has them.

use std::collections::BTreeSet;

use super::{Module, StructField, by_hand, is_plain_list, module_of};
use crate::codegen::names;
use crate::codegen::schema::{Field, Schema};
use crate::process::Outcome;

const OMIT_EMPTY: u8 = 1;
const OMIT_ZERO: u8 = 2;
const POINTER: u8 = 4;
const REQUIRED: u8 = 8;

/// A Go type as Rust has it.
struct Resolved {
    rust: String,
    field_type: String,
    pointer: bool,
}

pub(super) fn resolve(
    schema: &Schema,
    module: &Module,
    field: &Field,
    needs: &mut BTreeSet<Module>,
) -> Outcome<StructField> {
    let json = [&field.json, &field.proto, &lower_first(&field.go)]
        .into_iter()
        .find(|name| !name.is_empty())
        .ok_or("a field without a name")?
        .clone();
    let resolved = resolve_type(schema, module, &field.type_, needs)?;
    let mut flags = 0;
    if field.omit.contains("empty") {
        flags |= OMIT_EMPTY;
    }
    if field.omit.contains("zero") {
        flags |= OMIT_ZERO;
    }
    if resolved.pointer {
        flags |= POINTER;
    }
    if field.required {
        flags |= REQUIRED;
    }
    Ok(StructField {
        rust: names::field(&json),
        rust_type: resolved.rust,
        json,
        docs: Vec::new(),
        number: field.num,
        field_type: resolved.field_type,
        flags,
        merge: merge(field),
        list: list_type(field),
    })
}

fn lower_first(go: &str) -> String {
    let mut chars = go.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

fn merge(field: &Field) -> Option<String> {
    if field.patch_strategy.is_empty() && field.patch_merge_key.is_empty() {
        return None;
    }
    let has = |what: &str| field.patch_strategy.split(',').any(|part| part == what);
    Some(format!(
        "m({}, {}, {}, {:?})",
        has("merge"),
        has("retainKeys"),
        has("replace"),
        field.patch_merge_key
    ))
}

fn list_type(field: &Field) -> Option<String> {
    match field.list_type.as_str() {
        "atomic" => Some("L::Atomic".to_owned()),
        "set" => Some("L::Set".to_owned()),
        "map" => Some(format!("L::Map(&{:?})", field.list_map_keys)),
        _ => None,
    }
}

fn resolve_type(
    schema: &Schema,
    module: &Module,
    go: &str,
    needs: &mut BTreeSet<Module>,
) -> Outcome<Resolved> {
    let (pointer, inner) = go
        .strip_prefix('*')
        .map_or((false, go), |inner| (true, inner));
    let scalar = |rust: &str, field_type: &str| Resolved {
        rust: if pointer {
            format!("Option<{rust}>")
        } else {
            rust.to_owned()
        },
        field_type: format!("T::{field_type}"),
        pointer,
    };
    let plain = |rust: &str, field_type: String| Resolved {
        rust: rust.to_owned(),
        field_type,
        pointer: false,
    };
    Ok(match inner {
        "bool" => scalar("bool", "Bool"),
        "int" | "int32" => scalar("i32", "I32"),
        "int64" => scalar("i64", "I64"),
        "float64" | "double" => scalar("f64", "F64"),
        "string" => scalar("Str", "Str"),
        "bytes" | "[]byte" => scalar("ByteString", "Bytes"),
        "[]string" => plain("Vec<Str>", "T::StrList".into()),
        "[]bool" => plain("Vec<bool>", "T::BoolList".into()),
        "[]int32" => plain("Vec<i32>", "T::I32List".into()),
        "[]int64" => plain("Vec<i64>", "T::I64List".into()),
        "[]bytes" | "[][]byte" => plain("Vec<ByteString>", "T::BytesList".into()),
        "map[string]string" => plain("BTreeMap<Str, Str>", "T::StrMap".into()),
        "map[string]bytes" | "map[string][]byte" => {
            plain("BTreeMap<Str, ByteString>", "T::BytesMap".into())
        }
        _ => return resolve_message(schema, module, inner, pointer, needs),
    })
}

fn resolve_message(
    schema: &Schema,
    module: &Module,
    go: &str,
    pointer: bool,
    needs: &mut BTreeSet<Module>,
) -> Outcome<Resolved> {
    let (shape, full_name) = if let Some(name) = go.strip_prefix("[]") {
        ("List", name)
    } else if let Some(name) = go.strip_prefix("map[string]") {
        ("Map", name)
    } else {
        ("", go)
    };
    let full_name = full_name.trim_start_matches('*');
    if let Some(message) = schema.messages.get(full_name)
        && is_plain_list(message)
        && shape.is_empty()
    {
        return resolve_type(schema, module, &format!("[]{}", message.item), needs);
    }
    let by_wire = |path: &str| format!("<{path} as Wire>::SCHEMA");
    let (path, facts, small) = if let Some((name, small)) = by_hand(full_name) {
        (name.to_owned(), by_wire(name), small)
    } else {
        if !schema.messages.contains_key(full_name) {
            return Err(format!("unknown type {go}").into());
        }
        let home = module_of(full_name).ok_or("no module")?;
        let name = full_name.rsplit('.').next().unwrap_or_default();
        if home == *module {
            // Named directly, as constants of types that contain each other would be circular.
            (
                name.to_owned(),
                format!("&{}", names::constant(name)),
                false,
            )
        } else {
            needs.insert(home.clone());
            let path = format!("crate::{}::{}::{name}", home.group, home.version);
            let facts = by_wire(&path);
            (path, facts, false)
        }
    };
    let time = matches!(path.as_str(), "Time" | "MicroTime");
    Ok(match shape {
        "List" => Resolved {
            rust: format!("Vec<{path}>"),
            field_type: format!("T::MessageList({facts})"),
            pointer: false,
        },
        "Map" => Resolved {
            rust: format!("BTreeMap<Str, {path}>"),
            field_type: format!("T::MessageMap({facts})"),
            pointer: false,
        },
        _ => Resolved {
            rust: match (pointer, small) {
                (true, false) => format!("Option<Box<{path}>>"),
                (true, true) => format!("Option<{path}>"),
                // A zero Go time is an absent time.
                (false, _) if time => format!("Option<{path}>"),
                (false, _) => path,
            },
            field_type: format!("T::Message({facts})"),
            pointer,
        },
    })
}
