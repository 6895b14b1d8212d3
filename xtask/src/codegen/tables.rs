//! Emits the tables of all groups: kinds to decode by name, resources for discovery, features.

use super::kinds::api_version;
use super::model::{Model, Module, Struct};
use super::schema::{Column, Group, Resource, Schema};
use crate::process::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The verbs of most resources; `crate::facts` has the same lists.
const ALL_VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
/// The verbs of most subresources.
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// Returns the features of `kubist-api`: one for each group version, and `full`.
pub(crate) fn features(model: &Model) -> String {
    let mut out = String::new();
    let mut all = Vec::new();
    for (module, structs) in &model.modules {
        let needs: BTreeSet<String> = structs
            .iter()
            .flat_map(Struct::needs)
            .map(Module::feature)
            .collect();
        let needs: Vec<String> = needs.into_iter().collect();
        let feature = module.feature();
        let _ = writeln!(out, "{feature} = {needs:?}");
        all.push(feature);
    }
    let lines: Vec<String> = all
        .iter()
        .map(|feature| format!("    {feature:?},\n"))
        .collect();
    let _ = writeln!(out, "full = [\n{}]", lines.concat());
    out
}

/// Returns the text of `generated/kinds.rs`.
pub(crate) fn kinds(model: &Model) -> String {
    let mut out = String::from(
        "use crate::facts::Kind;\n\n/// The kinds whose features are enabled.\n\
         pub static KINDS: &[Kind] = &[\n",
    );
    for (module, structs) in &model.modules {
        for item in structs.iter().filter(|item| !item.kinds.is_empty()) {
            let path = format!("crate::{}::{}::{}", module.group, module.version, item.name);
            let feature = module.feature();
            let constructors: &[&str] = if item.is_object() {
                &["object", "list"]
            } else {
                &["message"]
            };
            for constructor in constructors {
                let _ = writeln!(
                    out,
                    "#[cfg(feature = {feature:?})]\nKind::{constructor}::<{path}>(),"
                );
            }
        }
    }
    out.push_str("Kind::message::<kubist_apimachinery::Status>(),\n];\n");
    out
}

/// Returns the text of `generated/resources.rs`, and the text of the file of each served group.
pub(crate) fn resources(schema: &Schema) -> Outcome<(String, BTreeMap<&str, String>)> {
    let (mut modules, mut groups) = (String::new(), String::new());
    let mut files = BTreeMap::new();
    for group in &schema.groups {
        if !group.versions.iter().any(|version| version.served) {
            continue;
        }
        let name = match group.name.split('.').next() {
            None | Some("") => "core",
            Some(name) => name,
        };
        let _ = writeln!(modules, "mod {name};");
        let _ = writeln!(groups, "{name}::GROUP,");
        if files.insert(name, group_facts(group)?).is_some() {
            return Err(format!("two groups are called `{name}`").into());
        }
    }
    let root = format!(
        "use crate::facts::GroupFacts;\n\n{modules}\n\
         /// The groups that an API server of this version serves, in discovery order.\n\
         pub static GROUPS: &[GroupFacts] = &[\n{groups}];\n"
    );
    Ok((root, files))
}

fn group_facts(group: &Group) -> Outcome<String> {
    let mut body = String::new();
    let _ = writeln!(
        body,
        "pub(super) const GROUP: GroupFacts = GroupFacts {{ name: {:?}, preferred: {:?}, \
         versions: &[",
        group.name, group.preferred
    );
    for version in group.versions.iter().filter(|version| version.served) {
        let _ = writeln!(
            body,
            "VersionFacts {{ version: {:?}, api_version: {:?}, resources: &[",
            version.version,
            api_version(&group.name, &version.version)
        );
        for resource in &version.resources {
            emit_resource(&mut body, &group.name, &version.version, resource)?;
        }
        body.push_str("] },\n");
    }
    body.push_str("] };\n");
    let names = [
        ("ALL_VERBS", "ALL_VERBS"),
        ("Column", "Column::new"),
        ("GroupFacts", "GroupFacts {"),
        ("ResourceFacts", "ResourceFacts {"),
        ("SUBRESOURCE_VERBS", "SUBRESOURCE_VERBS"),
        ("SubresourceFacts", "SubresourceFacts {"),
        ("VersionFacts", "VersionFacts {"),
    ];
    let used = names.iter().filter(|(_, mark)| body.contains(mark));
    let used: Vec<&str> = used.map(|(name, _)| *name).collect();
    Ok(format!(
        "use crate::facts::{{{}}};\n\n{body}",
        used.join(", ")
    ))
}

fn emit_resource(out: &mut String, group: &str, version: &str, resource: &Resource) -> Outcome {
    let Resource {
        name,
        singular,
        kind,
        namespaced,
        short_names,
        categories,
        verbs,
        ..
    } = resource;
    let verbs = verb_list(verbs);
    let hash = &resource.storage_version_hash;
    let _ = writeln!(
        out,
        "ResourceFacts {{ group: {group:?}, version: {version:?}, kind: {kind:?}, \
         plural: {name:?}, singular: {singular:?}, namespaced: {namespaced}, \
         short_names: &{short_names:?}, categories: &{categories:?}, verbs: {verbs}, \
         storage_version_hash: {hash:?}, subresources: &["
    );
    for sub in &resource.subresources {
        let (sub_group, sub_version) = if sub.version.is_empty() {
            (group, version)
        } else {
            (sub.group.as_str(), sub.version.as_str())
        };
        let verbs = verb_list(&sub.verbs);
        let _ = writeln!(
            out,
            "SubresourceFacts {{ name: {:?}, group: {sub_group:?}, version: {sub_version:?}, \
             kind: {:?}, verbs: {verbs} }},",
            sub.name, sub.kind
        );
    }
    out.push_str("], columns: &[");
    for column in &resource.columns {
        emit_column(out, column)?;
    }
    out.push_str("] },\n");
    Ok(())
}

/// Returns the named list of common verbs, or the verbs themselves.
fn verb_list(verbs: &[String]) -> String {
    if verbs == ALL_VERBS {
        "ALL_VERBS".to_owned()
    } else if verbs == SUBRESOURCE_VERBS {
        "SUBRESOURCE_VERBS".to_owned()
    } else {
        format!("&{verbs:?}")
    }
}

fn emit_column(out: &mut String, column: &Column) -> Outcome {
    let Column {
        name,
        type_,
        format,
        priority,
    } = column;
    let _ = write!(out, "Column::new({name:?}, {type_:?})");
    if !format.is_empty() {
        let _ = write!(out, ".format({format:?})");
    }
    match priority {
        0 => {}
        1 => out.push_str(".wide()"),
        other => return Err(format!("column `{name}` has priority {other}").into()),
    }
    out.push_str(",\n");
    Ok(())
}
