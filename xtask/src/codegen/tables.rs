//! Tables over all groups: kinds (for decoding by name), resources (for discovery), features.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::kinds::api_version;
use super::model::{Model, Struct};
use super::schema::{Resource, Schema};

/// `generated/kinds.rs` and `generated/resources.rs`.
pub(crate) fn files(schema: &Schema, model: &Model) -> BTreeMap<PathBuf, String> {
    BTreeMap::from([
        (PathBuf::from("src/generated/kinds.rs"), kinds(model)),
        (
            PathBuf::from("src/generated/resources.rs"),
            resources(schema),
        ),
    ])
}

/// The features of `kubist-api`: one a group version, and `full`.
pub(crate) fn features(model: &Model) -> String {
    let mut out = String::new();
    let mut all = Vec::new();
    for (module, structs) in &model.modules {
        let mut needs: Vec<String> = structs
            .iter()
            .flat_map(|item| &item.needs)
            .filter(|needed| *needed != module)
            .map(super::model::Module::feature)
            .collect();
        needs.sort();
        needs.dedup();
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

fn is_object(item: &Struct) -> bool {
    item.fields
        .iter()
        .any(|field| field.rust == "metadata" && field.rust_type == "ObjectMeta")
}

fn kinds(model: &Model) -> String {
    let mut out = String::from(
        "use crate::facts::Kind;\n\n/// Every kind whose feature is on.\n\
         pub static KINDS: &[Kind] = &[\n",
    );
    for (module, structs) in &model.modules {
        for item in structs.iter().filter(|item| !item.kinds.is_empty()) {
            let path = format!("crate::{}::{}::{}", module.group, module.version, item.name);
            let feature = module.feature();
            let made: &[&str] = if is_object(item) {
                &["object", "list"]
            } else {
                &["message"]
            };
            for made in made {
                let _ = writeln!(
                    out,
                    "#[cfg(feature = {feature:?})]\nKind::{made}::<{path}>(),"
                );
            }
        }
    }
    out.push_str("Kind::message::<kubist_apimachinery::Status>(),\n];\n");
    out
}

fn resources(schema: &Schema) -> String {
    let mut out = String::from(
        "use crate::facts::{Column, GroupFacts, ResourceFacts, SubresourceFacts, VersionFacts};\n\n\
         /// The groups that an API server of this version serves, in the order of its discovery.\n\
         pub static GROUPS: &[GroupFacts] = &[\n",
    );
    for group in &schema.groups {
        if !group.versions.iter().any(|version| version.served) {
            continue;
        }
        let _ = writeln!(
            out,
            "GroupFacts {{ name: {:?}, preferred: {:?}, versions: &[",
            group.name, group.preferred
        );
        for version in group.versions.iter().filter(|version| version.served) {
            let _ = writeln!(
                out,
                "VersionFacts {{ version: {:?}, api_version: {:?}, resources: &[",
                version.version,
                api_version(&group.name, &version.version)
            );
            for resource in &version.resources {
                emit_resource(&mut out, &group.name, &version.version, resource);
            }
            out.push_str("] },\n");
        }
        out.push_str("] },\n");
    }
    out.push_str("];\n");
    out
}

fn emit_resource(out: &mut String, group: &str, version: &str, resource: &Resource) {
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
    let hash = &resource.storage_version_hash;
    let _ = writeln!(
        out,
        "ResourceFacts {{ group: {group:?}, version: {version:?}, kind: {kind:?}, \
         plural: {name:?}, singular: {singular:?}, namespaced: {namespaced}, \
         short_names: &{short_names:?}, categories: &{categories:?}, verbs: &{verbs:?}, \
         storage_version_hash: {hash:?}, subresources: &["
    );
    for sub in &resource.subresources {
        let (sub_group, sub_version) = if sub.version.is_empty() {
            (group, version)
        } else {
            (sub.group.as_str(), sub.version.as_str())
        };
        let _ = writeln!(
            out,
            "SubresourceFacts {{ name: {:?}, group: {sub_group:?}, version: {sub_version:?}, \
             kind: {:?}, verbs: &{:?} }},",
            sub.name, sub.kind, sub.verbs
        );
    }
    out.push_str("], columns: &[");
    for column in &resource.columns {
        let _ = writeln!(
            out,
            "Column {{ name: {:?}, type_: {:?}, format: {:?}, priority: {} }},",
            column.name, column.type_, column.format, column.priority
        );
    }
    out.push_str("] },\n");
}
