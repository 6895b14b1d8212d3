//! Rust text from the model: one file a group version.

use std::fmt::Write as _;

use super::kinds::{Kinds, api_version};
use super::model::{Entry, Struct, StructField};
use super::names;
use super::rustdoc;
use super::schema::Schema;

/// The text of one group version's file.
pub(crate) fn module(schema: &Schema, structs: &[Struct]) -> String {
    let mut out = String::new();
    let kinds = Kinds::new(schema);
    for item in structs {
        emit_struct(&mut out, item);
        emit_schema(&mut out, item);
        emit_message(&mut out, item);
        emit_resource(&mut out, item, &kinds);
    }

    // Names in documentation need no imports.
    let is_code = |line: &&str| !line.trim_start().starts_with("///");
    let code: Vec<&str> = out.lines().filter(is_code).collect();
    format!("{}{out}", imports(&code.join("\n")))
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
    out.push_str(&rustdoc::comment(&item.docs, 0));
    out.push_str("#[derive(Clone, Default, PartialEq)]\n");
    let _ = writeln!(out, "pub struct {} {{", item.name);
    for field in &item.fields {
        out.push_str(&rustdoc::comment(&field.docs, 4));
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

fn emit_resource(out: &mut String, item: &Struct, kinds: &Kinds) {
    let Some([group, version, kind]) = item.kinds.first() else {
        return;
    };
    let is_object = item
        .fields
        .iter()
        .any(|field| field.rust == "metadata" && field.rust_type == "ObjectMeta");
    if !is_object {
        return;
    }
    let facts = kinds.of(&[group.clone(), version.clone(), kind.clone()]);
    let lower = kind.to_lowercase();
    let (mut plural, mut singular, mut scope) = (format!("{lower}s"), lower, "Namespaced");
    if let Some(facts) = facts {
        singular.clone_from(&facts.singular);
        if !facts.plural.is_empty() {
            plural.clone_from(&facts.plural);
        }
        if !facts.namespaced {
            scope = "ClusterScoped";
        }
    }
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
