//! `FieldType`: the Rust type of a field, and its presence rules, from the Go type.

use super::{Module, StructField, module_of};
use crate::codegen::emitted::{by_hand, is_plain_list};
use crate::codegen::names;
use crate::codegen::schema::{Field, Schema};
use crate::process::Outcome;

/// The type of a field.
#[derive(Debug, PartialEq)]
pub(crate) struct FieldType {
    shape: Shape,
    inner: Inner,
}

/// How a field holds its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    One,
    Option,
    OptionBox,
    List,
    Map,
    MapOfBoxes,
}

/// The type of the values.
#[derive(Debug, PartialEq)]
enum Inner {
    Scalar {
        rust: &'static str,
        variant: &'static str,
    },
    Message(Target),
}

/// A message that a field refers to.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// A struct of the same module.
    Here(String),
    /// A struct of another module.
    Elsewhere(Module, String),
    /// A type of `kubist-apimachinery`.
    ByHand(&'static str),
}

impl Target {
    /// The Rust name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Here(name) | Self::Elsewhere(_, name) => name,
            Self::ByHand(name) => name,
        }
    }

    /// The module and the name, for a field in this module; none for types made by hand.
    pub(crate) fn place<'a>(&'a self, module: &'a Module) -> Option<(&'a Module, &'a str)> {
        match self {
            Self::Here(name) => Some((module, name)),
            Self::Elsewhere(module, name) => Some((module, name)),
            Self::ByHand(_) => None,
        }
    }
}

impl FieldType {
    /// The Rust type: `Vec<Container>`, where `inner` is the type of the values.
    pub(crate) fn rust(&self, inner: &str) -> String {
        match self.shape {
            Shape::One => inner.to_owned(),
            Shape::Option => format!("Option<{inner}>"),
            Shape::OptionBox => format!("Option<Box<{inner}>>"),
            Shape::List => format!("Vec<{inner}>"),
            Shape::Map => format!("BTreeMap<Str, {inner}>"),
            Shape::MapOfBoxes => format!("BTreeMap<Str, Box<{inner}>>"),
        }
    }

    /// The variant of `FieldType`: `MessageList`.
    pub(crate) fn variant(&self) -> String {
        let variant = match &self.inner {
            Inner::Scalar { variant, .. } => variant,
            Inner::Message(_) => "Message",
        };
        let suffix = match self.shape {
            Shape::One | Shape::Option | Shape::OptionBox => "",
            Shape::List => "List",
            Shape::Map | Shape::MapOfBoxes => "Map",
        };
        format!("{variant}{suffix}")
    }

    /// The message that it refers to, if any.
    pub(crate) fn target(&self) -> Option<&Target> {
        match &self.inner {
            Inner::Scalar { .. } => None,
            Inner::Message(target) => Some(target),
        }
    }

    /// The Rust scalar of the values, if they are no messages.
    pub(crate) fn scalar(&self) -> Option<&'static str> {
        match self.inner {
            Inner::Scalar { rust, .. } => Some(rust),
            Inner::Message(_) => None,
        }
    }

    /// How the field holds its values.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn is_map(&self) -> bool {
        self.shape == Shape::Map
    }

    pub(super) fn is_object_meta(&self) -> bool {
        self.target() == Some(&Target::ByHand("ObjectMeta"))
    }
}

/// The presence rules of a field, as `FieldFlags` has them.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent of each other"
)]
pub(crate) struct Presence {
    pub(crate) required: bool,
    pub(crate) pointer: bool,
    pub(crate) omit_empty: bool,
    pub(crate) omit_zero: bool,
}

/// Resolves a field; the caller adds the documentation.
pub(super) fn resolve(schema: &Schema, module: &Module, field: &Field) -> Outcome<StructField> {
    let json = [&field.json, &field.proto, &lower_first(&field.go)]
        .into_iter()
        .find(|name| !name.is_empty())
        .ok_or("a field without a name")?
        .clone();
    let (field_type, pointer) = resolve_type(schema, module, &field.type_)?;
    let rust = names::field(if field.json.is_empty() && !field.go.is_empty() {
        &field.go
    } else {
        &json
    });
    Ok(StructField {
        rust,
        json,
        docs: Vec::new(),
        number: field.num,
        field_type,
        presence: Presence {
            required: field.required,
            pointer,
            omit_empty: field.omit.contains("empty"),
            omit_zero: field.omit.contains("zero"),
        },
        merge: merge(field)?,
        list: list_type(field),
        keys: keys(field),
    })
}

fn lower_first(go: &str) -> String {
    let mut chars = go.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

fn merge(field: &Field) -> Outcome<Option<String>> {
    let key = &field.patch_merge_key;
    Ok(Some(match field.patch_strategy.as_str() {
        "" if key.is_empty() => return Ok(None),
        "merge" if key.is_empty() => "Merge::SET".to_owned(),
        "merge" => format!("Merge::by({key:?})"),
        "merge,retainKeys" => format!("Merge::by({key:?}).and_retain_keys()"),
        "retainKeys" if key.is_empty() => "Merge::RETAIN_KEYS".to_owned(),
        "replace" if key.is_empty() => "Merge::REPLACE".to_owned(),
        other => return Err(format!("patch strategy `{other}` with key `{key}`").into()),
    }))
}

/// Returns the keys by which server-side apply knows the items of a list.
fn keys(field: &Field) -> Vec<String> {
    match (field.list_type.as_str(), field.patch_strategy.as_str()) {
        ("map", _) => field.list_map_keys.clone(),
        ("", strategy) if strategy.starts_with("merge") => {
            let key = field.patch_merge_key.clone();
            Some(key).filter(|it| !it.is_empty()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn list_type(field: &Field) -> Option<String> {
    match field.list_type.as_str() {
        "atomic" => Some("ListType::Atomic".to_owned()),
        "set" => Some("ListType::Set".to_owned()),
        "map" => Some(format!("ListType::Map(&{:?})", field.list_map_keys)),
        _ => match field.map_type.as_str() {
            "atomic" => Some("ListType::Atomic".to_owned()),
            "granular" => Some("ListType::Granular".to_owned()),
            _ => None,
        },
    }
}

/// Resolves a Go type, and reports whether it is a pointer.
fn resolve_type(schema: &Schema, module: &Module, go: &str) -> Outcome<(FieldType, bool)> {
    let (pointer, inner) = go
        .strip_prefix('*')
        .map_or((false, go), |inner| (true, inner));
    let (shape, name) = if let Some(name) = inner.strip_prefix("map[string]") {
        (Shape::Map, name)
    } else if let Some(name) = inner.strip_prefix("[]").filter(|_| inner != "[]byte") {
        (Shape::List, name)
    } else if pointer {
        (Shape::Option, inner)
    } else {
        (Shape::One, inner)
    };
    let Some((rust, variant)) = scalar(name) else {
        return resolve_message(schema, module, name.trim_start_matches('*'), shape);
    };
    let inner = Inner::Scalar { rust, variant };
    Ok((FieldType { shape, inner }, shape == Shape::Option))
}

/// Returns the Rust type and the `FieldType` variant of a Go scalar.
fn scalar(go: &str) -> Option<(&'static str, &'static str)> {
    Some(match go {
        "bool" => ("bool", "Bool"),
        "int" | "int32" => ("i32", "I32"),
        "int64" => ("i64", "I64"),
        "float64" | "double" => ("f64", "F64"),
        "string" => ("Str", "Str"),
        "bytes" | "[]byte" => ("ByteString", "Bytes"),
        _ => return None,
    })
}

/// Reports whether a field of the message is a map to the same message: a tree.
fn contains_itself(schema: &Schema, full_name: &str) -> bool {
    let map = format!("map[string]{full_name}");
    let message = schema.messages.get(full_name);
    message.is_some_and(|it| it.fields.iter().any(|field| field.type_ == map))
}

fn resolve_message(
    schema: &Schema,
    module: &Module,
    full_name: &str,
    shape: Shape,
) -> Outcome<(FieldType, bool)> {
    let is_single = matches!(shape, Shape::One | Shape::Option);
    if let Some(message) = schema.messages.get(full_name)
        && is_plain_list(message)
        && is_single
    {
        return resolve_type(schema, module, &format!("[]{}", message.item));
    }
    let (target, is_small) = if let Some((name, is_small)) = by_hand(full_name) {
        (Target::ByHand(name), is_small)
    } else {
        if !schema.messages.contains_key(full_name) {
            return Err(format!("unknown type {full_name}").into());
        }
        let home = module_of(full_name).ok_or("no module")?;
        let name = full_name.rsplit('.').next().unwrap_or_default().to_owned();
        if home == *module {
            (Target::Here(name), false)
        } else {
            (Target::Elsewhere(home, name), false)
        }
    };
    let is_time = matches!(target, Target::ByHand("Time" | "MicroTime"));
    let held = match shape {
        Shape::Option if !is_small => Shape::OptionBox,
        // A node of a map has room for eleven values. Schemas are large, and most objects of a
        // schema have few members.
        Shape::Map if contains_itself(schema, full_name) => Shape::MapOfBoxes,
        // A zero Go time is an absent time.
        Shape::One if is_time => Shape::Option,
        other => other,
    };
    let inner = Inner::Message(target);
    let field_type = FieldType { shape: held, inner };
    Ok((field_type, shape == Shape::Option))
}
