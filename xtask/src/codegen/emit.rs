//! Rust text of the model: the file, or the files, of a group version.

use super::imports::{Scope, imports};
use super::kinds::{Kinds, api_version};
use super::layout::recursive;
use super::model::{Entry, Presence, Struct, StructField, Target};
use super::names;
use super::rustdoc;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Columns of a line.
const WIDTH: usize = 100;

/// Returns the text of a group version's only file.
pub(crate) fn whole(kinds: &Kinds, structs: &[&Struct]) -> String {
    let recursive = recursive(structs);
    let body = body(kinds, structs, &recursive);
    let imports = imports(structs, &body, |_| None);
    format!("{imports}{body}")
}

/// Returns the text of each file of a group version that is split, by file name.
pub(crate) fn parts<'a>(
    kinds: &Kinds,
    files: &BTreeMap<&'a str, Vec<&Struct>>,
) -> BTreeMap<&'a str, String> {
    let home = |name: &str| {
        let found = files
            .iter()
            .find(|(_, structs)| structs.iter().any(|it| it.name == name));
        found.map(|(home, _)| (*home).to_owned())
    };
    let all: Vec<&Struct> = files.values().flatten().copied().collect();
    let recursive = recursive(&all);
    let mut texts = BTreeMap::new();
    for (name, structs) in files {
        let body = body(kinds, structs, &recursive);
        let imports = imports(structs, &body, home);
        texts.insert(*name, format!("{imports}{body}"));
    }
    texts
}

/// Returns the text of the file above the files of a split group version.
pub(crate) fn index(files: &BTreeMap<&str, Vec<&Struct>>) -> String {
    let mut out = String::new();
    for name in files.keys() {
        let _ = writeln!(out, "mod {name};");
    }
    out.push('\n');
    for (name, structs) in files {
        let mut names: Vec<String> = structs.iter().map(|it| it.name.clone()).collect();
        let lists = structs.iter().filter(|it| it.is_object());
        names.extend(lists.map(|it| format!("{}List", it.name)));
        let _ = writeln!(out, "pub use self::{name}::{{{}}};", names.join(", "));
    }
    out
}

fn body(kinds: &Kinds, structs: &[&Struct], recursive: &BTreeSet<&str>) -> String {
    let scope = Scope::new(structs, recursive);
    let mut out = String::new();
    for item in structs {
        emit_struct(&mut out, item, &scope);
        emit_api_type(&mut out, item, &scope);
        if item.is_object() {
            emit_resource(&mut out, item, kinds);
        }
    }
    out
}

fn emit_struct(out: &mut String, item: &Struct, scope: &Scope<'_>) {
    out.push_str(&rustdoc::comment(&item.docs, 0));
    out.push_str("#[derive(Clone, Default, PartialEq)]\n");
    let _ = writeln!(out, "pub struct {} {{", item.name);
    for field in &item.fields {
        out.push_str(&rustdoc::comment(&field.docs, 4));
        let inner = match (field.field_type.scalar(), field.field_type.target()) {
            (_, Some(target)) => scope.path(target),
            (scalar, None) => scalar.unwrap_or_default().to_owned(),
        };
        let rust_type = field.field_type.rust(&inner);
        let _ = writeln!(out, "    pub {}: {rust_type},", field.rust);
    }
    out.push_str("}\n\n");
}

/// Writes the field table. rustfmt does not format it, so this lays it out.
fn emit_api_type(out: &mut String, item: &Struct, scope: &Scope<'_>) {
    let Struct {
        name, full_name, ..
    } = item;
    let _ = write!(out, "api_type! {{\n    {name}");
    if scope.is_recursive(name) {
        let _ = write!(out, ": {}", names::constant(name));
    }
    let _ = writeln!(out, ",\n    full_name: {full_name:?},");
    if item.is_object() {
        let _ = writeln!(out, "    kind: kind_of::<{name}>(),");
    } else if let Some([group, version, kind]) = item.kinds.first() {
        let api_version = api_version(group, version);
        let _ = writeln!(
            out,
            "    kind: KindFacts {{\n        group: {group:?},\n        version: {version:?},\n        \
             kind: {kind:?},\n        api_version: {api_version:?},\n    }},"
        );
    }
    if item.form != "Object" {
        let _ = writeln!(out, "    form: {},", item.form);
    }
    if item.is_atomic {
        out.push_str("    atomic: true,\n");
    }
    if !item.defaults.is_empty() {
        let rows = item.defaults.iter();
        let rows = rows.map(|it| format!("        {it:?},\n"));
        let rows: String = rows.collect();
        let _ = writeln!(out, "    defaults: &[\n{rows}    ],");
    }
    if item.fields.is_empty() {
        out.push_str("    fields: [],\n");
    } else {
        out.push_str("    fields: [\n");
        for (index, field) in item.fields.iter().enumerate() {
            emit_row(out, name, (index, field), scope);
        }
        out.push_str("    ],\n");
    }
    let has_groups = |it: &Entry| matches!(it, Entry::Group(..));
    if item.order.iter().any(has_groups) {
        out.push_str("    protobuf_order: &[\n");
        emit_entries(out, &item.order, 8);
        out.push_str("    ],\n");
    }
    out.push_str("}\n\n");
}

/// Writes a field as one line, which continues on others if it is too long.
fn emit_row(
    out: &mut String,
    owner: &str,
    (index, field): (usize, &StructField),
    scope: &Scope<'_>,
) {
    let StructField {
        rust, json, number, ..
    } = field;
    let field_type = wire_type(owner, field, scope);
    let mut lines = vec![format!("        {index} {rust} =")];
    let mut push = |piece: &str, indent: usize| match lines.last_mut() {
        Some(line) if line.len() + piece.len() < WIDTH => {
            line.push_str(piece);
            false
        }
        _ => {
            lines.push(format!("{}{}", " ".repeat(indent), piece.trim_start()));
            true
        }
    };
    let is_below = push(&format!(" field({json:?}, {number}, {field_type})"), 12);
    let indent = if is_below { 16 } else { 12 };
    let presence = rules(&field.presence);
    let merge = field.merge.iter().map(|it| format!(".with_merge({it})"));
    let list = field.list.iter().map(|it| format!(".with_list({it})"));
    for piece in presence.into_iter().chain(merge).chain(list) {
        push(&piece, indent);
    }
    let _ = writeln!(out, "{},", lines.join("\n"));
}

/// Returns the calls that set the presence rules of a field, if there are any.
fn rules(presence: &Presence) -> Option<String> {
    let mut calls = String::new();
    for (is_set, call) in [
        (presence.required, ".required()"),
        (presence.pointer, ".pointer()"),
        (presence.omit_empty, ".omit_empty()"),
        (presence.omit_zero, ".omit_zero()"),
    ] {
        if is_set {
            calls.push_str(call);
        }
    }
    Some(calls).filter(|it| !it.is_empty())
}

/// Returns the `FieldType` of a field. Types that contain each other refer to each other's statics,
/// since constants would be circular.
fn wire_type(owner: &str, field: &StructField, scope: &Scope<'_>) -> String {
    let variant = field.field_type.variant();
    match field.field_type.target() {
        None => format!("T::{variant}"),
        Some(Target::Here(name)) if scope.is_recursive(name) && scope.is_recursive(owner) => {
            format!("T::{variant}(&{})", names::constant(name))
        }
        Some(target) => format!("T::{variant}({}::SCHEMA)", scope.path(target)),
    }
}

fn emit_entries(out: &mut String, order: &[Entry], indent: usize) {
    let margin = " ".repeat(indent);
    let mut line = margin.clone();
    let end = |line: &mut String, out: &mut String| {
        if line.len() > margin.len() {
            let _ = writeln!(out, "{}", line.trim_end());
            line.clone_from(&margin);
        }
    };
    for entry in order {
        match entry {
            Entry::Field(index) => {
                let text = format!("at({index}), ");
                if line.len() + text.len() > WIDTH + 1 {
                    end(&mut line, out);
                }
                line.push_str(&text);
            }
            Entry::Group(number, inner) => {
                end(&mut line, out);
                let _ = writeln!(out, "{margin}group({number}, &[");
                emit_entries(out, inner, indent + 4);
                let _ = writeln!(out, "{margin}]),");
            }
        }
    }
    end(&mut line, out);
}

fn emit_resource(out: &mut String, item: &Struct, kinds: &Kinds) {
    let Some([group, version, kind]) = item.kinds.first() else {
        return;
    };
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
    let api_version = api_version(group, version);
    let name = &item.name;
    let _ = writeln!(
        out,
        "api_resource! {{\n    {name}: {scope},\n    group: {group:?},\n    \
         version: {version:?},\n    api_version: {api_version:?},\n    kind: {kind:?},\n    \
         plural: {plural:?},\n    singular: {singular:?},\n}}\n\n\
         /// A list of [`{name}`].\npub type {name}List = List<{name}>;\n"
    );
}
