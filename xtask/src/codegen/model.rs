//! The messages as Rust will have them: names, modules, field types, groups resolved.

use std::collections::{BTreeMap, BTreeSet};

use super::names;
use super::schema::{Field, Message, Schema};
use crate::process::Outcome;

/// Everything that is emitted, by group and version.
pub(crate) struct Model {
    pub(crate) modules: BTreeMap<Module, Vec<Struct>>,
}

/// A group and version as modules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Module {
    pub(crate) group: String,
    pub(crate) version: String,
}

impl Module {
    /// The feature that brings it.
    pub(crate) fn feature(&self) -> String {
        format!("{}-{}", self.group, self.version)
    }
}

/// A Rust struct.
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) full_name: String,
    pub(crate) form: &'static str,
    pub(crate) kinds: Vec<[String; 3]>,
    pub(crate) fields: Vec<StructField>,
    /// Protobuf order: a field, or a group of fields.
    pub(crate) order: Vec<Entry>,
    /// Other modules that it needs.
    pub(crate) needs: BTreeSet<Module>,
}

/// A field of a Rust struct.
pub(crate) struct StructField {
    pub(crate) rust: String,
    pub(crate) rust_type: String,
    pub(crate) json: String,
    pub(crate) number: u32,
    /// The `FieldType` expression.
    pub(crate) field_type: String,
    /// The bits of `FieldFlags`.
    pub(crate) flags: u8,
    pub(crate) merge: Option<String>,
    pub(crate) list: Option<String>,
}

/// An entry of the protobuf order.
pub(crate) enum Entry {
    Field(usize),
    Group(u32, Vec<Self>),
}

const OMIT_EMPTY: u8 = 1;
const OMIT_ZERO: u8 = 2;
const POINTER: u8 = 4;
const REQUIRED: u8 = 8;

/// Messages written by hand in `kubist-apimachinery`, by full name, and whether they are small
/// enough to stand in an `Option` without a box.
fn by_hand(full_name: &str) -> Option<(&'static str, bool)> {
    let name = full_name.rsplit('.').next().unwrap_or_default();
    let meta = full_name.starts_with("io.k8s.apimachinery.pkg.apis.meta.v1.");
    Some(match name {
        "Time" if meta => ("Time", true),
        "MicroTime" if meta => ("MicroTime", true),
        "Duration" if meta => ("Duration", true),
        "FieldsV1" if meta => ("FieldsV1", true),
        "ObjectMeta" if meta => ("ObjectMeta", false),
        "ListMeta" if meta => ("ListMeta", false),
        "OwnerReference" if meta => ("OwnerReference", false),
        "ManagedFieldsEntry" if meta => ("ManagedFieldsEntry", false),
        "LabelSelector" if meta => ("LabelSelector", false),
        "LabelSelectorRequirement" if meta => ("LabelSelectorRequirement", false),
        "Condition" if meta => ("Condition", false),
        "Status" if meta => ("Status", false),
        "StatusDetails" if meta => ("StatusDetails", false),
        "ShardInfo" if meta => ("ShardInfo", false),
        "StatusCause" if meta => ("StatusCause", false),
        "Quantity" if full_name.contains(".api.resource.") => ("Quantity", true),
        "IntOrString" if full_name.contains(".intstr.") => ("IntOrString", true),
        "RawExtension" if full_name.contains(".pkg.runtime.") => ("RawExtension", true),
        "JSON" if full_name.contains("apiextensions") => ("RawJson", true),
        _ => return None,
    })
}

/// Messages that are not emitted: the envelope and parts of JSON-only answers that `codec` has.
fn is_left_out(full_name: &str, message: &Message) -> bool {
    let name = full_name.rsplit('.').next().unwrap_or_default();
    let meta = full_name.contains(".meta.");
    by_hand(full_name).is_some()
        || full_name.contains(".pkg.runtime.")
        || full_name.contains(".util.")
        || full_name.contains(".api.resource.Q")
        || full_name.starts_with("time.")
        || (meta
            && (name.starts_with("Table")
                || matches!(name, "TypeMeta" | "Timestamp" | "List" | "InternalEvent")))
        || message.gvk.iter().any(|_| is_list_kind(message))
}

/// A list kind: `metadata` is a `ListMeta` and `items` a list; `List<K>` serves for all.
pub(crate) fn is_list_kind(message: &Message) -> bool {
    let has = |json: &str, suffix: &str| {
        message
            .fields
            .iter()
            .any(|field| field.json == json && field.type_.ends_with(suffix))
    };
    has("metadata", ".ListMeta") && message.fields.iter().any(|field| field.json == "items")
}

/// The module of a message; none for those outside the API groups.
fn module_of(full_name: &str) -> Option<Module> {
    let mut parts: Vec<&str> = full_name.split('.').collect();
    parts.pop()?;
    let version = parts.pop()?.to_owned();
    let group = parts.pop()?.replace('-', "_");
    Some(Module { group, version })
}

impl Model {
    /// Resolves the schema.
    pub(crate) fn new(schema: &Schema) -> Outcome<Self> {
        let mut modules: BTreeMap<Module, Vec<Struct>> = BTreeMap::new();
        for (full_name, message) in &schema.messages {
            if is_left_out(full_name, message) || is_plain_list(message) {
                continue;
            }
            let module = module_of(full_name).ok_or_else(|| format!("no module: {full_name}"))?;
            let item = Struct::new(schema, &module, full_name, message)?;
            modules.entry(module).or_default().push(item);
        }
        Ok(Self { modules })
    }
}

/// The kinds of a message. Request options are kinds of every group; `v1` stands for all.
fn kinds(schema: &Schema, full_name: &str, message: &Message) -> Vec<[String; 3]> {
    if !message.gvk.is_empty() {
        return message.gvk.clone();
    }
    let common = schema
        .common_kinds
        .iter()
        .filter(|(_, found)| *found == full_name);
    common
        .map(|(kind, _)| [String::new(), "v1".to_owned(), kind.clone()])
        .collect()
}

/// A named Go list whose protobuf form is the repeated field itself (`ValidationRules`).
fn is_plain_list(message: &Message) -> bool {
    !message.item.is_empty() && message.fields.is_empty()
}

impl Struct {
    fn new(schema: &Schema, module: &Module, full_name: &str, message: &Message) -> Outcome<Self> {
        let name = message.go.rsplit('.').next().unwrap_or_default().to_owned();
        let form = match message.form.as_str() {
            _ if !message.item.is_empty() => "Transparent",
            _ if name.starts_with("JSONSchemaPropsOr") => "Union",
            _ => "Object",
        };
        let mut item = Self {
            name,
            full_name: full_name.to_owned(),
            form,
            kinds: kinds(schema, full_name, message),
            fields: Vec::new(),
            order: Vec::new(),
            needs: BTreeSet::new(),
        };
        let mut numbered = Vec::new();
        for field in &message.fields {
            item.add(schema, module, field, &mut numbered)
                .map_err(|error| format!("{full_name}.{}: {error}", field.go))?;
        }
        numbered.sort_by_key(|&(number, _)| number);
        item.order = numbered.into_iter().map(|(_, entry)| entry).collect();
        item.needs.remove(module);
        Ok(item)
    }

    fn add(
        &mut self,
        schema: &Schema,
        module: &Module,
        field: &Field,
        numbered: &mut Vec<(u32, Entry)>,
    ) -> Outcome {
        if field.type_.ends_with(".TypeMeta") || field.json == "-" {
            return Ok(());
        }
        if field.inline {
            let inner = schema
                .messages
                .get(&field.type_)
                .ok_or_else(|| format!("{} is unknown", field.type_))?;
            let mut nested = Vec::new();
            for field in &inner.fields {
                self.add(schema, module, field, &mut nested)?;
            }
            nested.sort_by_key(|&(number, _)| number);
            let group = nested.into_iter().map(|(_, entry)| entry).collect();
            numbered.push((field.num, Entry::Group(field.num, group)));
            return Ok(());
        }
        let index = self.fields.len();
        let resolved = resolve(schema, module, field, &mut self.needs)?;
        self.fields.push(resolved);
        numbered.push((field.num, Entry::Field(index)));
        Ok(())
    }
}

/// A Go type as Rust has it.
struct Resolved {
    rust: String,
    field_type: String,
    pointer: bool,
}

fn resolve(
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
