//! The `use` lines of a generated file, from its structs.

use super::model::{Module, Struct, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The structs of a file.
pub(crate) struct Scope<'a> {
    names: BTreeSet<&'a str>,
    /// The structs of the module that contain themselves.
    recursive: &'a BTreeSet<&'a str>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(structs: &[&'a Struct], recursive: &'a BTreeSet<&'a str>) -> Self {
        let names = structs.iter().map(|it| it.name.as_str()).collect();
        Self { names, recursive }
    }

    /// Reports whether a struct contains itself, through others or not.
    pub(crate) fn is_recursive(&self, name: &str) -> bool {
        self.recursive.contains(name)
    }

    /// Returns the name of a type, or its path if the file has a struct with the same name.
    pub(crate) fn path(&self, target: &Target) -> String {
        match target {
            Target::Elsewhere(module, name) if self.names.contains(name.as_str()) => {
                format!("{}::{name}", module_path(module))
            }
            _ => target.name().to_owned(),
        }
    }
}

/// Returns the imports of a file. `home` gives the sibling file of a struct that is in another
/// file of the same module.
pub(crate) fn imports(
    structs: &[&Struct],
    body: &str,
    home: impl Fn(&str) -> Option<String>,
) -> String {
    let own: BTreeSet<&str> = structs.iter().map(|it| it.name.as_str()).collect();
    let mut machinery = BTreeSet::new();
    let mut others: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for item in structs {
        if item.is_object() {
            machinery.insert("List");
        }
        for field in &item.fields {
            let is_map = field.field_type.is_map().then_some("Str");
            let scalar = field.field_type.scalar();
            let is_imported = |it: &&str| matches!(*it, "Str" | "ByteString");
            machinery.extend(is_map.into_iter().chain(scalar.filter(is_imported)));
        }
        for target in item.targets() {
            let path = match target {
                Target::ByHand(name) => {
                    machinery.insert(name);
                    continue;
                }
                _ if own.contains(target.name()) => continue,
                Target::Here(name) => home(name).map(|home| format!("super::{home}")),
                Target::Elsewhere(module, _) => Some(module_path(module)),
            };
            if let Some(path) = path {
                others.entry(path).or_default().insert(target.name());
            }
        }
    }

    let mut out = String::new();
    push(&mut out, "crate::api_type", &helpers(body));
    let all: Vec<&str> = machinery.into_iter().collect();
    push(&mut out, "kubist_apimachinery", &all);
    push(&mut out, "kubist_apimachinery::wire", &wire(body));
    if body.contains("BTreeMap<") {
        push(&mut out, "std::collections", &["BTreeMap"]);
    }
    for (path, names) in others {
        let names: Vec<&str> = names.into_iter().collect();
        push(&mut out, &path, &names);
    }
    out.push('\n');
    out
}

fn module_path(Module { group, version }: &Module) -> String {
    format!("crate::{group}::{version}")
}

fn push(out: &mut String, path: &str, names: &[&str]) {
    if !names.is_empty() {
        let _ = writeln!(out, "use {path}::{{{}}};", names.join(", "));
    }
}

/// Returns the names of `crate::api_type` that a file uses.
fn helpers(body: &str) -> Vec<&'static str> {
    let uses = [
        ("api_resource", "api_resource! {"),
        ("api_type", "api_type! {"),
        ("at", "at("),
        ("field", " = field("),
        ("group", "group("),
        ("kind_of", "kind_of::<"),
    ];
    used(body, &uses)
}

/// Returns the names of `wire` that a file uses.
fn wire(body: &str) -> Vec<&'static str> {
    let uses = [
        ("FieldType as T", "T::"),
        ("KindFacts", "KindFacts {"),
        ("ListType", "ListType::"),
        ("Merge", "Merge::"),
        ("Wire", "::SCHEMA"),
    ];
    used(body, &uses)
}

fn used(body: &str, uses: &[(&'static str, &str)]) -> Vec<&'static str> {
    let uses = uses.iter().filter(|(_, mark)| body.contains(mark));
    uses.map(|(name, _)| *name).collect()
}
