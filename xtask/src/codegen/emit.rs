//! Rust text from the model: one file a group version.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::model::{Entry, Struct, StructField};
use super::names;
use super::schema::Schema;

/// The text of one group version's file.
pub(crate) fn module(schema: &Schema, structs: &[Struct]) -> String {
    let mut out = String::new();
    let kinds = Kinds::new(schema);
    for item in structs {
        emit_struct(&mut out, item);
        emit_schema(&mut out, item);
        emit_message(&mut out, item);
        kinds.emit_resource(&mut out, item);
    }

    format!("{}{out}", imports(&out))
}

fn imports(text: &str) -> String {
    let mut names: Vec<&str> = [
        "ByteString",
        "Condition",
        "Duration",
        "FieldsV1",
        "IntOrString",
        "LabelSelector",
        "LabelSelectorRequirement",
        "List",
        "ListMeta",
        "ManagedFieldsEntry",
        "MicroTime",
        "ObjectMeta",
        "OwnerReference",
        "Quantity",
        "RawExtension",
        "RawJson",
        "Status",
        "Str",
        "Time",
    ]
    .into_iter()
    .filter(|name| uses(text, name))
    .collect();
    names.push("message");
    names.push("message_debug");
    if text.contains("resource!(") {
        names.push("resource");
    }
    let mut wire = vec!["JsonForm", "Schema"];
    for (name, mark) in [
        ("Entry as E", "E::"),
        ("FieldType as T", "T::"),
        ("KindFacts", "KindFacts"),
        ("ListType as L", "L::"),
        ("Wire", "as Wire>"),
    ] {
        if text.contains(mark) {
            wire.push(name);
        }
    }
    let mut out = String::new();
    if text.contains("BTreeMap<") {
        out.push_str("use std::collections::BTreeMap;\n\n");
    }
    let _ = writeln!(
        out,
        "use kubist_apimachinery::wire::{{{}}};",
        wire.join(", ")
    );
    let _ = writeln!(out, "use kubist_apimachinery::{{{}}};\n", names.join(", "));
    let mut helpers = Vec::new();
    if text.contains("f(\"") {
        helpers.push("field as f");
    }
    if text.contains("m(true") || text.contains("m(false") {
        helpers.push("merge as m");
    }
    if !helpers.is_empty() {
        let _ = writeln!(out, "use crate::facts::{{{}}};\n", helpers.join(", "));
    }
    out
}

/// Whether a word stands alone somewhere in the text.
fn uses(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let joins =
            |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"');
        let path = text[..at].ends_with("::") || text[..at].ends_with("pub struct ");
        !joins(before) && !joins(after) && !path
    })
}

fn emit_struct(out: &mut String, item: &Struct) {
    let _ = writeln!(out, "/// `{}`.", item.full_name);
    out.push_str("#[derive(Clone, Default, PartialEq)]\n");
    let _ = writeln!(out, "pub struct {} {{", item.name);
    for field in &item.fields {
        let _ = writeln!(out, "    pub {}: {},", field.rust, field.rust_type);
    }
    out.push_str("}\n\n");
}

fn emit_schema(out: &mut String, item: &Struct) {
    let _ = writeln!(
        out,
        "static {}: Schema = Schema {{",
        names::constant(&item.name)
    );
    let _ = writeln!(
        out,
        "    name: {:?},\n    full_name: {:?},",
        item.name, item.full_name
    );
    match item.kinds.first() {
        Some([group, version, kind]) => {
            let api_version = api_version(group, version);
            let _ = writeln!(
                out,
                "    kind: Some(KindFacts {{ group: {group:?}, version: {version:?}, \
                 kind: {kind:?}, api_version: {api_version:?} }}),"
            );
        }
        None => out.push_str("    kind: None,\n"),
    }
    let _ = writeln!(out, "    form: JsonForm::{},\n    fields: &[", item.form);
    for field in &item.fields {
        emit_field(out, field);
    }
    out.push_str("    ],\n    by_name: &[");
    let mut by_name: Vec<usize> = (0..item.fields.len()).collect();
    by_name.sort_by(|&left, &right| item.fields[left].json.cmp(&item.fields[right].json));
    out.push_str(&join(&by_name));
    out.push_str("],\n    order: &[");
    out.push_str(&entries(&item.order));
    out.push_str("],\n};\n\n");
}

fn entries(order: &[Entry]) -> String {
    let text = order.iter().map(|entry| match entry {
        Entry::Field(index) => format!("E::Field({index})"),
        Entry::Group(number, inner) => {
            format!(
                "E::Group {{ number: {number}, entries: &[{}] }}",
                entries(inner)
            )
        }
    });
    text.collect::<Vec<_>>().join(", ")
}

fn join(indexes: &[usize]) -> String {
    indexes
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn emit_field(out: &mut String, field: &StructField) {
    let StructField {
        json,
        number,
        field_type,
        flags,
        ..
    } = field;
    let _ = write!(out, "        f({json:?}, {number}, {field_type}, {flags})");
    if let Some(merge) = &field.merge {
        let _ = write!(out, ".with_merge({merge})");
    }
    if let Some(list) = &field.list {
        let _ = write!(out, ".with_list({list})");
    }
    out.push_str(",\n");
}

fn emit_message(out: &mut String, item: &Struct) {
    let fields: Vec<String> = item
        .fields
        .iter()
        .enumerate()
        .map(|(i, field)| format!("{i} {}", field.rust))
        .collect();
    let _ = writeln!(
        out,
        "message_debug!({});\nmessage!({}, {}, [{}]);\n",
        item.name,
        item.name,
        names::constant(&item.name),
        fields.join(", ")
    );
}

pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// What is known of each kind besides its message.
struct Kinds {
    facts: BTreeMap<[String; 3], (String, String, bool)>,
}

impl Kinds {
    fn new(schema: &Schema) -> Self {
        let mut facts = BTreeMap::new();
        for group in &schema.groups {
            for version in &group.versions {
                for kind in &version.kinds {
                    let key = [
                        group.name.clone(),
                        version.version.clone(),
                        kind.kind.clone(),
                    ];
                    let served = version.resources.iter().find(|it| it.kind == kind.kind);
                    let singular = served.map_or_else(
                        || kind.kind.to_lowercase(),
                        |resource| resource.singular.clone(),
                    );
                    let plural = served.map_or_else(|| kind.plural.clone(), |it| it.name.clone());
                    let namespaced = served
                        .map(|resource| resource.namespaced)
                        .or(kind.namespaced)
                        .unwrap_or(true);
                    facts.insert(key, (plural, singular, namespaced));
                }
            }
        }
        Self { facts }
    }

    fn emit_resource(&self, out: &mut String, item: &Struct) {
        let Some(key) = item.kinds.first() else {
            return;
        };
        let is_object = item
            .fields
            .iter()
            .any(|field| field.rust == "metadata" && field.rust_type == "ObjectMeta");
        if !is_object {
            return;
        }
        let fallback = (
            format!("{}s", key[2].to_lowercase()),
            key[2].to_lowercase(),
            true,
        );
        let (plural, singular, namespaced) = self.facts.get(key).unwrap_or(&fallback);
        let plural = if plural.is_empty() {
            &fallback.0
        } else {
            plural
        };
        let scope = if *namespaced {
            "Namespaced"
        } else {
            "ClusterScoped"
        };
        let [group, version, kind] = key;
        let _ = writeln!(
            out,
            "resource!({}, {group:?}, {version:?}, {:?}, {kind:?}, {plural:?}, {singular:?}, \
             {scope});\n",
            item.name,
            api_version(group, version)
        );
        let _ = writeln!(
            out,
            "/// A list of [`{name}`].\npub type {name}List = List<{name}>;\n",
            name = item.name
        );
    }
}
